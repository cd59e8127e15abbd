//! Who is notified of an alert: one message for each address, whichever routing names it.

use super::{Audience, Channel};
use crate::alerts::severity::Severity;
use crate::notifications::push::QuietHours;
use crate::notifications::routing::Recipient;
use crate::time::Timestamp;
use crate::zone::Zone;

/// One address and the recipients that name it: two groups of a device may name the same person.
#[derive(Debug)]
pub struct Addressee<'r> {
    /// How the address is reached.
    pub channel: Channel,
    /// The address, as the first recipient writes it.
    pub address: &'r str,
    /// Each with whether its schedule covers the time of the alert.
    recipients: Vec<(&'r Recipient, bool)>,
    /// The lowest severity that is sent despite the quiet hours of a browser; `None` if they suppress all.
    least_sent: Option<Severity>,
}

/// Whether an addressee is notified of an alert, with the recipient whose preferences apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'r> {
    /// The severity and the schedule let the message through.
    Now(&'r Recipient),
    /// The alert is severe enough, but no schedule covers its time. The message is recorded as suppressed.
    OutsideSchedule(&'r Recipient),
}

impl<'r> Notice<'r> {
    /// The recipient whose preferences apply to the message.
    pub const fn recipient(self) -> &'r Recipient {
        match self {
            Self::Now(recipient) | Self::OutsideSchedule(recipient) => recipient,
        }
    }
}

impl Audience {
    /// The addresses that may be notified of an alert raised at `now`. A schedule is read in the recipient's zone, or
    /// else in that of the account.
    pub fn addressees(&self, now: Timestamp, account_zone: &Zone) -> Vec<Addressee<'_>> {
        let mut addressees: Vec<Addressee<'_>> = Vec::new();
        for (_, recipient) in &self.recipients {
            let zone = recipient.preferences.time_zone.as_ref().unwrap_or(account_zone);
            let is_in_schedule =
                recipient.schedule.as_ref().is_none_or(|schedule| schedule.contains(now, zone));
            let (channel, address) = (recipient.destination.channel(), recipient.destination.as_str());
            let is_same = |other: &&mut Addressee<'_>| {
                other.channel == channel && channel.is_same_address(other.address, address)
            };
            if let Some(same) = addressees.iter_mut().find(is_same) {
                same.recipients.push((recipient, is_in_schedule));
            } else {
                let quiet = self.quiet.get(address).filter(|_| channel == Channel::PUSH);
                addressees.push(Addressee {
                    channel,
                    address,
                    recipients: vec![(recipient, is_in_schedule)],
                    least_sent: least_sent(quiet, now, zone),
                });
            }
        }
        addressees
    }
}

impl<'r> Addressee<'r> {
    /// Whether the address is notified of an alert of this severity; `None` if it is not severe enough for any
    /// recipient.
    pub fn notice(&self, severity: Severity) -> Option<Notice<'r>> {
        let is_quiet = self.least_sent.is_none_or(|least| severity < least);
        let wanted =
            || self.recipients.iter().filter(|(recipient, _)| severity >= recipient.minimum_severity);
        if let Some((recipient, _)) = wanted().find(|(_, is_in_schedule)| *is_in_schedule && !is_quiet) {
            return Some(Notice::Now(recipient));
        }
        wanted().next()?;
        self.recipients.first().map(|(recipient, _)| Notice::OutsideSchedule(recipient))
    }
}

/// The lowest severity that is sent at `now` despite these quiet hours; `None` if none is.
fn least_sent(quiet: Option<&QuietHours>, now: Timestamp, zone: &Zone) -> Option<Severity> {
    let is_quiet = |quiet: &&QuietHours| quiet.hours.as_ref().is_some_and(|hours| hours.contains(now, zone));
    match quiet.filter(is_quiet) {
        None => Some(Severity::Info),
        Some(quiet) => quiet.critical_passes.then_some(Severity::Critical),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;
    use crate::notifications::routing::{Destination, Preferences};
    use crate::rules::schedule::{Schedule, Weekday};

    /// Noon of a Thursday.
    const NOW: Timestamp = Timestamp::from_millis(12 * 3_600_000);

    fn recipient(address: &str, minimum_severity: Severity, schedule: Option<Schedule>) -> Recipient {
        let destination = Destination::Email(address.parse().unwrap());
        Recipient { destination, preferences: Preferences::default(), minimum_severity, schedule }
    }

    fn notices(recipients: &[Recipient], severity: Severity) -> Vec<(String, Option<bool>)> {
        let recipients = recipients.iter().map(|recipient| (Source::Account, recipient.clone())).collect();
        let audience = Audience { recipients, ..Audience::default() };
        let addressees = audience.addressees(NOW, &Zone::utc());
        let is_now = |notice| matches!(notice, Notice::Now(_));
        addressees.iter().map(|each| (each.address.to_owned(), each.notice(severity).map(is_now))).collect()
    }

    #[test]
    fn an_address_named_twice_is_notified_once() {
        let all = [
            recipient("ana@example.com", Severity::Critical, None),
            recipient("ANA@example.com", Severity::Info, None),
            recipient("eva@example.com", Severity::Critical, None),
        ];
        let notified = notices(&all, Severity::Info);
        assert_eq!(
            notified,
            [("ana@example.com".to_owned(), Some(true)), ("eva@example.com".to_owned(), None)]
        );
    }

    #[test]
    fn outside_of_every_schedule_the_message_is_suppressed() {
        let night = Schedule {
            weekdays: Weekday::ALL.to_vec(),
            from: "22:00".parse().unwrap(),
            to: "06:00".parse().unwrap(),
            time_zone: None,
        };
        let ana = |schedule| recipient("ana@example.com", Severity::Info, schedule);
        let is_notified = |recipients: &[Recipient]| notices(recipients, Severity::Info)[0].1;
        assert_eq!(is_notified(&[ana(Some(night.clone()))]), Some(false));
        assert_eq!(is_notified(&[ana(Some(night)), ana(None)]), Some(true));
    }

    #[test]
    fn quiet_hours_of_a_browser_let_critical_alerts_pass_if_the_user_says_so() {
        let noon = Schedule {
            weekdays: Weekday::ALL.to_vec(),
            from: "11:00".parse().unwrap(),
            to: "13:00".parse().unwrap(),
            time_zone: None,
        };
        let address = "psb_01jc2m8k4n5p7";
        let is_notified = |hours: Option<&Schedule>, critical_passes, severity| {
            let destination = Destination::parse(Channel::PUSH, address).unwrap();
            let phone = Recipient { destination, ..recipient("ana@example.com", Severity::Info, None) };
            let quiet = QuietHours { hours: hours.cloned(), critical_passes };
            let audience = Audience {
                recipients: vec![(Source::Account, phone)],
                quiet: [(address.to_owned(), quiet)].into(),
                ..Audience::default()
            };
            let addressees = audience.addressees(NOW, &Zone::utc());
            matches!(addressees[0].notice(severity), Some(Notice::Now(_)))
        };
        assert!(is_notified(None, false, Severity::Info));
        assert!(!is_notified(Some(&noon), true, Severity::Warning));
        assert!(is_notified(Some(&noon), true, Severity::Critical));
        assert!(!is_notified(Some(&noon), false, Severity::Critical));
        let night = Schedule { from: "22:00".parse().unwrap(), to: "06:00".parse().unwrap(), ..noon };
        assert!(is_notified(Some(&night), false, Severity::Info));
    }
}
