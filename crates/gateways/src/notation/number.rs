//! Numeric conversions that the standard library offers only as `as`.

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

/// The float rounded towards zero; values out of range become the nearest `i64`.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "float to integer saturates")]
pub const fn whole(number: f64) -> i64 {
    number as i64
}

/// Reads the lowest `width` bits of a number as two's complement.
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
    }
}
