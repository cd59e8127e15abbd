//! How each kind of reading is stored: as a number, or as bytes.

use std::collections::BTreeMap;

use perigee_core::locations::location::{Attribute, FixSource, Milli, kind};

use super::bytes::{CodecError, Reader, Writer};

/// A reading as it is stored; its default stands for one that was not sent.
pub(super) trait Packed: Default {
    /// Whether the value is a number, which chunks store in a column of numbers.
    const IS_NUMBER: bool = false;
    /// Whether packed readings store the value in their bitmap.
    const IS_FLAG: bool = false;

    fn is_present(&self) -> bool;

    /// Writes the value, if there is one.
    fn write(&self, out: &mut Writer);

    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError>;

    /// The value as a number; `None` if there is no value, or if the kind is not a number.
    fn to_number(&self) -> Option<i64> {
        None
    }

    /// The value that a number stands for.
    fn from_number(_number: i64) -> Result<Self, CodecError> {
        Err(CodecError::Malformed)
    }
}

impl Packed for kind::Number {
    const IS_NUMBER: bool = true;

    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn write(&self, out: &mut Writer) {
        if let Some(number) = self {
            out.signed(number.as_thousandths());
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError> {
        Self::from_number(input.signed()?)
    }

    fn to_number(&self) -> Option<i64> {
        self.map(Milli::as_thousandths)
    }

    fn from_number(number: i64) -> Result<Self, CodecError> {
        Ok(Some(Milli::from_thousandths(number)))
    }
}

impl Packed for kind::Count {
    const IS_NUMBER: bool = true;

    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn write(&self, out: &mut Writer) {
        if let Some(count) = self {
            out.unsigned(u64::from(*count));
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError> {
        u32::try_from(input.unsigned()?).map(Some).map_err(|_too_large| CodecError::Malformed)
    }

    fn to_number(&self) -> Option<i64> {
        self.map(i64::from)
    }

    fn from_number(number: i64) -> Result<Self, CodecError> {
        u32::try_from(number).map(Some).map_err(|_outside| CodecError::Malformed)
    }
}

impl Packed for kind::Flag {
    const IS_NUMBER: bool = true;
    const IS_FLAG: bool = true;

    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn write(&self, _out: &mut Writer) {}

    fn read(_input: &mut Reader<'_>) -> Result<Self, CodecError> {
        Err(CodecError::Malformed)
    }

    fn to_number(&self) -> Option<i64> {
        self.map(i64::from)
    }

    fn from_number(number: i64) -> Result<Self, CodecError> {
        flag(number).map(Some)
    }
}

impl Packed for kind::Source {
    const IS_NUMBER: bool = true;

    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn write(&self, out: &mut Writer) {
        if let Some(source) = self {
            out.byte(source_code(*source));
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError> {
        Self::from_number(i64::from(input.byte()?))
    }

    fn to_number(&self) -> Option<i64> {
        self.map(|source| i64::from(source_code(source)))
    }

    fn from_number(number: i64) -> Result<Self, CodecError> {
        let source = FixSource::ALL.into_iter().find(|source| i64::from(source_code(*source)) == number);
        source.map(Some).ok_or(CodecError::Malformed)
    }
}

impl Packed for kind::Flags {
    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn write(&self, out: &mut Writer) {
        if let Some(flags) = self {
            out.bits(flags);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError> {
        input.bits().map(Some)
    }
}

impl Packed for kind::Texts {
    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn write(&self, out: &mut Writer) {
        if let Some(texts) = self {
            out.texts(texts);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError> {
        input.texts().map(Some)
    }
}

impl Packed for kind::Accessories {
    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn write(&self, out: &mut Writer) {
        let Some(accessories) = self else { return };
        out.length(accessories.len());
        for accessory in accessories {
            out.length(accessory.len());
            for (key, value) in accessory {
                out.text(key);
                out.text(value);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError> {
        (0..input.length()?).map(|_| input.map(Reader::text)).collect::<Result<_, _>>().map(Some)
    }
}

/// The first byte of an attribute's value. These never change.
mod attribute_kind {
    pub(super) const TEXT: u8 = 0;
    pub(super) const INTEGER: u8 = 1;
    pub(super) const REAL: u8 = 2;
    pub(super) const FALSE: u8 = 3;
    pub(super) const TRUE: u8 = 4;
}

impl Packed for kind::Attributes {
    fn is_present(&self) -> bool {
        self.values().any(is_storable)
    }

    fn write(&self, out: &mut Writer) {
        out.length(self.values().filter(|value| is_storable(value)).count());
        for (key, value) in self.iter().filter(|(_, value)| is_storable(value)) {
            out.text(key);
            write_attribute(out, value);
        }
    }

    /// An empty map is never written, so reading one is an error.
    fn read(input: &mut Reader<'_>) -> Result<Self, CodecError> {
        let attributes: BTreeMap<_, _> = input.map(read_attribute)?;
        if attributes.is_empty() { Err(CodecError::Malformed) } else { Ok(attributes) }
    }
}

/// Infinity and NaN have no meaning and are left out.
fn is_storable(value: &Attribute) -> bool {
    !matches!(value, Attribute::Real(number) if !number.is_finite())
}

fn write_attribute(out: &mut Writer, value: &Attribute) {
    match value {
        Attribute::Text(text) => {
            out.byte(attribute_kind::TEXT);
            out.text(text);
        }
        Attribute::Integer(number) => {
            out.byte(attribute_kind::INTEGER);
            out.signed(*number);
        }
        Attribute::Real(number) => {
            out.byte(attribute_kind::REAL);
            // Adding zero turns -0.0 into 0.0: equal values must give equal bytes.
            out.raw(&(number + 0.0).to_le_bytes());
        }
        Attribute::Flag(false) => out.byte(attribute_kind::FALSE),
        Attribute::Flag(true) => out.byte(attribute_kind::TRUE),
    }
}

fn read_attribute(input: &mut Reader<'_>) -> Result<Attribute, CodecError> {
    match input.byte()? {
        attribute_kind::TEXT => input.text().map(Attribute::Text),
        attribute_kind::INTEGER => input.signed().map(Attribute::Integer),
        attribute_kind::REAL => {
            let bytes = input.raw(8)?.try_into().map_err(|_length| CodecError::Short)?;
            let number = f64::from_le_bytes(bytes);
            let canonical = number.is_finite() && number.to_bits() != (-0.0_f64).to_bits();
            canonical.then_some(Attribute::Real(number)).ok_or(CodecError::Malformed)
        }
        attribute_kind::FALSE => Ok(Attribute::Flag(false)),
        attribute_kind::TRUE => Ok(Attribute::Flag(true)),
        _ => Err(CodecError::Malformed),
    }
}

/// The number that stands for a source. It never changes its meaning.
const fn source_code(source: FixSource) -> u8 {
    match source {
        FixSource::Gnss => 0,
        FixSource::Network => 1,
        FixSource::Doppler => 2,
        FixSource::Manual => 3,
    }
}

/// The flag that a number stands for.
pub(super) const fn flag(number: i64) -> Result<bool, CodecError> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(CodecError::Malformed),
    }
}
