//! Pseudo-random numbers that never change between versions: a seed always gives the same fleet.

/// A `SplitMix64` generator.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator for one purpose under a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = Self(seed ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Self(mixed.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn next_32(&mut self) -> u32 {
        u32::try_from(self.next() >> 32).unwrap_or(u32::MAX)
    }

    /// A number from 0 up to, but not including, 1.
    fn unit(&mut self) -> f64 {
        f64::from(self.next_32()) / 4_294_967_296.0
    }

    /// A number from `least` up to, but not including, `most`.
    pub(crate) fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// A roughly normal number around zero, never beyond three times the spread.
    pub(crate) fn around_zero(&mut self, spread: f64) -> f64 {
        let sum = self.unit() + self.unit() + self.unit();
        (sum - 1.5) * 2.0 * spread
    }

    /// A whole number from `least` to `most`, both included.
    pub(crate) fn whole(&mut self, least: u32, most: u32) -> u32 {
        let span = u64::from(most.saturating_sub(least)) + 1;
        least + u32::try_from((u64::from(self.next_32()) * span) >> 32).unwrap_or(0)
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A random element of the slice.
    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        let last = u32::try_from(among.len() - 1).unwrap_or(u32::MAX);
        &among[self.whole(0, last) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = Random::new(1, 2);
        let mut seen = [false; 3];
        for _ in 0..10_000 {
            assert!((-2.0..3.0).contains(&random.between(-2.0, 3.0)));
            assert!(random.around_zero(1.0).abs() <= 3.0);
            seen[random.whole(0, 2) as usize] = true;
            assert!((5..=7).contains(&random.whole(5, 7)));
            assert!([1, 2].contains(random.pick(&[1, 2])));
        }
        assert_eq!(seen, [true; 3]);
        assert!(!random.chance(0.0) && random.chance(1.0));
    }

    #[test]
    fn a_seed_never_changes_its_numbers() {
        let numbers = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.next(), random.next()]
        };
        assert_eq!(numbers(1, 1), numbers(1, 1));
        assert_ne!(numbers(1, 1), numbers(1, 2));
        assert_ne!(numbers(1, 1), numbers(2, 1));
        assert_eq!(Random(0).next(), 0xE220_A839_7B1D_CDAF);
    }
}
