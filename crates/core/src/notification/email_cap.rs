//! Caps on the e-mail of one account, so that nobody uses the operator's mail server as a relay.

use super::{MessagingSettings, SuppressedReason};

/// The operator's caps; none for no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailCaps {
    /// E-mails of an account a day.
    pub daily: Option<u32>,
    /// E-mails of critical alerts that an account may send a day beyond the other caps.
    pub critical_daily: Option<u32>,
    /// E-mails of an account to one recipient an hour.
    pub recipient_hourly: Option<u32>,
}

/// What was counted already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmailCounts {
    /// Of the account on its day, within the caps.
    pub today: u32,
    /// Of the account on its day, of critical alerts beyond the caps.
    pub critical_today: u32,
    /// To the recipient in this hour.
    pub recipient_hour: u32,
}

/// How an e-mail is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailLane {
    /// Within the caps.
    Ordinary,
    /// Beyond them, as the message of a critical alert.
    Critical,
}

impl EmailCaps {
    /// How one more e-mail is counted, or why it is not sent. The stricter of operator and account holds.
    ///
    /// An alert sends each recipient one message. That of a critical alert passes the caps: what other messages used
    /// up never holds it back, only as many critical ones on the same day do.
    pub fn admit(
        &self,
        account: &MessagingSettings,
        counts: EmailCounts,
        critical: bool,
    ) -> Result<EmailLane, SuppressedReason> {
        let reached = |cap: Option<u32>, own: Option<u32>, used: u32| {
            cap.into_iter().chain(own).min().is_some_and(|cap| used >= cap)
        };
        let reason = if reached(self.daily, account.email_daily, counts.today) {
            SuppressedReason::EmailDailyCap
        } else if reached(self.recipient_hourly, account.email_recipient_hourly, counts.recipient_hour) {
            SuppressedReason::EmailRecipientCap
        } else {
            return Ok(EmailLane::Ordinary);
        };
        if critical && !reached(self.critical_daily, None, counts.critical_today) {
            return Ok(EmailLane::Critical);
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
        check(&none, (9, 0, 3), false, Ok(EmailLane::Ordinary));
        check(&none, (10, 0, 0), false, Err(SuppressedReason::EmailDailyCap));
        check(&none, (0, 0, 4), false, Err(SuppressedReason::EmailRecipientCap));
        check(&own, (5, 0, 0), false, Err(SuppressedReason::EmailDailyCap));
        check(&none, (0, 3, 0), true, Ok(EmailLane::Ordinary));
        check(&none, (10, 2, 9), true, Ok(EmailLane::Critical));
        check(&none, (10, 3, 0), true, Err(SuppressedReason::EmailDailyCap));
        let counts = EmailCounts { today: u32::MAX, critical_today: u32::MAX, recipient_hour: u32::MAX };
        assert_eq!(EmailCaps::default().admit(&none, counts, false), Ok(EmailLane::Ordinary), "no caps");
    }
}
