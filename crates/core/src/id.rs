//! Ids: 63-bit numbers that sort by creation, written as a prefix and thirteen letters.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Crockford's base 32 in lower case, without letters that look alike. Only lower case is accepted.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LETTERS: usize = 13;
const RANDOM_BITS: u32 = 21;
/// Ids count milliseconds from 2020-01-01, which keeps the number positive beyond the year 2150.
const EPOCH_MS: i64 = 1_577_836_800_000;

/// The error for a text that is not an id of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an ID of this kind of resource")]
pub struct ParseIdError;

/// How far ids may be ahead of the clock to stay in order while it is set back a little.
const AHEAD_MAX_MS: i64 = 1_000;

/// The ids of one store. Each is larger than the one before while the clock continues, stands still, or goes back by
/// less than a second. After a larger step back ids follow the clock: they are at most a second ahead of it, so that
/// the age of a row can be bounded by its id. A store has its own source because several stores of a process may have
/// clocks that differ.
#[derive(Debug, Default)]
pub struct IdSource {
    /// The largest number of the current run of increasing ones.
    latest: AtomicI64,
}

impl IdSource {
    /// The first of `count` consecutive new numbers.
    pub fn take(&self, now: Timestamp, count: usize) -> i64 {
        let more = i64::try_from(count).unwrap_or(i64::MAX).saturating_sub(1);
        let (wanted, step) = (random_at(now), 1 + i64::from(rand::random::<u8>()));
        let too_far = first_at(now.plus_millis(AHEAD_MAX_MS));
        let first = |latest: i64| {
            let first = if latest < too_far { wanted.max(latest.saturating_add(step)) } else { wanted };
            first.min(i64::MAX.saturating_sub(more))
        };
        let latest = self.latest.update(Ordering::Relaxed, Ordering::Relaxed, |latest| first(latest) + more);
        first(latest)
    }
}

/// Milliseconds in the high bits and random bits below, so that nodes need no shared counter.
fn random_at(now: Timestamp) -> i64 {
    first_at(now) | i64::from(rand::random::<u32>() >> (32 - RANDOM_BITS))
}

/// The smallest number of an instant.
fn first_at(instant: Timestamp) -> i64 {
    let since_epoch = instant.as_millis().saturating_sub(EPOCH_MS).clamp(0, (1 << (63 - RANDOM_BITS)) - 1);
    since_epoch << RANDOM_BITS
}

fn write_letters(number: i64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = [0_u8; LETTERS];
    let mut rest = number.unsigned_abs();
    for letter in text.iter_mut().rev() {
        *letter = ALPHABET[usize::try_from(rest & 31).unwrap_or(0)];
        rest >>= 5;
    }
    f.write_str(std::str::from_utf8(&text).unwrap_or_default())
}

