//! Attributes as columns: one for each key and kind of value.

use std::borrow::Cow;
use std::collections::BTreeMap;

use perigee_core::locations::location::{Attribute, Readings};

use super::field::id;
use super::header::Column;
use super::numbers::write_numbers;
use super::pack::Sparse;
use super::texts::write_texts;
use crate::codec::bytes::{CodecError, Writer};
use crate::codec::packed::flag;

/// Marks a column of reals that are not short decimal fractions: their bits are stored.
const BITS: u8 = 255;
/// The most decimals that are tried. An `f64` holds 10 to this power, and whole numbers up to [`WHOLE_MAX`], exactly.
const DECIMALS_MAX: u8 = 9;
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The columns of all attributes, by kind and key.
pub(super) fn attribute_columns(rich: &[(usize, Cow<'_, Readings>)], count: usize) -> Vec<Column<Vec<u8>>> {
    let mut columns: BTreeMap<(u8, &str), Values> = BTreeMap::new();
    for (index, readings) in rich {
        let index = *index;
        for (key, attribute) in &readings.attributes {
            let column = (column_of(attribute), key.as_str());
            match attribute {
                Attribute::Text(text) => {
                    columns.entry(column).or_insert_with(Values::texts).add_text(index, text);
                }
                Attribute::Real(number) if !number.is_finite() => {}
                Attribute::Real(number) => {
                    // Adding zero turns -0.0 into 0.0: equal values must give equal bytes.
                    let bits = (number + 0.0).to_bits().cast_signed();
                    columns.entry(column).or_insert_with(Values::numbers).add_number(index, bits);
                }
                Attribute::Integer(number) => {
                    columns.entry(column).or_insert_with(Values::numbers).add_number(index, *number);
                }
                Attribute::Flag(is) => {
                    columns.entry(column).or_insert_with(Values::numbers).add_number(index, i64::from(*is));
                }
            }
        }
    }
    columns
        .into_iter()
        .filter_map(|((id, key), values)| Some(Column { id, body: values.pack(key, id, count)? }))
        .collect()
}

/// The id of the column that stores an attribute.
pub(super) const fn column_of(attribute: &Attribute) -> u8 {
    match attribute {
        Attribute::Text(_) => id::ATTRIBUTE_TEXT,
        Attribute::Integer(_) => id::ATTRIBUTE_INTEGER,
        Attribute::Real(_) => id::ATTRIBUTE_REAL,
        Attribute::Flag(_) => id::ATTRIBUTE_FLAG,
    }
}

enum Values {
    Numbers(Sparse<i64>),
    Texts(Sparse<Vec<u8>>),
}

impl Values {
    fn numbers() -> Self {
        Self::Numbers(Sparse::default())
    }

    fn texts() -> Self {
        Self::Texts(Sparse::default())
    }

    fn add_number(&mut self, index: usize, number: i64) {
        if let Self::Numbers(numbers) = self {
            numbers.add(index, number);
        }
    }

    fn add_text(&mut self, index: usize, text: &str) {
        if let Self::Texts(texts) = self {
            texts.add(index, text.as_bytes().to_vec());
        }
    }

    fn pack(self, key: &str, id: u8, count: usize) -> Option<Vec<u8>> {
        let mut out = Writer::default();
        out.text(key);
        match self {
            Self::Texts(texts) => texts.pack(out, count, write_texts),
            Self::Numbers(mut numbers) => {
                if id == id::ATTRIBUTE_REAL {
                    out.byte(scale(numbers.values_mut()));
                }
                numbers.pack(out, count, write_numbers)
            }
        }
    }
}

/// Scales reals, given as their bits, to whole numbers with the fewest decimals that represent all of them exactly.
/// Returns the count of decimals, or [`BITS`] when there is none and the bits are left as they are.
fn scale(reals: &mut [i64]) -> u8 {
    for decimals in 0..=DECIMALS_MAX {
        let whole = |bits: &i64| {
            let number = f64::from_bits(bits.cast_unsigned());
            let whole = (number * power(decimals)).round();
            let exact = whole.abs() <= WHOLE_MAX && (whole / power(decimals)).to_bits() == number.to_bits();
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a whole number within what a float holds exactly"
            )]
            exact.then_some(whole as i64)
        };
        if let Some(scaled) = reals.iter().map(whole).collect::<Option<Vec<_>>>() {
            reals.copy_from_slice(&scaled);
            return decimals;
        }
    }
    BITS
}

fn power(decimals: u8) -> f64 {
    10_f64.powi(i32::from(decimals))
}

/// How the numbers of a column are turned into attributes.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Integer,
    Flag,
    /// The count of decimals, or [`BITS`].
    Real(u8),
}

impl Kind {
    /// The attribute that a number stands for.
    pub(super) fn attribute(self, number: i64) -> Result<Attribute, CodecError> {
        match self {
            Self::Integer => Ok(Attribute::Integer(number)),
            Self::Flag => flag(number).map(Attribute::Flag),
            Self::Real(BITS) => real(f64::from_bits(number.cast_unsigned())),
            Self::Real(decimals) if decimals <= DECIMALS_MAX =>
            {
                #[expect(clippy::cast_precision_loss, reason = "at most 2^53 in what was written")]
                real(number as f64 / power(decimals))
            }
            Self::Real(_) => Err(CodecError::Malformed),
        }
    }
}

fn real(number: f64) -> Result<Attribute, CodecError> {
    if number.is_finite() { Ok(Attribute::Real(number)) } else { Err(CodecError::Malformed) }
}
