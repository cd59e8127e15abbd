//! How often a device reports, learned from when it was heard.
//!
//! What counts is how long a silence has to be before it is out of the ordinary. A vehicle that reports every ten
//! seconds on the road and hourly when parked is silent for an hour every night, so an hour it is; what arrives in one
//! burst after hours says nothing of the next seconds. Silences are therefore weighed by the time they last: the
//! interval learned is that of the long silences in which a device spends a fifth of its time, and which came at least
//! three times. A few lost reports do not reach that fifth, and no single outage comes three times.

#[cfg(test)]
mod tests;

use crate::time::Timestamp;

/// Heard again within this time, it is still the same burst.
const BURST_MS: i64 = 5_000;
/// The longest silence that can be a rhythm, in seconds: two days. After a longer one the device was off.
const LONGEST_S: u32 = 172_800;
/// The silences of a class are from so many seconds times a power of two to under twice that; shorter ones are one
/// class.
const SHORT_S: u32 = 60;
/// Classes up to [`LONGEST_S`].
const CLASSES: usize = 13;
/// How often a silence has to come before it is expected again.
const ENOUGH: u32 = 3;
/// The share of the time, one in so many, that such silences have to fill.
const ONE_IN: u32 = 5;
/// How long a device has to be watched before it is expected sooner than the default, in seconds: a day has a night.
const WATCH_S: u32 = 86_400;
/// When more than this is remembered, in seconds, half of it is forgotten: a rhythm is that of one to two weeks.
const MEMORY_S: u32 = 14 * 86_400;
/// The form of the bytes.
const VERSION: u8 = 1;
/// Bytes before the classes: the form, and when it was last heard.
const HEAD: usize = 9;
/// Bytes of a class: which one, how many, and their seconds.
const WIDTH: usize = 7;
/// The largest number in three bytes.
const THREE_BYTES: u32 = 0xff_ffff;

/// What is remembered of when a device was heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportingInterval {
    last: Option<Timestamp>,
    silences: [Silences; CLASSES],
}

/// Silences of about the same length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Silences {
    count: u32,
    seconds: u32,
}

impl ReportingInterval {
    /// The interval expected of a device of which too little is known, in seconds.
    pub const DEFAULT_S: u32 = 3_600;

    /// The device was heard at this instant, whatever it said: also a report sent again shows that it is there.
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
        // Before the last time the clock was put right; long after it the device was off. Neither is a silence.
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

    /// How long the silences that are remembered were together.
    fn watched_s(&self) -> u32 {
        self.silences.iter().map(|silences| silences.seconds).sum()
    }

    /// The interval in which it reports, in seconds, once enough is known.
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

    /// The bytes it is kept as; none when the device was never heard.
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

    /// What the bytes tell. Others than ours tell nothing: the rhythm is learned anew.
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
        let mut rhythm = Self { last: Some(last), ..Self::default() };
        for class in classes.chunks(WIDTH) {
            let [class, c0, c1, c2, s0, s1, s2] = *class else { return None };
            *rhythm.silences.get_mut(usize::from(class))? = Silences {
                count: u32::from_le_bytes([c0, c1, c2, 0]),
                seconds: u32::from_le_bytes([s0, s1, s2, 0]),
            };
        }
        Some(rhythm)
    }
}

impl Silences {
    /// Forgets half of them; the others are as long on average. One alone is forgotten.
    fn halve(&mut self) {
        let kept = self.count / 2;
        let seconds = u64::from(self.seconds) * u64::from(kept) / u64::from(self.count.max(1));
        *self = Self { count: kept, seconds: u32::try_from(seconds).unwrap_or(u32::MAX) };
    }
}
