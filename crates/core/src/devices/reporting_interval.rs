//! Learns the reporting interval of a device from the times at which it reported.
//!
//! The interval answers: how long must a silence be to be unusual? A vehicle that reports every ten seconds on the
//! road and hourly when parked is silent for an hour every night, so its interval is an hour. A burst after hours of
//! silence says nothing about the seconds inside the burst. Silences are therefore weighted by their length: the
//! interval is that of the long silences in which the device spends at least a fifth of its time and which occurred
//! at least three times. A few lost reports do not reach that fifth, and no single outage occurs three times.

#[cfg(test)]
mod tests;

use crate::time::Timestamp;

/// Reports within this time belong to one burst.
const BURST_MS: i64 = 5_000;
/// The longest silence that counts, in seconds: two days. After a longer one the device was switched off.
const LONGEST_S: u32 = 172_800;
/// Silences are counted in classes. A class covers lengths from `SHORT_S` times a power of two up to twice that;
/// shorter silences share the first class.
const SHORT_S: u32 = 60;
/// Number of classes up to [`LONGEST_S`].
const CLASSES: usize = 13;
/// How often a silence must occur before it is expected again.
const ENOUGH: u32 = 3;
/// Silences of the learned length or longer must fill at least one part in this many of the total time.
const ONE_IN: u32 = 5;
/// How long a device must be watched, in seconds, before an interval shorter than the default is learned: a full day,
/// since nights differ.
const WATCH_S: u32 = 86_400;
/// When more than this is remembered, in seconds, every count is halved. So the interval reflects the last one to two
/// weeks.
const MEMORY_S: u32 = 14 * 86_400;
/// Version of the stored bytes.
const VERSION: u8 = 1;
/// Bytes before the classes: the version and the time of the last report.
const HEAD: usize = 9;
/// Bytes of a class: its number, its count, its seconds.
const WIDTH: usize = 7;
/// The largest number in three bytes.
const THREE_BYTES: u32 = 0xff_ffff;

/// Statistics of the times at which a device reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportingInterval {
    last: Option<Timestamp>,
    silences: [Silences; CLASSES],
}

/// Silences of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Silences {
    count: u32,
    seconds: u32,
}

impl ReportingInterval {
    /// The interval assumed until enough is known, in seconds.
    pub const DEFAULT_S: u32 = 3_600;

    /// Records that the device reported, whatever it sent: a duplicate also shows that it is alive.
    pub fn hear(&mut self, at: Timestamp) {
        let Some(last) = self.last else {
            self.last = Some(at);
            return;
        };
        let silence_ms = at.as_millis() - last.as_millis();
        if (-BURST_MS..BURST_MS).contains(&silence_ms) {
            return;
        }
        self.last = Some(at);
        // A negative silence means that the clock was corrected; a very long one that the device was off. Neither
        // counts.
        let seconds = u32::try_from((silence_ms + 500) / 1_000).unwrap_or(0);
        if (1..=LONGEST_S).contains(&seconds) {
            self.count(seconds);
        }
    }

    fn count(&mut self, seconds: u32) {
        let class = (seconds / SHORT_S).checked_ilog2().map_or(0, |power| power + 1);
        if let Some(silences) = usize::try_from(class).ok().and_then(|class| self.silences.get_mut(class)) {
            silences.count += 1;
            silences.seconds += seconds;
        }
        if self.watched_s() > MEMORY_S {
            self.silences.iter_mut().for_each(Silences::halve);
        }
    }

    /// Sum of all remembered silences, in seconds.
    fn watched_s(&self) -> u32 {
        self.silences.iter().map(|silences| silences.seconds).sum()
    }

    /// The learned reporting interval in seconds; `None` until enough is known.
    pub fn interval_s(&self) -> Option<u32> {
        let watched_s = self.watched_s();
        let mut longer = Silences::default();
        let typical = self.silences.iter().rev().find(|silences| {
            longer.count += silences.count;
            longer.seconds += silences.seconds;
            longer.count >= ENOUGH && longer.seconds * ONE_IN >= watched_s
        });
        let interval_s = typical?.seconds.checked_div(typical?.count)?;
        (watched_s >= WATCH_S || interval_s > Self::DEFAULT_S).then_some(interval_s)
    }

    /// The stored form; empty if the device never reported.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(last) = self.last else { return Vec::new() };
        let mut bytes = vec![VERSION];
        bytes.extend(last.as_millis().to_le_bytes());
        for (class, silences) in (0_u8..).zip(&self.silences).filter(|(_, silences)| silences.count > 0) {
            bytes.push(class);
            for number in [silences.count, silences.seconds] {
                let [low, middle, high, _] = number.min(THREE_BYTES).to_le_bytes();
                bytes.extend([low, middle, high]);
            }
        }
        bytes
    }

    /// Reads the stored form. Bytes of another form are ignored, and the interval is learned again.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::read(bytes).unwrap_or_default()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (head, classes) = bytes.split_at_checked(HEAD)?;
        let (version, last) = head.split_first()?;
        if *version != VERSION {
            return None;
        }
        let last = Timestamp::from_millis(i64::from_le_bytes(last.try_into().ok()?));
        let mut interval = Self { last: Some(last), ..Self::default() };
        for class in classes.chunks(WIDTH) {
            let [class, c0, c1, c2, s0, s1, s2] = *class else { return None };
            *interval.silences.get_mut(usize::from(class))? = Silences {
                count: u32::from_le_bytes([c0, c1, c2, 0]),
                seconds: u32::from_le_bytes([s0, s1, s2, 0]),
            };
        }
        Some(interval)
    }
}

impl Silences {
    /// Halves the count and keeps the average length. A single silence is dropped.
    fn halve(&mut self) {
        let kept = self.count / 2;
        let seconds = u64::from(self.seconds) * u64::from(kept) / u64::from(self.count.max(1));
        *self = Self { count: kept, seconds: u32::try_from(seconds).unwrap_or(u32::MAX) };
    }
}
