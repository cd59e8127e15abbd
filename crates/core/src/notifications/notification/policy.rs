//! What operator and account allow to be sent.

use serde::{Deserialize, Serialize};

use super::{Channel, ConfirmationPolicy, EmailCaps, SuppressedReason};
use crate::revision::Revision;
use crate::time::Timestamp;

/// What an account allows to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagingSettings {
    /// Whether e-mails are sent.
    pub email_on: bool,
    /// Whether SMS are sent.
    pub sms_on: bool,
    /// SMS segments per day; `None` for no cap.
    pub sms_daily_segments: Option<u32>,
    /// SMS segments per calendar month; `None` for no cap.
    pub sms_monthly_segments: Option<u32>,
    /// Prefixes of numbers that SMS may go to, such as `+34`; empty allows all.
    pub sms_prefixes: Vec<String>,
    /// E-mails per day; `None` for no cap.
    #[serde(default)]
    pub email_daily: Option<u32>,
    /// E-mails to one recipient per hour; `None` for no cap.
    #[serde(default)]
    pub email_recipient_hourly: Option<u32>,
}

impl MessagingSettings {
    /// The largest cap on SMS segments.
    pub const SEGMENTS_MAX: u32 = 100_000_000;
    /// The largest cap on e-mail.
    pub const EMAILS_MAX: u32 = 100_000_000;
    /// Prefixes that can be listed.
    pub const PREFIXES_MAX: usize = 300;

    /// Whether this text is a prefix of a number in international form.
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

/// The messaging settings of an account, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessaging {
    /// Counts the changes; 0 if never set.
    pub revision: Revision,
    /// The settings, or the defaults if never set.
    pub settings: MessagingSettings,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

/// The operator's limits, and how long an attempt may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendingPolicy {
    /// Whether e-mails can be sent: a sender is configured and not switched off.
    pub email_on: bool,
    /// Whether SMS can be sent.
    pub sms_on: bool,
    /// SMS segments that an account may send per day; `None` for no cap.
    pub sms_daily_segments: Option<u32>,
    /// SMS segments that an account may send per calendar month; `None` for no cap.
    pub sms_monthly_segments: Option<u32>,
    /// Prefixes of numbers that SMS may go to; empty allows all.
    pub sms_prefixes: Vec<String>,
    /// Caps on the e-mail of each account.
    pub email_caps: EmailCaps,
    /// Which recipients must confirm before they get e-mail.
    pub confirmation: ConfirmationPolicy,
    /// Milliseconds that a reservation holds without being settled or renewed.
    pub lease_ms: i64,
}

impl SendingPolicy {
    /// Why nothing may be sent to this address, if so, by the settings of operator and account.
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

    /// Why an account that used these segments today and this month may not use `more`, if so.
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
        email_caps: EmailCaps { daily: None, critical_daily: None, recipient_hourly: None, ceiling: None },
        confirmation: ConfirmationPolicy { all: false, free: None },
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
