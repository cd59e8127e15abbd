//! Single bits and runs of bits of a number.

/// Whether this bit is set; bit 0 is the lowest.
pub fn bit(number: impl Into<u64>, index: u32) -> bool {
    number.into().checked_shr(index).is_some_and(|shifted| shifted & 1 == 1)
}

/// The number formed by the bits from `from` up to, not including, `to`.
pub fn bits(number: impl Into<u64>, from: u32, to: u32) -> u64 {
    let shifted = number.into().checked_shr(from).unwrap_or(0);
    let width = to.saturating_sub(from);
    if width >= 64 { shifted } else { shifted & ((1 << width) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_the_lowest_bit() {
        assert!(bit(0b100_u8, 2) && !bit(0b100_u8, 1) && !bit(1_u8, 64));
        assert_eq!(bits(0b1101_0000_u8, 4, 7), 0b101);
        assert_eq!(bits(u64::MAX, 0, 64), u64::MAX);
        assert_eq!(bits(1_u8, 3, 1), 0);
    }
}
