//! Limits of operator and account on notifications.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Channel, ConfirmationPolicy, EmailCaps, SuppressedReason};
use crate::revision::Revision;
use crate::time::Timestamp;

/// The notification settings of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagingSettings {
    /// Whether the account sends notifications by e-mail.
    pub email_on: bool,
    /// Whether the account sends notifications by SMS.
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
    /// Maximum number of prefixes.
    pub const PREFIXES_MAX: usize = 300;

    /// The caps that the account set on a channel, but for those on e-mail.
    pub fn caps(&self, channel: Channel) -> UnitCaps {
        match channel {
            Channel::SMS => UnitCaps { daily: self.sms_daily_segments, monthly: self.sms_monthly_segments },
            _ => UnitCaps::default(),
        }
    }

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

/// Caps on what an account sends by one channel, in the units of the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCaps {
    /// Units per day; `None` for no cap.
    pub daily: Option<u32>,
    /// Units per calendar month; `None` for no cap.
    pub monthly: Option<u32>,
}

/// The operator's limits, and how long an attempt may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendingPolicy {
    /// Channels by which messages can be sent: a sender is configured and not switched off.
    pub on: Vec<Channel>,
    /// Caps on what each account sends by a channel, but for e-mail, which has `email_caps`.
    pub caps: BTreeMap<Channel, UnitCaps>,
    /// Prefixes of numbers that SMS may go to; empty allows all.
    pub sms_prefixes: Vec<String>,
    /// Caps on the e-mail of each account.
    pub email_caps: EmailCaps,
    /// Which recipients must confirm before they get e-mail.
    pub confirmation: ConfirmationPolicy,
    /// Milliseconds after which a reservation lapses if it is neither settled nor renewed.
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
        let wanted = match channel {
            Channel::EMAIL => account.email_on,
            Channel::SMS => account.sms_on,
            _ => true,
        };
        let listed = |prefixes: &[String]| {
            prefixes.is_empty() || prefixes.iter().any(|prefix| address.starts_with(prefix))
        };
        if !self.on.contains(&channel) {
            Some(SuppressedReason::ChannelOff)
        } else if !wanted {
            Some(SuppressedReason::AccountOff)
        } else if channel == Channel::SMS && !(listed(&self.sms_prefixes) && listed(&account.sms_prefixes)) {
            Some(SuppressedReason::Country)
        } else {
            None
        }
    }

    /// Why an account that used these units of a channel today and this month may not use `more`, if so.
    pub fn exceeds_caps(
        &self,
        account: &MessagingSettings,
        channel: Channel,
        (today, this_month): (u32, u32),
        more: u32,
    ) -> Option<SuppressedReason> {
        let exceeds = |cap: Option<u32>, used: u32| cap.is_some_and(|cap| used.saturating_add(more) > cap);
        let both = |one: Option<u32>, other: Option<u32>| one.into_iter().chain(other).min();
        let caps = self.caps.get(&channel).copied().unwrap_or_default();
        let own = account.caps(channel);
        let is_sms = channel == Channel::SMS;
        if exceeds(both(caps.daily, own.daily), today) {
            Some(if is_sms { SuppressedReason::SmsDailyCap } else { SuppressedReason::DailyCap })
        } else if exceeds(both(caps.monthly, own.monthly), this_month) {
            Some(if is_sms { SuppressedReason::SmsMonthlyCap } else { SuppressedReason::MonthlyCap })
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> SendingPolicy {
        SendingPolicy {
            on: Channel::all().to_vec(),
            caps: BTreeMap::new(),
            sms_prefixes: Vec::new(),
            email_caps: EmailCaps::default(),
            confirmation: ConfirmationPolicy::default(),
            lease_ms: 1,
        }
    }

    #[test]
    fn both_sides_must_allow() {
        let own = MessagingSettings { sms_prefixes: vec!["+34".into()], ..MessagingSettings::default() };
        let wide = SendingPolicy { sms_prefixes: vec!["+34".into(), "+33".into()], ..all() };
        assert_eq!(wide.forbids(&own, Channel::SMS, "+34600123456"), None);
        assert_eq!(wide.forbids(&own, Channel::SMS, "+33600123456"), Some(SuppressedReason::Country));
        assert_eq!(wide.forbids(&own, Channel::EMAIL, "a@b"), None);
        let off = MessagingSettings { email_on: false, ..MessagingSettings::default() };
        assert_eq!(all().forbids(&off, Channel::EMAIL, "a@b"), Some(SuppressedReason::AccountOff));
        let none = SendingPolicy { on: vec![Channel::SMS], ..all() };
        assert_eq!(none.forbids(&off, Channel::EMAIL, "a@b"), Some(SuppressedReason::ChannelOff));
    }

    #[test]
    fn the_lower_cap_holds() {
        let own = MessagingSettings { sms_daily_segments: Some(3), ..MessagingSettings::default() };
        let cap = UnitCaps { daily: Some(5), monthly: Some(4) };
        let caps = Channel::all().iter().map(|channel| (*channel, cap)).collect();
        let policy = SendingPolicy { caps, ..all() };
        let sms = |used, more| policy.exceeds_caps(&own, Channel::SMS, used, more);
        assert_eq!(sms((1, 1), 2), None);
        assert_eq!(sms((2, 2), 2), Some(SuppressedReason::SmsDailyCap));
        assert_eq!(sms((0, 3), 2), Some(SuppressedReason::SmsMonthlyCap));
        assert_eq!(sms((0, 0), u32::MAX), Some(SuppressedReason::SmsDailyCap));
        let telegram = "telegram".parse().unwrap();
        let other = |used, more| policy.exceeds_caps(&own, telegram, used, more);
        assert_eq!(other((3, 3), 1), None, "caps of SMS are not those of others");
        assert_eq!(other((5, 0), 1), Some(SuppressedReason::DailyCap));
        assert_eq!(other((0, 4), 1), Some(SuppressedReason::MonthlyCap));
    }
}
