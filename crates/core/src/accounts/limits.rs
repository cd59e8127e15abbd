//! Limits of a device: its expiry and its daily messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::day::Date;
use crate::notifications::notification::Channel;
use crate::time::Timestamp;
use crate::zone::Zone;

/// A device's own limits, as a client sets them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The last date on which the device is active; `None` for no end.
    pub expiration_date: Option<Date>,
    /// Messages per day by each channel, 0 to send none. A channel that is not in it has no limit.
    pub daily: BTreeMap<Channel, u32>,
    /// How many of the day's messages, by each channel with a limit, are reserved for critical alerts.
    pub critical_reserve: u32,
}

impl Limits {
    /// The largest value of a daily limit and of the reserve.
    pub const DAILY_MAX: u32 = 1_000_000;

    /// Daily limits by these channels; `None` is no limit.
    pub fn daily_of<const N: usize>(limits: [(Channel, Option<u32>); N]) -> BTreeMap<Channel, u32> {
        limits.into_iter().filter_map(|(channel, limit)| Some((channel, limit?))).collect()
    }

    /// The daily limit of a channel; `None` for no limit.
    pub fn daily_limit(&self, channel: Channel) -> Option<u32> {
        self.daily.get(&channel).copied()
    }
}

/// What was sent by one channel on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Messages sent or being sent.
    pub messages: u32,
    /// Segments of those messages together; 0 unless they are SMS.
    pub segments: u32,
}

/// Messages that a device caused on the account's current day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// The date of the account's current day.
    pub date: Date,
    /// The time zone in which that day is counted.
    pub time_zone: Zone,
    /// What was sent or is being sent, by channel. A channel that is not in it sent nothing.
    pub sent: BTreeMap<Channel, Sent>,
    /// When the counters start again at zero.
    pub resets_at: Timestamp,
}

impl Counters {
    /// What was sent by this channel.
    pub fn by(&self, channel: Channel) -> Sent {
        self.sent.get(&channel).copied().unwrap_or_default()
    }
}
