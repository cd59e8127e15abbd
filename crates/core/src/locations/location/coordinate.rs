//! Numbers of a location as scaled integers. Floats occur only where input is read; nothing stores one.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroI64;

use serde::{Deserialize, Serialize};

/// The number is too small or too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the latitude or longitude is out of range")]
pub struct OutOfRange;

const E7: f64 = 1e7;

fn scaled(number: f64, scale: f64, max: f64) -> Result<f64, OutOfRange> {
    let scaled = (number * scale).round();
    if scaled.is_finite() && scaled.abs() <= max { Ok(scaled) } else { Err(OutOfRange) }
}

/// Degrees north in units of 1e-7, from -90 to 90.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Latitude(i32);

/// Degrees east in units of 1e-7, from -180 to under 180.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Longitude(i32);

/// A number in thousandths.
///
/// Combined by XOR with a sentinel so that it is never zero and `Option<Milli>` takes 8 bytes: a location has many.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct Milli(NonZeroI64);

impl Latitude {
    /// Rounds degrees to 1e-7.
    pub fn from_degrees(degrees: f64) -> Result<Self, OutOfRange> {
        #[expect(clippy::cast_possible_truncation, reason = "bounded by the line above")]
        scaled(degrees, E7, 90.0 * E7).map(|units| Self(units as i32))
    }

    /// From units of 1e-7 degree, unchecked: for values that were stored.
    pub const fn from_e7(units: i32) -> Self {
        Self(units)
    }

    /// Units of 1e-7 degree.
    pub const fn as_e7(self) -> i32 {
        self.0
    }

    /// The angle in degrees.
    pub fn as_degrees(self) -> f64 {
        f64::from(self.0) / E7
    }
}

impl Longitude {
    /// Rounds degrees to 1e-7. +180 becomes -180, which is the same meridian.
    pub fn from_degrees(degrees: f64) -> Result<Self, OutOfRange> {
        #[expect(clippy::cast_possible_truncation, reason = "bounded by the line above")]
        let units = scaled(degrees, E7, 180.0 * E7)? as i32;
        Ok(Self(if units == 1_800_000_000 { -1_800_000_000 } else { units }))
    }

    /// From units of 1e-7 degree, unchecked: for values that were stored.
    pub const fn from_e7(units: i32) -> Self {
        Self(units)
    }

    /// Units of 1e-7 degree.
    pub const fn as_e7(self) -> i32 {
        self.0
    }

    /// The angle in degrees.
    pub fn as_degrees(self) -> f64 {
        f64::from(self.0) / E7
    }
}

impl Milli {
    /// The largest magnitude that input may have: a billion.
    pub const MAX: f64 = 1e9;

    /// Rounds to a thousandth.
    pub fn from_f64(number: f64) -> Result<Self, OutOfRange> {
        #[expect(clippy::cast_possible_truncation, reason = "bounded by the line above")]
        scaled(number, 1e3, Self::MAX * 1e3).map(|units| Self::from_thousandths(units as i64))
    }

    /// A number that does not occur, far outside of [`Self::MAX`].
    const SENTINEL: i64 = i64::MIN + 1;

    /// From thousandths, unchecked: for values that were stored.
    #[inline]
    pub const fn from_thousandths(units: i64) -> Self {
        match NonZeroI64::new(units ^ Self::SENTINEL) {
            Some(masked) => Self(masked),
            // The sentinel itself would be zero, so the number next to it is stored.
            None => Self(NonZeroI64::MIN),
        }
    }

    /// The number in thousandths.
    #[inline]
    pub const fn as_thousandths(self) -> i64 {
        self.0.get() ^ Self::SENTINEL
    }

    /// The number as a float, exact to the thousandth.
    #[expect(clippy::cast_precision_loss, reason = "at most 1e12, well within what a float holds exactly")]
    pub fn as_f64(self) -> f64 {
        self.as_thousandths() as f64 / 1e3
    }
}

impl fmt::Debug for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Milli").field(&self.as_thousandths()).finish()
    }
}

impl Ord for Milli {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_thousandths().cmp(&other.as_thousandths())
    }
}

impl PartialOrd for Milli {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Milli {
    fn from(units: i64) -> Self {
        Self::from_thousandths(units)
    }
}

impl From<Milli> for i64 {
    fn from(milli: Milli) -> Self {
        milli.as_thousandths()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_number_takes_no_extra_memory() {
        assert_eq!(size_of::<Option<Milli>>(), size_of::<i64>());
        let numbers = [i64::MIN, -1_000_000_000_000, -1, 0, 1, 1_000_000_000_000, i64::MAX];
        assert_eq!(numbers.map(Milli::from_thousandths).map(Milli::as_thousandths), numbers);
        assert!(numbers.map(Milli::from_thousandths).is_sorted());
    }

    #[test]
    fn degrees_round_and_stay_in_range() {
        let latitude = |degrees| Latitude::from_degrees(degrees).map(Latitude::as_e7);
        let longitude = |degrees| Longitude::from_degrees(degrees).map(Longitude::as_e7);
        assert_eq!(latitude(90.0), Ok(900_000_000));
        assert_eq!(latitude(-41.122_061_23), Ok(-411_220_612));
        assert_eq!(latitude(90.000_000_1), Err(OutOfRange));
        assert_eq!(latitude(f64::NAN), Err(OutOfRange));
        assert_eq!(latitude(f64::INFINITY), Err(OutOfRange));
        assert_eq!(longitude(180.0), Ok(-1_800_000_000));
        assert_eq!(longitude(-180.0), Ok(-1_800_000_000));
        assert_eq!(longitude(179.999_999_9), Ok(1_799_999_999));
        assert_eq!(longitude(180.000_000_1), Err(OutOfRange));
    }

    #[test]
    fn thousandths_round_trip() {
        for number in [0.0, -0.5, 12.345, 999_999_999.999, -1e9] {
            let back = Milli::from_f64(number).unwrap().as_f64();
            assert!((back - number).abs() < 1e-9, "{number} came back as {back}");
        }
        assert_eq!(Milli::from_f64(1.1e9), Err(OutOfRange));
    }
}
