//! The table of the readings of a location. To add a reading, add a line to [`reading_fields!`](crate::reading_fields).
//!
//! Everything that handles readings is generated from this table at compile time: the members of [`Readings`], the
//! JSON reader and writers, the schema of the API, both codecs of the store, the columns of exports and imports.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::{Attribute, FixSource, Milli, OutOfRange};

/// Calls a macro with the table of readings, in the order in which they are written.
///
/// The columns are: the member of [`Readings`], its [kind](kind), its [`Field`], its name in the API, the
/// [`Bounds`] of a number, the bit and the column of the stored formats, an example as JSON, and what it is, with the
/// unit of a number.
///
/// The bit is that of packed readings; a `Flag` takes the next bit as well. The column is that of packed chunks. Both
/// are part of the formats on disk: they never change and are never used again. A new reading takes the next bit, 33,
/// and the next column, 38, or 71 if it is a list. Low bits pack shorter, so the most frequent readings have them.
#[macro_export]
macro_rules! reading_fields {
    ($then:ident) => {
        $then! {
            altitude: Number Altitude "altitude" ANY bit 2 column 18 "12.5" "Altitude" "metres";
            speed: Number Speed "speed" NOT_NEGATIVE bit 0 column 16 "18.52" "Speed over ground" "km/h";
            course: Number Course "course" CIRCLE bit 1 column 17 "271.5"
                "Direction of travel" "degrees clockwise from true north, from 0 to less than 360; 360 is accepted and stored as 0";
            accuracy: Number Accuracy "accuracy" NOT_NEGATIVE bit 7 column 19 "5" "Accuracy of the position" "metres";
            valid: Flag Valid "valid" NONE bit 3 column 20 "true" "Whether the sender marked the position as valid";
            satellites: Count Satellites "satellites" SATELLITES bit 5 column 21 "9" "Number of satellites used for the position";
            hdop: Number Hdop "hdop" NOT_NEGATIVE bit 8 column 22 "0.9" "Horizontal dilution of precision";
            battery: Number Battery "battery" PERCENT bit 6 column 23 "87" "Battery charge" "percent";
            fuel: Number Fuel "fuel" PERCENT bit 16 column 24 "64.5" "Fuel level of the first tank" "percent";
            fuel2: Number Fuel2 "fuel2" PERCENT bit 17 column 25 "12" "Fuel level of the second tank" "percent";
            temperature: Number Temperature "temperature" CELSIUS bit 18 column 26 "-18.2" "Temperature at the first probe" "degrees Celsius";
            temperature2: Number Temperature2 "temperature2" CELSIUS bit 19 column 27 "4"
                "Temperature at the second probe" "degrees Celsius";
            sensor_time1_s: Number SensorTime1 "sensorTime1" NOT_NEGATIVE bit 22 column 28 "30" "Time for which sensor 1 was on" "seconds";
            sensor_time2_s: Number SensorTime2 "sensorTime2" NOT_NEGATIVE bit 23 column 29 "30" "Time for which sensor 2 was on" "seconds";
            sensor_time3_s: Number SensorTime3 "sensorTime3" NOT_NEGATIVE bit 24 column 30 "30" "Time for which sensor 3 was on" "seconds";
            sensor_time4_s: Number SensorTime4 "sensorTime4" NOT_NEGATIVE bit 25 column 31 "30" "Time for which sensor 4 was on" "seconds";
            inactive_s: Number InactiveSeconds "inactiveSeconds" NOT_NEGATIVE bit 21 column 32 "600"
                "Time for which the device has not moved" "seconds";
            rpm: Number Rpm "rpm" NOT_NEGATIVE bit 20 column 33 "1500" "Engine speed" "revolutions per minute";
            mileage: Number Mileage "mileage" NOT_NEGATIVE bit 11 column 34 "120345.6" "Distance travelled" "kilometres";
            ignition: Flag Ignition "ignition" NONE bit 9 column 35 "true" "Whether the ignition is on";
            inputs: Flags Inputs "inputs" NONE bit 14 column 64 "[true,false]" "States of the digital inputs, in order; `true` for on";
            outputs: Flags Outputs "outputs" NONE bit 15 column 65 "[false]" "States of the digital outputs, in order; `true` for on";
            warnings: Texts Warnings "warnings" NONE bit 26 column 66 r#"["LowVoltage"]"# "Names of the warnings that the device reported with the location";
            warning_texts: Texts WarningTexts "warningTexts" NONE bit 27 column 67 r#"["Supply below 11 V"]"#
                "Texts of the warnings, each of at most 1000 characters";
            alerts: Texts Alerts "alerts" NONE bit 28 column 68 r#"["SpeedLimit"]"# "Names of alerts that are raised with the time and position of the location";
            alert_texts: Texts AlertTexts "alertTexts" NONE bit 29 column 69 r#"["Faster than 20 km/h"]"#
                "Texts of the alerts, each at the index of its name in `alerts` and of at most 1000 characters";
            has_critical_alert: Flag HasCriticalAlert "hasCriticalAlert" NONE bit 30 column 36 "false"
                "Whether the alerts of the location are critical. `true` without `alerts` raises the alert `SOSButton`";
            source: Source Source "source" NONE bit 12 column 37 "\"gnss\"" "Method by which the position was determined";
            attributes: Attributes Attributes "attributes" NONE bit 13 column 96 r#"{"driver":"Ana"}"#
                "Further readings by name, each a string, a number or a boolean; at most 200";
            accessories: Accessories AccessoriesAttributes "accessoriesAttributes" NONE bit 32 column 70
                r#"[{"name":"Hook","state":"open"}]"# "Values that attached accessories reported, one object for each accessory";
        }
    };
}

