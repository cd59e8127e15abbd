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

impl EmailCaps {
    /// Decides on which counter one more e-mail is counted, or why it is suppressed. The stricter cap of operator and
    /// account applies.
    ///
    /// An alert sends one message to each recipient. A critical one may exceed the caps, so that other mail never
    /// holds it back; only the separate cap on critical mail does.
    pub fn admit(
        &self,
        account: &MessagingSettings,
        counts: EmailCounts,
        critical: bool,
    ) -> Result<EmailCounter, SuppressedReason> {
        let reached = |cap: Option<u32>, own: Option<u32>, used: u32| {
            cap.into_iter().chain(own).min().is_some_and(|cap| used >= cap)
        };
        let reason = if reached(self.daily, account.email_daily, counts.today) {
            SuppressedReason::EmailDailyCap
        } else if reached(self.recipient_hourly, account.email_recipient_hourly, counts.recipient_hour) {
            SuppressedReason::EmailRecipientCap
        } else {
            return Ok(EmailCounter::Ordinary);
        };
        if critical && !reached(self.critical_daily, None, counts.critical_today) {
            return Ok(EmailCounter::Critical);
        }
        Err(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_cap_holds_and_critical_ones_pass() {
        let caps = EmailCaps { daily: Some(10), critical_daily: Some(3), recipient_hourly: Some(4) };
        let own = MessagingSettings { email_daily: Some(5), ..MessagingSettings::default() };
        let check =
            |account: &MessagingSettings, (today, critical_today, recipient_hour), critical, expect| {
                let counts = EmailCounts { today, critical_today, recipient_hour };
                assert_eq!(caps.admit(account, counts, critical), expect, "{counts:?} {critical}");
            };
        let none = MessagingSettings::default();
        check(&none, (9, 0, 3), false, Ok(EmailCounter::Ordinary));
        check(&none, (10, 0, 0), false, Err(SuppressedReason::EmailDailyCap));
        check(&none, (0, 0, 4), false, Err(SuppressedReason::EmailRecipientCap));
        check(&own, (5, 0, 0), false, Err(SuppressedReason::EmailDailyCap));
        check(&none, (0, 3, 0), true, Ok(EmailCounter::Ordinary));
        check(&none, (10, 2, 9), true, Ok(EmailCounter::Critical));
        check(&none, (10, 3, 0), true, Err(SuppressedReason::EmailDailyCap));
        let counts = EmailCounts { today: u32::MAX, critical_today: u32::MAX, recipient_hour: u32::MAX };
        assert_eq!(EmailCaps::default().admit(&none, counts, false), Ok(EmailCounter::Ordinary), "no caps");
    }
}
