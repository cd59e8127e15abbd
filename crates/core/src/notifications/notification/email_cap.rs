//! Caps on the e-mail of one account, so that nobody can abuse the operator's mail server as a relay.

use super::{MessagingSettings, SuppressedReason};

/// Caps set by the operator; `None` for no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailCaps {
    /// E-mails of an account per day.
    pub daily: Option<u32>,
    /// E-mails of critical alerts that an account may send per day beyond the other caps.
    pub critical_daily: Option<u32>,
    /// E-mails of an account to one recipient per hour.
    pub recipient_hourly: Option<u32>,
    /// E-mails of an account per day in total, including those of critical alerts. No e-mail may exceed it.
    pub ceiling: Option<u32>,
}

/// E-mails counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailCounts {
    /// E-mails of the account today, within the caps.
    pub today: u32,
    /// E-mails of critical alerts today, beyond the caps.
    pub critical_today: u32,
    /// E-mails of the account to the recipient in this hour.
    pub recipient_hour: u32,
}

/// Which counter an e-mail is counted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailCounter {
    /// The counters of the ordinary caps.
    Ordinary,
    /// The counter of critical e-mails beyond the caps.
    Critical,
}

/// How urgent an e-mail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Not about a critical alert.
    Ordinary,
    /// About a critical alert that the recipient was notified of before.
    Critical,
    /// About a critical alert, and the first such message about this device to this recipient within
    /// [`Self::FIRST_AGAIN_S`]. Alerts of the SOS button are counted separately.
    FirstCritical,
}

impl Urgency {
    /// Seconds after which a message about a critical alert counts as a first one again: an hour. It bounds what an
    /// account can send beyond its caps to one message per device, recipient and hour.
    pub const FIRST_AGAIN_S: i64 = 3_600;
}

impl EmailCaps {
    /// Decides on which counter one more e-mail is counted, or why it is suppressed. The stricter cap of operator and
    /// account applies.
    ///
    /// A critical alert may exceed the caps, so that other mail never holds it back. The first message of a device's
    /// critical alert to a recipient is sent unless the ceiling is reached. The separate cap on critical mail applies
    /// to the others, which are repetitions and steps of an escalation.
    pub fn admit(
        &self,
        account: &MessagingSettings,
        counts: EmailCounts,
        urgency: Urgency,
    ) -> Result<EmailCounter, SuppressedReason> {
        let reached = |cap: Option<u32>, own: Option<u32>, used: u32| {
            cap.into_iter().chain(own).min().is_some_and(|cap| used >= cap)
        };
        if reached(self.ceiling, None, counts.today.saturating_add(counts.critical_today)) {
            return Err(SuppressedReason::EmailCeiling);
        }
        let reason = if reached(self.daily, account.email_daily, counts.today) {
            SuppressedReason::EmailDailyCap
        } else if reached(self.recipient_hourly, account.email_recipient_hourly, counts.recipient_hour) {
            SuppressedReason::EmailRecipientCap
        } else {
            return Ok(EmailCounter::Ordinary);
        };
        match urgency {
            Urgency::FirstCritical => Ok(EmailCounter::Critical),
            Urgency::Critical if !reached(self.critical_daily, None, counts.critical_today) => {
                Ok(EmailCounter::Critical)
            }
            Urgency::Critical | Urgency::Ordinary => Err(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_cap_holds_and_critical_ones_pass() {
        let caps = EmailCaps {
            daily: Some(10),
            critical_daily: Some(3),
            recipient_hourly: Some(4),
            ceiling: Some(15),
        };
        let own = MessagingSettings { email_daily: Some(5), ..MessagingSettings::default() };
        let check =
            |account: &MessagingSettings, (today, critical_today, recipient_hour), urgency, expect| {
                let counts = EmailCounts { today, critical_today, recipient_hour };
                assert_eq!(caps.admit(account, counts, urgency), expect, "{counts:?} {urgency:?}");
            };
        let none = MessagingSettings::default();
        check(&none, (9, 0, 3), Urgency::Ordinary, Ok(EmailCounter::Ordinary));
        check(&none, (10, 0, 0), Urgency::Ordinary, Err(SuppressedReason::EmailDailyCap));
        check(&none, (0, 0, 4), Urgency::Ordinary, Err(SuppressedReason::EmailRecipientCap));
        check(&own, (5, 0, 0), Urgency::Ordinary, Err(SuppressedReason::EmailDailyCap));
        check(&none, (0, 3, 0), Urgency::Critical, Ok(EmailCounter::Ordinary));
        check(&none, (10, 2, 9), Urgency::Critical, Ok(EmailCounter::Critical));
        check(&none, (10, 3, 0), Urgency::Critical, Err(SuppressedReason::EmailDailyCap));
        check(&none, (10, 3, 9), Urgency::FirstCritical, Ok(EmailCounter::Critical));
        check(&none, (10, 4, 0), Urgency::FirstCritical, Ok(EmailCounter::Critical));
        check(&none, (10, 5, 0), Urgency::FirstCritical, Err(SuppressedReason::EmailCeiling));
        check(&none, (5, 10, 0), Urgency::Ordinary, Err(SuppressedReason::EmailCeiling));
        let counts = EmailCounts { today: u32::MAX, critical_today: u32::MAX, recipient_hour: u32::MAX };
        assert_eq!(
            EmailCaps::default().admit(&none, counts, Urgency::Ordinary),
            Ok(EmailCounter::Ordinary),
            "no caps"
        );
    }
}
