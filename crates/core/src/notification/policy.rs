//! What operator and account allow to be sent at all.

use serde::{Deserialize, Serialize};

use super::{Channel, EmailCaps, SuppressedReason};
use crate::revision::Revision;
use crate::time::Timestamp;

/// What an account allows to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagingSettings {
    /// Whether e-mails are sent.
    pub email_on: bool,
    /// Whether SMS are sent.
    pub sms_on: bool,
    /// Segments of SMS a day; none for no cap.
    pub sms_daily_segments: Option<u32>,
    /// Segments of SMS a calendar month; none for no cap.
    pub sms_monthly_segments: Option<u32>,
    /// Beginnings of numbers that SMS may go to, such as `+34`; all when empty.
    pub sms_prefixes: Vec<String>,
    /// E-mails a day; none for no cap.
    #[serde(default)]
    pub email_daily: Option<u32>,
    /// E-mails to one recipient an hour; none for no cap.
    #[serde(default)]
    pub email_recipient_hourly: Option<u32>,
}

impl MessagingSettings {
    /// The largest cap.
    pub const SEGMENTS_MAX: u32 = 100_000_000;
    /// The largest cap on e-mail.
    pub const EMAILS_MAX: u32 = 100_000_000;
    /// Beginnings of numbers that can be listed.
    pub const PREFIXES_MAX: usize = 300;

    /// Whether this text is the beginning of a number in international form.
    pub fn is_prefix(text: &str) -> bool {
        let digits = text.strip_prefix('+').unwrap_or_default();
        (1..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    }
}

impl Default for MessagingSettings {
    fn default() -> Self {
        Self {
            email_on: true,
            sms_on: true,
            sms_daily_segments: None,
            sms_monthly_segments: None,
            sms_prefixes: Vec::new(),
            email_daily: None,
            email_recipient_hourly: None,
        }
    }
}

/// What an account allows, as kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessaging {
    /// Counts the changes.
    pub revision: Revision,
    /// What is allowed.
    pub settings: MessagingSettings,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

/// What the operator allows, and how long an attempt may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendingPolicy {
    /// Whether e-mails can be sent: a sender is configured and not switched off.
    pub email_on: bool,
    /// Whether SMS can be sent.
    pub sms_on: bool,
    /// Segments of SMS an account may send a day, whatever it allows itself.
    pub sms_daily_segments: Option<u32>,
    /// Segments of SMS an account may send a calendar month.
    pub sms_monthly_segments: Option<u32>,
    /// Beginnings of numbers that SMS may go to; all when empty.
    pub sms_prefixes: Vec<String>,
    /// Caps on e-mail.
    pub email_caps: EmailCaps,
    /// Whether recipients who are no users of the account get e-mail only after they said so.
    pub confirm_recipients: bool,
    /// How long a reservation holds without being settled; longer than any attempt takes.
    pub lease_ms: i64,
}

impl SendingPolicy {
    /// Why nothing goes to this address at all, if it does not, by what operator and account allow.
    pub fn forbids(
        &self,
        account: &MessagingSettings,
        channel: Channel,
        address: &str,
    ) -> Option<SuppressedReason> {
        let (possible, wanted) = match channel {
            Channel::Email => (self.email_on, account.email_on),
            Channel::Sms => (self.sms_on, account.sms_on),
        };
        let listed = |prefixes: &[String]| {
            prefixes.is_empty() || prefixes.iter().any(|prefix| address.starts_with(prefix))
        };
        if !possible {
            Some(SuppressedReason::ChannelOff)
        } else if !wanted {
            Some(SuppressedReason::AccountOff)
        } else if channel == Channel::Sms && !(listed(&self.sms_prefixes) && listed(&account.sms_prefixes)) {
            Some(SuppressedReason::Country)
        } else {
            None
        }
    }

    /// Whether an account that used these segments today and this month may use so many more.
    pub fn caps(
        &self,
        account: &MessagingSettings,
        (today, this_month): (u32, u32),
        more: u32,
    ) -> Option<SuppressedReason> {
        let exceeds = |cap: Option<u32>, used: u32| cap.is_some_and(|cap| used.saturating_add(more) > cap);
        let both = |one: Option<u32>, other: Option<u32>| one.into_iter().chain(other).min();
        if exceeds(both(self.sms_daily_segments, account.sms_daily_segments), today) {
            Some(SuppressedReason::SmsDailyCap)
        } else if exceeds(both(self.sms_monthly_segments, account.sms_monthly_segments), this_month) {
            Some(SuppressedReason::SmsMonthlyCap)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: SendingPolicy = SendingPolicy {
        email_on: true,
        sms_on: true,
        sms_daily_segments: None,
        sms_monthly_segments: None,
        sms_prefixes: Vec::new(),
        email_caps: EmailCaps { daily: None, critical_daily: None, recipient_hourly: None },
        confirm_recipients: false,
        lease_ms: 1,
    };

    #[test]
    fn both_sides_must_allow() {
        let own = MessagingSettings { sms_prefixes: vec!["+34".into()], ..MessagingSettings::default() };
        let wide = SendingPolicy { sms_prefixes: vec!["+34".into(), "+33".into()], ..ALL };
        assert_eq!(wide.forbids(&own, Channel::Sms, "+34600123456"), None);
        assert_eq!(wide.forbids(&own, Channel::Sms, "+33600123456"), Some(SuppressedReason::Country));
        assert_eq!(wide.forbids(&own, Channel::Email, "a@b"), None);
        let off = MessagingSettings { email_on: false, ..MessagingSettings::default() };
        assert_eq!(ALL.forbids(&off, Channel::Email, "a@b"), Some(SuppressedReason::AccountOff));
        let none = SendingPolicy { email_on: false, ..ALL };
        assert_eq!(none.forbids(&off, Channel::Email, "a@b"), Some(SuppressedReason::ChannelOff));
    }

    #[test]
    fn the_lower_cap_holds() {
        let own = MessagingSettings { sms_daily_segments: Some(3), ..MessagingSettings::default() };
        let policy = SendingPolicy { sms_daily_segments: Some(5), sms_monthly_segments: Some(4), ..ALL };
        assert_eq!(policy.caps(&own, (1, 1), 2), None);
        assert_eq!(policy.caps(&own, (2, 2), 2), Some(SuppressedReason::SmsDailyCap));
        assert_eq!(policy.caps(&own, (0, 3), 2), Some(SuppressedReason::SmsMonthlyCap));
        assert_eq!(policy.caps(&own, (0, 0), u32::MAX), Some(SuppressedReason::SmsDailyCap));
    }
}
