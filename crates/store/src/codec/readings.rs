//! Readings as bytes: a version, a bitmap of the fields that are present, then these fields in the order of their bits.

use bytes::Bytes;
use perigee_core::locations::location::{Field, Readings, kind};
use perigee_core::reading_fields;

use super::bytes::{CodecError, Reader, Writer};
use super::packed::Packed;

const VERSION: u8 = 1;
/// Fields that may raise alerts: names of alerts, and the flag for a critical one when it is set.
const ALERTS: u64 = bit_of(Field::Alerts) | bit_of(Field::HasCriticalAlert) << 1;

/// Evaluates an expression for each bit of the bitmap, lowest first. The bit is a constant in it, so that code which
/// depends on it is resolved at compile time and no loop or table lookup remains.
macro_rules! for_each_bit {
    (|$bit:ident| $body:expr) => {
        for_each_bit! { |$bit| $body;
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
        }
    };
    (|$bit:ident| $body:expr; $($number:literal)+) => {
        $({
            const $bit: u32 = $number;
            $body;
        })+
    };
}

// Called once by `reading_fields!`, which is the table of all reading fields in `core`.
macro_rules! define {
    ($(
        $member:ident: $kind:ident $field:ident $name:literal $bounds:ident bit $bit:literal column $column:literal
        $example:literal $what:literal $($unit:literal)?;
    )+) => {
        /// Bits with a meaning.
        const KNOWN: u64 = 0 $(| if <kind::$kind as Packed>::IS_FLAG { 0b11 << $bit } else { 1 << $bit })+;
        /// Flags: the next higher bit is their value.
        const FLAGS: u64 = 0 $(| if <kind::$kind as Packed>::IS_FLAG { 1 << $bit } else { 0 })+;
        /// The bits of lists and maps, whose values are not numbers.
        const NOT_NUMBERS: u64 = 0 $(| if <kind::$kind as Packed>::IS_NUMBER { 0 } else { 1 << $bit })+;

        const fn bit_of(field: Field) -> u64 {
            match field {
                $(Field::$field => 1 << $bit,)+
                _ => 0,
            }
        }

        #[inline(always)]
        fn pack_bit<const BIT: u32>(readings: &Readings, body: &mut Packer<'_>) {
            match BIT {
                $($bit => body.add(1 << BIT, &readings.$member),)+
                _ => {}
            }
        }

        #[inline(always)]
        fn unpack_bit<const BIT: u32>(readings: &mut Readings, body: &mut Unpacker<'_>) -> Result<(), CodecError> {
            match BIT {
                $($bit => body.take(1 << BIT, |value| readings.$member = value),)+
                _ => Ok(()),
            }
        }

        #[inline(always)]
        fn visit_bit<const BIT: u32>(body: &mut Unpacker<'_>, visit: &mut impl FnMut(u8, i64)) -> Result<(), CodecError> {
            match BIT {
                $($bit if <kind::$kind as Packed>::IS_NUMBER => body.take(1 << BIT, |value: kind::$kind| {
                    if let Some(number) = value.to_number() {
                        visit($column, number);
                    }
                }),)+
                _ => Ok(()),
            }
        }

        /// Calls `visit` with the column and the value of every number among readings.
        pub(super) fn visit_numbers(readings: &Readings, mut visit: impl FnMut(u8, i64)) {
            $(
                if <kind::$kind as Packed>::IS_NUMBER && let Some(number) = readings.$member.to_number() {
                    visit($column, number);
                }
            )+
        }
    };
}

reading_fields!(define);

/// Packs readings. Equal readings give equal bytes. Attributes that are infinite or NaN are left out.
pub fn pack_readings(readings: &Readings) -> Vec<u8> {
    let mut packed = Writer::with_capacity(48);
    pack_into(readings, &mut Writer::with_capacity(48), &mut packed);
    packed.into_bytes()
}

/// Packs many readings into one allocation.
pub(crate) fn pack_all_readings<'r>(all: impl ExactSizeIterator<Item = &'r Readings>) -> Vec<Bytes> {
    let mut ends = Vec::with_capacity(all.len());
    let (mut packed, mut fields) = (Writer::with_capacity(24 * all.len()), Writer::with_capacity(64));
    for readings in all {
        pack_into(readings, &mut fields, &mut packed);
        ends.push(packed.len());
    }
    let packed = Bytes::from(packed.into_bytes());
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(&ends).map(|(begin, end)| packed.slice(begin..*end)).collect()
}

/// Appends packed readings to `packed`. `fields` is a buffer that each call overwrites.
fn pack_into(readings: &Readings, fields: &mut Writer, packed: &mut Writer) {
    fields.clear();
    let mut body = Packer { map: 0, fields };
    for_each_bit!(|BIT| pack_bit::<BIT>(readings, &mut body));
    packed.byte(VERSION);
    packed.unsigned(body.map);
    packed.raw(body.fields.as_bytes());
}

/// Whether packed readings may raise alerts; only the bitmap is read.
pub(crate) fn may_carry_alerts(bytes: &[u8]) -> Result<bool, CodecError> {
    Ok(Unpacker::open(bytes)?.map & ALERTS != 0)
}

/// Does the same as [`visit_numbers`] for packed readings, if they are all numbers; otherwise returns false and visits
/// none.
pub(super) fn visit_packed_numbers(bytes: &[u8], mut visit: impl FnMut(u8, i64)) -> Result<bool, CodecError> {
    let mut body = Unpacker::open(bytes)?;
    if body.map & NOT_NUMBERS != 0 {
        return Ok(false);
    }
    for_each_bit!(|BIT| visit_bit::<BIT>(&mut body, &mut visit)?);
    body.fields.end().map(|()| true)
}

/// Unpacks what [`pack_readings`] made.
pub fn unpack_readings(bytes: &[u8]) -> Result<Readings, CodecError> {
    let mut body = Unpacker::open(bytes)?;
    let mut readings = Readings::default();
    for_each_bit!(|BIT| unpack_bit::<BIT>(&mut readings, &mut body)?);
    body.fields.end().map(|()| readings)
}

struct Packer<'w> {
    map: u64,
    fields: &'w mut Writer,
}

impl Packer<'_> {
    #[inline]
    fn add<T: Packed>(&mut self, bit: u64, value: &T) {
        if value.is_present() {
            self.map |= bit;
            if T::IS_FLAG && value.to_number() == Some(1) {
                self.map |= bit << 1;
            }
            value.write(self.fields);
        }
    }
}

struct Unpacker<'a> {
    map: u64,
    fields: Reader<'a>,
}

impl<'a> Unpacker<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(bytes);
        let version = fields.byte()?;
        if version != VERSION {
            return Err(CodecError::Version(version));
        }
        let map = fields.unsigned()?;
        let has_value_without_flag = (map >> 1) & FLAGS & !map != 0;
        if map & !KNOWN != 0 || has_value_without_flag {
            return Err(CodecError::Malformed);
        }
        Ok(Self { map, fields })
    }

    /// Reads the field with this bit, if it is present.
    #[inline]
    fn take<T: Packed>(&mut self, bit: u64, use_value: impl FnOnce(T)) -> Result<(), CodecError> {
        if self.map & bit != 0 {
            use_value(if T::IS_FLAG {
                T::from_number(i64::from(self.map & (bit << 1) != 0))?
            } else {
                T::read(&mut self.fields)?
            });
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests;
