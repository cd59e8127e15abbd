//! The health of a gateway: time of its last message, number of messages, and errors.

use serde::{Deserialize, Serialize};

use crate::devices::device::DeviceStatus;
use crate::devices::reporting_interval::ReportingInterval;
use crate::id::{AccountId, GatewayId};
use crate::time::Timestamp;

const HOUR_MS: i64 = 60 * 60 * 1000;
/// Number of hours that have a count of their own.
const HOURS: usize = 24;
/// A refusal is announced again after this many milliseconds.
const REFUSED_AGAIN_MS: i64 = HOUR_MS;

/// Messages of each of the last 24 hours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HourlyCounts {
    /// Hours since 1970 of the newest count.
    hour: i64,
    /// The newest hour first.
    counts: [u32; HOURS],
}

impl HourlyCounts {
    /// Counts messages that arrived at this instant.
    pub fn add(&mut self, at: Timestamp, messages: u64) {
        self.move_to(at);
        let behind = usize::try_from(self.hour - at.as_millis().div_euclid(HOUR_MS)).unwrap_or(0);
        if let Some(count) = self.counts.get_mut(behind) {
            *count = count.saturating_add(u32::try_from(messages).unwrap_or(u32::MAX));
        }
    }

    /// Messages of this hour and the 23 hours before it.
    pub fn last_day(&self, now: Timestamp) -> u64 {
        let mut moved = self.clone();
        moved.move_to(now);
        moved.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// Makes the hour of this instant the newest, unless there is a later one.
    fn move_to(&mut self, at: Timestamp) {
        let hour = at.as_millis().div_euclid(HOUR_MS);
        let passed = usize::try_from((hour - self.hour).max(0)).unwrap_or(HOURS).min(HOURS);
        self.counts.rotate_right(passed % HOURS);
        self.counts.iter_mut().take(passed).for_each(|count| *count = 0);
        self.hour = self.hour.max(hour);
    }

    /// The stored form: the newest hour, then the counts, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = self.counts.iter().flat_map(|count| count.to_le_bytes());
        self.hour.to_le_bytes().into_iter().chain(counts).collect()
    }

    /// Reads the stored form. Bytes of another form are ignored, and counting begins again.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut read = Self::default();
        let Some((hour, counts)) = bytes.split_first_chunk::<8>() else { return read };
        read.hour = i64::from_le_bytes(*hour);
        for (count, bytes) in read.counts.iter_mut().zip(counts.chunks_exact(4)) {
            *count = bytes.try_into().map_or(0, u32::from_le_bytes);
        }
        read
    }
}

/// The health of a gateway: arrival and errors of its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayState {
    /// Time of the last message, readable or not.
    pub last_message: Option<Timestamp>,
    /// Messages received in each of the last hours.
    pub hours: HourlyCounts,
    /// Usual interval between messages, in seconds; `None` until enough is known.
    pub interval_s: Option<u32>,
    /// Messages that could not be read, or not in full, and failed polls; since the gateway was created.
    pub errors: u64,
    /// The last error, with its time.
    pub last_error: Option<(Timestamp, String)>,
    /// Requests that the service refused, or that a provider refused; since the gateway was created.
    pub refused: u64,
    /// When a refusal was last announced.
    pub refused_at: Option<Timestamp>,
    /// Since when it is known to be late; `None` while messages arrive as usual, and polls succeed.
    pub late_since: Option<Timestamp>,
    /// Only set for polled feeds.
    pub poll: Option<PollState>,
}

/// Where and when a poller continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollState {
    /// Where the next request continues, in the poller's own form; empty before the first.
    pub cursor: String,
    /// When the next request is due.
    pub next: Timestamp,
    /// Failed requests since the last that succeeded.
    pub failures: u32,
    /// The instant up to which everything is stored; `None` before the first request.
    pub complete_to: Option<Timestamp>,
}

impl GatewayState {
    /// Whether to announce a refusal that happens now: at most one in an hour is announced.
    pub fn announces_refusal(&self, now: Timestamp) -> bool {
        self.refused_at.is_none_or(|at| now.as_millis() - at.as_millis() >= REFUSED_AGAIN_MS)
    }
}

impl PollState {
    /// Failed requests in a row after which a gateway is late.
    pub const LATE_FAILURES: u32 = 5;
    /// A gateway is late if the next request is overdue by this, in milliseconds: half an hour, which is several
    /// intervals of most providers.
    pub const OVERDUE_MS: i64 = 30 * 60 * 1000;

    /// The instant after which it is late if no request succeeds.
    fn late_at(&self) -> Timestamp {
        if self.failures >= Self::LATE_FAILURES {
            return Timestamp::MIN;
        }
        self.next.plus_millis(Self::OVERDUE_MS)
    }
}

/// The instant after which a gateway is late if no message arrives or no poll succeeds; `None` until one of them is
/// expected.
pub fn late_at(state: &GatewayState, interval: &ReportingInterval) -> Option<Timestamp> {
    let limit = |last| Some(DeviceStatus::limits(last, Some(interval.interval_s()?)).0);
    let by_messages = state.last_message.and_then(limit);
    by_messages.into_iter().chain(state.poll.as_ref().map(PollState::late_at)).min()
}

/// The messages and errors of a gateway on one node since the last save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayReport {
    /// The account that owns the gateway.
    pub account: AccountId,
    /// The gateway that the counts are for.
    pub gateway: GatewayId,
    /// Times of the first and the last message; `None` if there was none.
    pub heard: Option<(Timestamp, Timestamp)>,
    /// Number of messages.
    pub messages: u64,
    /// How many of them could not be read.
    pub errors: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Why the last one could not be read or was refused.
    pub last_error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_day_are_counted() {
        let start = Timestamp::from_millis(1_767_225_600_000);
        let mut counts = HourlyCounts::default();
        for hour in 0..48 {
            counts.add(start.plus_seconds(hour * 3_600), 10);
        }
        let end = start.plus_seconds(47 * 3_600);
        assert_eq!(counts.last_day(end), 240);
        assert_eq!(counts.last_day(end.plus_seconds(12 * 3_600)), 120);
        assert_eq!(counts.last_day(end.plus_seconds(1_000_000)), 0);
        counts.add(end.plus_seconds(-3_600), 5);
        assert_eq!(counts.last_day(end), 245, "another node reports later");
        assert_eq!(HourlyCounts::from_bytes(&counts.to_bytes()), counts);
        assert_eq!(HourlyCounts::from_bytes(b"x"), HourlyCounts::default());
    }
}
