//! Random numbers that can be repeated from a seed.

/// A pseudo-random generator (splitmix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to under `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    /// A number from 0 to under `end`.
    pub(crate) fn below_i64(&mut self, end: i64) -> i64 {
        i64::try_from(self.below(usize::try_from(end).unwrap())).unwrap()
    }

    pub(crate) fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }
}
