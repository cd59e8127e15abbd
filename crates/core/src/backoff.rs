//! Exponential back-off with jitter for anything that is retried.

/// Milliseconds to wait after `failed` attempts in a row. `waits_s` lists the waits in seconds; its last entry is
/// used from then on. `chance`, from 0 to 1,000, is a random number that spreads the wait by up to a fifth in either
/// direction, so that what failed together is not retried together.
pub fn wait_ms(waits_s: &[i64], failed: u32, chance: u16) -> i64 {
    let index = usize::try_from(failed.saturating_sub(1)).unwrap_or(usize::MAX);
    let seconds = waits_s.get(index).or(waits_s.last()).copied().unwrap_or_default();
    seconds * (2_000 + i64::from(chance.min(1_000))) * 2 / 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_spread() {
        let check = |failed, chance, expect| {
            assert_eq!(wait_ms(&[5, 30], failed, chance), expect, "{failed} {chance}");
        };
        check(0, 500, 5_000);
        check(1, 0, 4_000);
        check(1, 500, 5_000);
        check(1, u16::MAX, 6_000);
        check(2, 500, 30_000);
        check(u32::MAX, 1_000, 36_000);
        assert_eq!(wait_ms(&[], 1, 500), 0);
    }
}