fn read_letters(text: &str) -> Result<i64, ParseIdError> {
    if text.len() != LETTERS {
        return Err(ParseIdError);
    }
    let mut number: u64 = 0;
    for byte in text.bytes() {
        let digit = ALPHABET.iter().position(|letter| *letter == byte).ok_or(ParseIdError)?;
        if number >> 59 != 0 {
            return Err(ParseIdError);
        }
        number = (number << 5) | u64::try_from(digit).unwrap_or(0);
    }
    i64::try_from(number).map_err(|_too_large| ParseIdError)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The prefix of every id of this kind.
            pub const PREFIX: &'static str = $prefix;

            /// A new id of a store; see [`IdSource`].
            pub fn new(source: &IdSource, now: Timestamp) -> Self {
                Self(source.take(now, 1))
            }

            /// A new id, in no particular order among those of the same millisecond.
            pub fn random(now: Timestamp) -> Self {
                Self(random_at(now))
            }

            /// The smallest id that is made at this instant or later.
            pub fn first_at(instant: Timestamp) -> Self {
                Self(first_at(instant))
            }

            /// The id with this number, as a store keeps it.
            pub const fn from_i64(number: i64) -> Self {
                Self(number)
            }

            /// The number a store keeps.
            pub const fn as_i64(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                write_letters(self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                read_letters(text.strip_prefix($prefix).ok_or(ParseIdError)?).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

ids! {
    /// An account, the tenant that owns everything else.
    AccountId = "acc_";
    /// A person who signs in, or an integration that uses that person's API key.
    UserId = "usr_";
    /// A tracker. Hardware identifiers may not begin with this prefix.
    DeviceId = "dev_";
    /// A set of devices.
    GroupId = "grp_";
    /// An alert of a device.
    AlertId = "alr_";
    /// A note about an alert.
    AlertNoteId = "nte_";
    /// A public link to a device or group.
    ShareId = "shr_";
    /// A signed-in session of the console.
    SessionId = "ses_";
    /// An API key of a user; a new key has a new id.
    KeyId = "key_";
    /// An entry of the audit log.
    AuditId = "aud_";
    /// A message to one recipient by one channel.
    NotificationId = "ntf_";
    /// A webhook: a URL that receives events.
    WebhookId = "whk_";
    /// An event on its way to a webhook.
    DeliveryId = "dlv_";
    /// A named group of people who are notified of alerts.
    ContactGroupId = "ctg_";
    /// A browser that a user subscribed to notifications.
    PushSubscriptionId = "psb_";
    /// A rule that raises alerts.
    RuleId = "rul_";
    /// An area, a circle or a corridor.
    GeofenceId = "geo_";
    /// An address to which a satellite network or a phone sends messages.
    GatewayId = "gtw_";
    /// A message of a tracker or a satellite network, as received.
    MessageId = "msg_";
    /// A command to a device.
    CommandId = "cmd_";
    /// A message of a conversation with a device.
    ConversationMessageId = "txt_";
    /// A photo or another file that a device uploaded.
    FileId = "fil_";
    /// The id of a segment of a timeline: a trip, a stop or a gap.
    SegmentId = "seg_";
    /// An edit of a timeline.
    EditId = "edt_";
    /// A report with a name.
    SavedReportId = "rpt_";
    /// A maintenance plan of a device.
    MaintenancePlanId = "mnt_";
    /// A record of maintenance that was done.
    MaintenanceRecordId = "mrc_";
    /// A plan of a voyage, a shift or a hike.
    PlanId = "pln_";
    /// An entry of the timeline of a plan.
    PlanEventId = "ple_";
    /// A traveller's link to a plan.
    PlanLinkId = "plk_";
    /// A person who drives devices.
    DriverId = "drv_";
    /// An assignment of a driver to a device.
    AssignmentId = "asg_";
    /// A notice to operators of the server.
    NoticeId = "ntc_";
    /// A map that the server copies from elsewhere.
    MapId = "map_";
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    #[test]
    fn round_trip_and_order() {
        let source = IdSource::default();
        let early = DeviceId::new(&source, NOW);
        let late = DeviceId::new(&source, NOW.plus_millis(-900));
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(early.to_string().parse(), Ok(early));
        assert_eq!(DeviceId::from_i64(i64::MAX).to_string().parse(), Ok(DeviceId::from_i64(i64::MAX)));
    }

    #[test]
    fn ids_follow_a_clock_that_was_ahead() {
        let source = IdSource::default();
        for ahead in [Timestamp::MAX, NOW.plus_seconds(86_400), NOW.plus_millis(2_000)] {
            AlertId::new(&source, ahead);
            let corrected = AlertId::new(&source, NOW);
            assert!(corrected >= AlertId::first_at(NOW), "{ahead}");
            assert!(corrected < AlertId::first_at(NOW.plus_millis(2)), "{ahead}");
            assert!(corrected < AlertId::new(&source, NOW), "in order again");
        }
    }

    #[test]
    fn runs_of_numbers_do_not_overlap() {
        let source = IdSource::default();
        let mut next = 0;
        for count in [1, 10_000, 3, 0, 1] {
            let first = source.take(NOW, count);
            assert!(first >= next);
            next = first + i64::try_from(count).unwrap();
        }
        let last = source.take(Timestamp::MAX, usize::MAX);
        assert!(last >= 0);
    }

    #[test]
    fn refuses_what_it_did_not_write() {
        for text in [
            "",
            "dev_",
            "grp_0000000000000",
            "dev_000000000000",
            "dev_00000000000000",
            "dev_zzzzzzzzzzzzz",
            "dev_000000000000u",
            "dev_00000000000é",
        ] {
            assert_eq!(text.parse::<DeviceId>(), Err(ParseIdError), "{text}");
        }
    }
}