/// The other spelling of `mileage`, which clients of the original API send and read.
pub const MILEAGE_ALIAS: &str = "milleage";

/// The types of readings, under the names that the table gives them. A reading that was not sent is `None` or empty.
pub mod kind {
    use super::{Attribute, BTreeMap, FixSource, Milli};

    /// A number in thousandths of its unit.
    pub type Number = Option<Milli>;
    /// A small whole number.
    pub type Count = Option<u32>;
    /// Yes or no; `None` if the device did not report it.
    pub type Flag = Option<bool>;
    /// How a position was found.
    pub type Source = Option<FixSource>;
    /// A list of yes and no, up to [`LIST_MAX`](super::super::Location::LIST_MAX) long.
    pub type Flags = Option<Vec<bool>>;
    /// A list of texts, up to [`LIST_MAX`](super::super::Location::LIST_MAX) long.
    pub type Texts = Option<Vec<String>>;
    /// Named values of any kind. In chunks they have columns of their own, 96 to 99, by the kind of value.
    pub type Attributes = BTreeMap<String, Attribute>;
    /// A map of texts for each accessory.
    pub type Accessories = Option<Vec<BTreeMap<String, String>>>;
}

/// The kind of a reading, named as in [`kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// See [`kind::Number`] for the type.
    Number,
    /// See [`kind::Count`] for the type.
    Count,
    /// See [`kind::Flag`] for the type.
    Flag,
    /// See [`kind::Source`] for the type.
    Source,
    /// See [`kind::Flags`] for the type.
    Flags,
    /// See [`kind::Texts`] for the type.
    Texts,
    /// See [`kind::Attributes`] for the type.
    Attributes,
    /// See [`kind::Accessories`] for the type.
    Accessories,
}

/// The numbers that a reading accepts, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least number that is accepted.
    pub least: Milli,
    /// The greatest number that is accepted.
    pub most: Milli,
    /// Whether the greatest number means the same as the least and is stored as that.
    pub is_circle: bool,
}

impl Bounds {
    /// Any number that can be stored.
    pub const ANY: Self = Self::new(-Self::MAX, Self::MAX);
    /// For readings that are not numbers.
    pub const NONE: Self = Self::ANY;
    /// Any number from zero on.
    pub const NOT_NEGATIVE: Self = Self::new(0, Self::MAX);
    /// From 0 to 100.
    pub const PERCENT: Self = Self::new(0, 100_000);
    /// Any temperature from absolute zero on.
    pub const CELSIUS: Self = Self::new(-273_150, Self::MAX);
    /// From 0 to 360, which is stored as 0.
    pub const CIRCLE: Self = Self { is_circle: true, ..Self::new(0, 360_000) };
    /// Satellites in a fix.
    pub const SATELLITES: Self = Self::new(0, 1_000_000);

    /// A billion, in thousandths.
    const MAX: i64 = 1_000_000_000_000;

    const fn new(least: i64, most: i64) -> Self {
        Self { least: Milli::from_thousandths(least), most: Milli::from_thousandths(most), is_circle: false }
    }

    /// The whole numbers within the bounds.
    pub fn whole_range(self) -> RangeInclusive<u32> {
        let whole = |bound: Milli| u32::try_from(bound.as_thousandths() / 1000).unwrap_or(0);
        whole(self.least)..=whole(self.most)
    }

    /// The number as it is stored: rounded to a thousandth, if it lies within the bounds.
    pub fn accept(self, number: f64) -> Result<Milli, OutOfRange> {
        let rounded = Milli::from_f64(number)?;
        if (self.least.as_f64()..=self.most.as_f64()).contains(&number) {
            Ok(self.stored(rounded))
        } else {
            Err(OutOfRange)
        }
    }

    /// The same for a number that has no more decimals than are stored.
    #[inline]
    pub fn accept_thousandths(self, units: i64) -> Result<Milli, OutOfRange> {
        let number = Milli::from_thousandths(units);
        if (self.least..=self.most).contains(&number) { Ok(self.stored(number)) } else { Err(OutOfRange) }
    }

    /// A number that was rounded up to a whole turn is stored as 0.
    #[inline]
    fn stored(self, number: Milli) -> Milli {
        if self.is_circle && number == self.most { self.least } else { number }
    }
}

