//! Numbers with a fixed count of decimals, serialized as the decimals that are stored.

use serde::{Serialize, Serializer};

use super::{Latitude, Longitude, Milli};

/// A whole number of units of `1 / SCALE`. Whole values are serialized as integers, others as floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal<const SCALE: i64>(i64);

/// Degrees, to the seventh decimal.
pub type Degrees = Decimal<10_000_000>;
/// A number to the thousandth.
pub type Thousandths = Decimal<1_000>;

impl From<Latitude> for Degrees {
    fn from(latitude: Latitude) -> Self {
        Self(i64::from(latitude.as_e7()))
    }
}

impl From<Longitude> for Degrees {
    fn from(longitude: Longitude) -> Self {
        Self(i64::from(longitude.as_e7()))
    }
}

impl From<Milli> for Thousandths {
    fn from(number: Milli) -> Self {
        Self(number.as_thousandths())
    }
}

impl<const SCALE: i64> Serialize for Decimal<SCALE> {
    /// A quotient of two whole numbers is the float nearest to the decimal, and the shortest text that reads
    /// back as that float is the decimal itself while it has at most fifteen digits: these have thirteen.
    #[expect(clippy::cast_precision_loss, reason = "both are below 2^53")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % SCALE == 0 {
            serializer.serialize_i64(self.0 / SCALE)
        } else {
            serializer.serialize_f64(self.0 as f64 / SCALE as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written<const SCALE: i64>(units: i64) -> String {
        serde_json::to_string(&Decimal::<SCALE>(units)).unwrap()
    }

    #[test]
    fn writes_what_is_kept() {
        let degrees = |units, expect: &str| assert_eq!(written::<10_000_000>(units), expect);
        degrees(0, "0");
        degrees(-411_220_612, "-41.1220612");
        degrees(421_234_567, "42.1234567");
        degrees(900_000_000, "90");
        degrees(-1_799_999_999, "-179.9999999");
        degrees(1, "1e-7");
        degrees(3_000_000, "0.3");
        let thousandths = |units, expect: &str| assert_eq!(written::<1_000>(units), expect);
        thousandths(12_345, "12.345");
        thousandths(-500, "-0.5");
        thousandths(999_999_999_999, "999999999.999");
    }

    proptest! {
        #[test]
        fn any_coordinate_comes_back(units in -1_800_000_000_i32..1_800_000_000) {
            let text = written::<10_000_000>(i64::from(units));
            prop_assert!(text.contains('e') || text.len() <= 12, "{} has more digits than were kept", text);
            let back = Longitude::from_degrees(text.parse().unwrap()).unwrap();
            prop_assert_eq!(back.as_e7(), units);
        }

        #[test]
        fn any_reading_comes_back(units in -1_000_000_000_000_i64..1_000_000_000_000) {
            let back = Milli::from_f64(written::<1_000>(units).parse().unwrap()).unwrap();
            prop_assert_eq!(back.as_thousandths(), units);
        }
    }
}
