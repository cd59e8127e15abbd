//! Conversions that the standard library has no lossless form of, in one place.

/// The nearest float.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "no From; the loss is that of a float"
)]
pub const fn real(number: i64) -> f64 {
    number as f64
}

/// The nearest float.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "no From; the loss is that of a float"
)]
pub const fn real_u64(number: u64) -> f64 {
    number as f64
}

/// The whole number towards zero, held within what fits.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "float to integer saturates")]
pub const fn whole(number: f64) -> i64 {
    number as i64
}

/// The lowest 32 bits of a number with its sign, as protocols that send them apart mean it.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "wraps on purpose"
)]
pub const fn low_u16(number: i64) -> u16 {
    number as u16
}

/// Two's complement of a number that is this many bits wide.
pub const fn signed(number: u64, width: u32) -> i64 {
    if width == 0 || width >= 64 {
        return number.cast_signed();
    }
    let shift = 64 - width;
    (number << shift).cast_signed() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_sign() {
        assert_eq!(signed(0xff, 8), -1);
        assert_eq!(signed(0x7f, 8), 127);
        assert_eq!(signed(0x80_0000, 24), -0x80_0000);
        assert_eq!(whole(-2.9), -2);
        assert_eq!(low_u16(0x1_0002), 2);
    }
}
