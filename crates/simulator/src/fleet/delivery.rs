//! How fixes arrive: mostly at once, sometimes never, hours later in a burst, out of order or twice.

use std::collections::VecDeque;

use super::device::{Kind, Track};
use super::fix::Fix;
use super::random::Random;

/// A fix and when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it arrives, in milliseconds since 1970; never before the one before it.
    pub at_ms: i64,
    /// The fix that arrives.
    pub fix: Fix,
}

/// How reliable a network is.
#[derive(Clone, Copy, Debug)]
struct Network {
    /// Probability that a fix begins an outage.
    outage: f64,
    /// Length of an outage in seconds.
    outage_s: (u32, u32),
    /// Probability that a fix is lost.
    loss: f64,
    /// Probability that a fix is sent twice.
    repeat: f64,
    /// Network delay in milliseconds.
    delay_ms: (u32, u32),
}

const MOBILE: Network =
    Network { outage: 0.0008, outage_s: (60, 2400), loss: 0.001, repeat: 0.004, delay_ms: (150, 1800) };
const MARITIME: Network =
    Network { outage: 0.004, outage_s: (900, 14_400), loss: 0.002, repeat: 0.004, delay_ms: (800, 20_000) };
const MESSENGER: Network =
    Network { outage: 0.02, outage_s: (7200, 43_200), loss: 0.01, repeat: 0.01, delay_ms: (8_000, 90_000) };
/// Fixes that a device stores during an outage; the oldest are dropped.
const KEPT_MOST: usize = 2000;

/// The fixes of a device, in order of arrival.
#[derive(Clone, Debug)]
pub struct Deliveries {
    track: Track,
    random: Random,
    network: Network,
    /// Fixes ready to be delivered, in order of arrival.
    ready: VecDeque<Delivery>,
    last_ms: i64,
}

impl Deliveries {
    pub(super) fn new(track: Track, kind: Kind, random: Random) -> Self {
        let network = match kind {
            Kind::Vehicle => MOBILE,
            Kind::Vessel => MARITIME,
            Kind::Hiker => MESSENGER,
        };
        Self { track, random, network, ready: VecDeque::new(), last_ms: i64::MIN }
    }

    /// Takes the next fix of the track, or all fixes of an outage that begins with it.
    fn take_more(&mut self) {
        let Some(fix) = self.track.next() else { return };
        if self.random.chance(self.network.outage) {
            self.take_outage(fix);
        } else if !self.random.chance(self.network.loss) {
            let (least, most) = self.network.delay_ms;
            let at_ms = fix.time_ms + i64::from(self.random.whole(least, most));
            self.send(at_ms, fix);
        }
    }

    fn take_outage(&mut self, first: Fix) {
        let (least, most) = self.network.outage_s;
        let end_ms = first.time_ms + i64::from(self.random.whole(least, most)) * 1000;
        let mut kept = VecDeque::from([first]);
        // The fix that ends the outage arrives with the others.
        for fix in self.track.by_ref() {
            if kept.len() == KEPT_MOST {
                kept.pop_front();
            }
            kept.push_back(fix);
            if fix.time_ms >= end_ms {
                break;
            }
        }
        let mut at_ms = kept.back().map_or(end_ms, |fix| fix.time_ms);
        // Some devices send the newest fix first, so that the last position is known at once.
        let is_newest_first = self.random.chance(0.5);
        while let Some(fix) = if is_newest_first { kept.pop_back() } else { kept.pop_front() } {
            at_ms += i64::from(self.random.whole(5, 120));
            self.send(at_ms, fix);
        }
    }

    fn send(&mut self, at_ms: i64, fix: Fix) {
        self.last_ms = self.last_ms.max(at_ms);
        self.ready.push_back(Delivery { at_ms: self.last_ms, fix });
        if self.random.chance(self.network.repeat) {
            self.last_ms += i64::from(self.random.whole(200, 5000));
            self.ready.push_back(Delivery { at_ms: self.last_ms, fix });
        }
    }
}

impl Iterator for Deliveries {
    type Item = Delivery;

    fn next(&mut self) -> Option<Delivery> {
        loop {
            if let Some(delivery) = self.ready.pop_front() {
                return Some(delivery);
            }
            self.take_more();
        }
    }
}
