//! The fields of a location in the order they are written, and a choice of them.

use std::collections::BTreeMap;

use perigee_core::location::{Attribute, Location, Milli, StoredLocation};
use perigee_core::time::Timestamp;

use super::text::{push_decimal, push_json_text, push_signed, push_time, push_whole};

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Datum<'l> {
    Time(Timestamp),
    Degrees(i32),
    Thousandths(Milli),
    Count(u32),
    Flag(bool),
    Word(&'static str),
    Flags(&'l [bool]),
    Texts(&'l [String]),
    Attributes(&'l BTreeMap<String, Attribute>),
    Accessories(&'l [BTreeMap<String, String>]),
}

/// A visitor of the fields of a location, in order.
pub(super) trait Visitor {
    /// Visits a field; None if the location does not have it.
    fn field(&mut self, field: Field, datum: Option<Datum<'_>>);
}

/// Which fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection(u64);

macro_rules! fields {
    (|$stored:ident, $readings:ident| $($variant:ident = $name:literal: $datum:expr;)+) => {
        /// A field of a location.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Field {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )+
        }

        impl Field {
            /// Every field, in the order they are written.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The member name in JSON, and the column name in CSV.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The name as a JSON member with a comma before it: `,"name":`.
            pub(super) const fn key(self) -> &'static [u8] {
                match self { $(Self::$variant => concat!(",\"", $name, "\":").as_bytes(),)+ }
            }
        }

        /// Visits the selected fields of a location. Unrolled, so that each field costs only its own check.
        #[inline(always)]
        pub(super) fn visit_fields($stored: &StoredLocation, selection: Selection, visitor: &mut impl Visitor) {
            let $readings = &$stored.location.readings;
            $(
                if selection.has(Field::$variant) {
                    visitor.field(Field::$variant, $datum);
                }
            )+
        }
    };
}

fields! { |stored, readings|
    DateTime = "dateTime": Some(Datum::Time(stored.location.time));
    Latitude = "latitude": Some(Datum::Degrees(stored.location.latitude.as_e7()));
    Longitude = "longitude": Some(Datum::Degrees(stored.location.longitude.as_e7()));
    Altitude = "altitude": readings.altitude.map(Datum::Thousandths);
    Speed = "speed": readings.speed.map(Datum::Thousandths);
    Course = "course": readings.course.map(Datum::Thousandths);
    Accuracy = "accuracy": readings.accuracy.map(Datum::Thousandths);
    Valid = "valid": readings.valid.map(Datum::Flag);
    Satellites = "satellites": readings.satellites.map(Datum::Count);
    Hdop = "hdop": readings.hdop.map(Datum::Thousandths);
    Battery = "battery": readings.battery.map(Datum::Thousandths);
    Fuel = "fuel": readings.fuel.map(Datum::Thousandths);
    Fuel2 = "fuel2": readings.fuel2.map(Datum::Thousandths);
    Temperature = "temperature": readings.temperature.map(Datum::Thousandths);
    Temperature2 = "temperature2": readings.temperature2.map(Datum::Thousandths);
    SensorTime1 = "sensorTime1": readings.sensor_time_s[0].map(Datum::Thousandths);
    SensorTime2 = "sensorTime2": readings.sensor_time_s[1].map(Datum::Thousandths);
    SensorTime3 = "sensorTime3": readings.sensor_time_s[2].map(Datum::Thousandths);
    SensorTime4 = "sensorTime4": readings.sensor_time_s[3].map(Datum::Thousandths);
    InactiveSeconds = "inactiveSeconds": readings.inactive_s.map(Datum::Thousandths);
    Rpm = "rpm": readings.rpm.map(Datum::Thousandths);
    Mileage = "mileage": readings.mileage.map(Datum::Thousandths);
    Ignition = "ignition": readings.ignition.map(Datum::Flag);
    Inputs = "inputs": readings.inputs.as_deref().map(Datum::Flags);
    Outputs = "outputs": readings.outputs.as_deref().map(Datum::Flags);
    Warnings = "warnings": readings.warnings.as_deref().map(Datum::Texts);
    WarningTexts = "warningTexts": readings.warning_texts.as_deref().map(Datum::Texts);
    Alerts = "alerts": readings.alerts.as_deref().map(Datum::Texts);
    AlertTexts = "alertTexts": readings.alert_texts.as_deref().map(Datum::Texts);
    HasCriticalAlert = "hasCriticalAlert": readings.has_critical_alert.map(Datum::Flag);
    Source = "source": readings.source.map(|source| Datum::Word(source.name()));
    Attributes = "attributes":
        (!readings.attributes.is_empty()).then_some(Datum::Attributes(&readings.attributes));
    AccessoriesAttributes = "accessoriesAttributes": readings.accessories.as_deref().map(Datum::Accessories);
    ReceivedAt = "receivedAt": Some(Datum::Time(stored.received_at));
    Late = "late": stored.trust.late.then_some(Datum::Flag(true));
    Suspect = "suspect": stored.trust.suspect.then_some(Datum::Flag(true));
}

impl Selection {
    /// Selects every field.
    pub const ALL: Self = Self(u64::MAX);

    /// Selects only these fields.
    pub fn of(fields: &[Field]) -> Self {
        Self(fields.iter().fold(0, |chosen, field| chosen | 1 << (*field as u64)))
    }

    /// Removes these fields from the selection.
    pub(super) const fn without(self, fields: &[Field]) -> Self {
        let mut chosen = self.0;
        let mut index = 0;
        while index < fields.len() {
            chosen &= !(1 << (fields[index] as u64));
            index += 1;
        }
        Self(chosen)
    }

    /// Whether this field is selected.
    pub(super) const fn has(self, field: Field) -> bool {
        self.0 & (1 << (field as u64)) != 0
    }
}

impl Datum<'_> {
    /// Writes the value as JSON.
    #[expect(clippy::inline_always, reason = "what it is, is known where this is compiled")]
    #[inline(always)]
    pub(super) fn push_json(self, out: &mut Vec<u8>) {
        match self {
            Self::Time(instant) => {
                out.push(b'"');
                push_time(out, instant);
                out.push(b'"');
            }
            Self::Word(word) => push_json_text(out, word),
            Self::Flags(flags) => push_list(out, flags, |out, flag| push_flag(out, *flag)),
            Self::Texts(texts) => push_list(out, texts, |out, text| push_json_text(out, text)),
            Self::Attributes(attributes) => push_map(out, attributes, push_attribute),
            Self::Accessories(accessories) => push_list(out, accessories, |out, accessory| {
                push_map(out, accessory, |out, text| push_json_text(out, text));
            }),
            Self::Degrees(_) | Self::Thousandths(_) | Self::Count(_) | Self::Flag(_) => {
                self.push_plain(out);
            }
        }
    }

    /// Writes the value as text that needs no escaping in any format. Gives false, and writes nothing, for lists and
    /// maps.
    #[expect(clippy::inline_always, reason = "what it is, is known where this is compiled")]
    #[inline(always)]
    pub(super) fn push_plain(self, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Time(instant) => push_time(out, instant),
            Self::Degrees(units) => push_decimal::<7>(out, i64::from(units)),
            Self::Thousandths(number) => push_decimal::<3>(out, number.as_thousandths()),
            Self::Count(count) => push_whole(out, u64::from(count)),
            Self::Flag(flag) => push_flag(out, flag),
            Self::Word(word) => out.extend_from_slice(word.as_bytes()),
            Self::Flags(_) | Self::Texts(_) | Self::Attributes(_) | Self::Accessories(_) => return false,
        }
        true
    }
}

/// Writes longitude, latitude and, if known, altitude, the order of GeoJSON and KML.
pub(super) fn push_coordinates(out: &mut Vec<u8>, location: &Location) {
    Datum::Degrees(location.longitude.as_e7()).push_plain(out);
    out.push(b',');
    Datum::Degrees(location.latitude.as_e7()).push_plain(out);
    if let Some(altitude) = location.readings.altitude {
        out.push(b',');
        Datum::Thousandths(altitude).push_plain(out);
    }
}

fn push_flag(out: &mut Vec<u8>, flag: bool) {
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

fn push_attribute(out: &mut Vec<u8>, attribute: &Attribute) {
    match attribute {
        Attribute::Text(text) => push_json_text(out, text),
        Attribute::Integer(whole) => push_signed(out, *whole),
        // The only float: attribute values are arbitrary numbers, and rare.
        Attribute::Real(real) => out.extend_from_slice(serde_json::Value::from(*real).to_string().as_bytes()),
        Attribute::Flag(flag) => push_flag(out, *flag),
    }
}

fn push_list<T>(out: &mut Vec<u8>, items: &[T], push: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}

fn push_map<T>(out: &mut Vec<u8>, members: &BTreeMap<String, T>, push: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'{');
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_json_text(out, name);
        out.push(b':');
        push(out, value);
    }
    out.push(b'}');
}