/// A line of the table, for code that is not generated from it.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The field in the API.
    pub field: Field,
    /// The type of its values.
    pub kind: Kind,
    /// The accepted numbers, if it is a number.
    pub bounds: Bounds,
    /// Meaning and unit, as a sentence.
    pub description: &'static str,
    /// An example, as JSON.
    pub example: &'static str,
}

macro_rules! define {
    ($(
        $member:ident: $kind:ident $field:ident $name:literal $bounds:ident bit $bit:literal column $column:literal
        $example:literal $what:literal $($unit:literal)?;
    )+) => {
        /// Readings that a device may report with its position. A reading that was not sent is `None` or empty.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Readings {
            $(
                #[doc = concat!($what, $(", in ", $unit,)? ".")]
                pub $member: kind::$kind,
            )+
        }

        /// A field of a location in the API, in the order in which they are written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Field {
            /// Time at which the position was measured.
            DateTime,
            /// Degrees north, WGS 84.
            Latitude,
            /// Degrees east, WGS 84.
            Longitude,
            $(
                #[doc = concat!($what, $(", in ", $unit,)? ".")]
                $field,
            )+
            /// Time at which the server received the location.
            ReceivedAt,
            /// Whether the location was received more than ten minutes after it was measured.
            Late,
            /// Whether the time or position is implausible.
            Suspect,
        }

        impl Field {
            /// Every field, in the order in which they are written.
            pub const ALL: &'static [Self] = &[
                Self::DateTime,
                Self::Latitude,
                Self::Longitude,
                $(Self::$field,)+
                Self::ReceivedAt,
                Self::Late,
                Self::Suspect,
            ];

            /// The name of the JSON member and of the column in exports.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::DateTime => "dateTime",
                    Self::Latitude => "latitude",
                    Self::Longitude => "longitude",
                    $(Self::$field => $name,)+
                    Self::ReceivedAt => "receivedAt",
                    Self::Late => "late",
                    Self::Suspect => "suspect",
                }
            }

            /// The numbers that a reading accepts.
            pub const fn bounds(self) -> Bounds {
                match self {
                    $(Self::$field => Bounds::$bounds,)+
                    _ => Bounds::NONE,
                }
            }
        }

        impl Reading {
            /// Every reading, in the order in which they are written.
            pub const ALL: &'static [Self] = &[$(Self {
                field: Field::$field,
                kind: Kind::$kind,
                bounds: Bounds::$bounds,
                description: concat!($what, $(", in ", $unit,)? "."),
                example: $example,
            },)+];
        }

        /// The stored numbers of the table, for the tests below.
        #[cfg(test)]
        const STORED: &[(&str, Kind, u32, u8)] = &[$(($name, Kind::$kind, $bit, $column),)+];
    };
}

reading_fields!(define);

impl Field {
    /// Fields that only the server sets. They are ignored in requests, so that an answer may be sent back as it is.
    pub const READ_ONLY: [Self; 3] = [Self::ReceivedAt, Self::Late, Self::Suspect];

    /// The field with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_stored_number_is_used_twice() {
        let (mut bits, mut columns) = (BTreeSet::new(), BTreeSet::new());
        for (name, kind, bit, column) in STORED {
            assert!(*bit < 63 && bits.insert(*bit), "bit {bit} of {name}");
            assert!(*kind != Kind::Flag || bits.insert(bit + 1), "bit {} of {name}", bit + 1);
            assert!(columns.insert(*column), "column {column} of {name}");
            let range = match kind {
                Kind::Number | Kind::Count | Kind::Flag | Kind::Source => 16..64,
                Kind::Flags | Kind::Texts | Kind::Accessories => 64..96,
                Kind::Attributes => 96..97,
            };
            assert!(range.contains(column), "column {column} of {name}");
        }
    }

    #[test]
    fn numbers_are_accepted_within_their_bounds() {
        let check = |bounds: Bounds, number: f64, expect: Option<i64>| {
            assert_eq!(bounds.accept(number).ok().map(Milli::as_thousandths), expect, "{number}");
        };
        check(Bounds::PERCENT, 100.0, Some(100_000));
        check(Bounds::PERCENT, 100.000_4, None);
        check(Bounds::PERCENT, -0.000_1, None);
        check(Bounds::CELSIUS, -273.15, Some(-273_150));
        check(Bounds::CELSIUS, -273.151, None);
        check(Bounds::CIRCLE, 359.999_6, Some(0));
        check(Bounds::CIRCLE, 360.0, Some(0));
        check(Bounds::CIRCLE, 360.001, None);
        check(Bounds::ANY, f64::NAN, None);
        check(Bounds::ANY, 1e9 + 1.0, None);
        assert_eq!(Bounds::CIRCLE.accept_thousandths(360_000).map(Milli::as_thousandths), Ok(0));
        assert_eq!(Bounds::PERCENT.accept_thousandths(100_001), Err(OutOfRange));
        assert_eq!(Bounds::SATELLITES.whole_range(), 0..=1_000);
    }
}
