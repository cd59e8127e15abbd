//! A histogram of latencies with logarithmic buckets: constant memory, and quantiles accurate to two percent.

use std::time::Duration;

/// Buckets for each doubling.
const STEPS: u64 = 64;
/// Doublings above the exact range; the last bucket begins at over an hour.
const DOUBLINGS: usize = 27;

/// A histogram of latencies.
#[derive(Clone, Debug)]
pub struct Latencies {
    buckets: Vec<u64>,
    count: u64,
    most: Duration,
}

impl Default for Latencies {
    fn default() -> Self {
        let buckets = vec![0; usize::try_from(STEPS).unwrap_or(0) * (DOUBLINGS + 1)];
        Self { buckets, count: 0, most: Duration::ZERO }
    }
}

impl Latencies {
    /// Counts a request that took this long.
    pub fn add(&mut self, latency: Duration) {
        let index =
            bucket(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX)).min(self.buckets.len() - 1);
        self.buckets[index] += 1;
        self.count += 1;
        self.most = self.most.max(latency);
    }

    /// Adds the latencies of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
        self.most = self.most.max(other.most);
    }

    /// The number of latencies added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest latency added.
    pub fn most(&self) -> Duration {
        self.most
    }

    /// The quantile in parts per thousand; 500 is the median.
    pub fn per_mille(&self, per_mille: u64) -> Duration {
        let rank = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1000).max(1);
        let mut seen = 0_u128;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= rank {
                return Duration::from_micros(upper_end(index)).min(self.most);
            }
        }
        self.most
    }
}

/// The bucket of a latency in microseconds.
fn bucket(micros: u64) -> usize {
    let doubling = (micros / STEPS).checked_ilog2().map_or(0, |exponent| exponent + 1);
    let index = if doubling == 0 {
        micros
    } else {
        u64::from(doubling) * STEPS + ((micros >> (doubling - 1)) - STEPS)
    };
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// The upper bound of a bucket in microseconds.
fn upper_end(index: usize) -> u64 {
    let index = u64::try_from(index).unwrap_or(u64::MAX);
    let (doubling, step) = (index / STEPS, index % STEPS);
    if doubling == 0 { step } else { ((STEPS + step + 1) << (doubling - 1)) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_lies_within_its_bucket() {
        for micros in (0..5_000).chain([10_000, 123_456, 9_999_999, 3_600_000_000]) {
            let index = bucket(micros);
            let below = index.checked_sub(1).map(upper_end);
            assert!(below.is_none_or(|below| below < micros), "{micros}");
            let end = upper_end(index);
            assert!(micros <= end && end - micros <= micros / 50 + 1, "{micros} {end}");
        }
    }

    #[test]
    fn quantiles_are_those_of_what_was_counted() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.per_mille(500), Duration::ZERO);
        let mut other = Latencies::default();
        for millis in 1..=1000 {
            let into = if millis % 2 == 0 { &mut latencies } else { &mut other };
            into.add(Duration::from_millis(millis));
        }
        latencies.merge(&other);
        assert_eq!((latencies.count(), latencies.most()), (1000, Duration::from_secs(1)));
        for (per_mille, millis) in [(500, 500.0), (990, 990.0), (1000, 1000.0)] {
            let found = latencies.per_mille(per_mille).as_secs_f64() * 1000.0;
            assert!((found / millis - 1.0).abs() < 0.02, "{per_mille}: {found}");
        }
    }
}
