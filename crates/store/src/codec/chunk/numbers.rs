//! A column of numbers: divided by their greatest common divisor, each block stored as the errors of a prediction.

use super::BLOCK;
use super::frame::{Frame, read_block};
use crate::codec::bytes::{CodecError, Reader, Writer};

/// How a number is predicted from the two before. A discriminant never changes its meaning.
#[derive(Clone, Copy)]
enum Prediction {
    /// Zero: for noise, and for values that are mostly zero.
    None = 0,
    /// The last number.
    Same = 1,
    /// The last number plus the last step.
    Trend = 2,
    /// The last number plus half the last step.
    Half = 3,
}

impl Prediction {
    const ALL: [Self; 4] = [Self::None, Self::Same, Self::Trend, Self::Half];

    const fn predict(self, last: i64, before: i64) -> i64 {
        match self {
            Self::None => 0,
            Self::Same => last,
            Self::Trend => last.wrapping_add(last.wrapping_sub(before)),
            Self::Half => last.wrapping_add(last.wrapping_sub(before) >> 1),
        }
    }

    /// Computes the errors of the prediction; `[before, last]` are the two numbers before the first of `numbers`.
    fn errors(self, [before, last]: [i64; 2], numbers: &[i64], errors: &mut [i64]) {
        let (mut last, mut before) = (last, before);
        for (number, error) in numbers.iter().zip(errors) {
            *error = number.wrapping_sub(self.predict(last, before));
            (before, last) = (last, *number);
        }
    }

    /// Replaces the errors of the prediction by the numbers.
    fn restore(self, [before, last]: [i64; 2], errors: &mut [i64]) -> [i64; 2] {
        let (mut last, mut before) = (last, before);
        for error in errors {
            *error = error.wrapping_add(self.predict(last, before));
            (before, last) = (last, *error);
        }
        [before, last]
    }
}

/// Writes the numbers. Their count is not written.
pub(super) fn write_numbers(out: &mut Writer, numbers: &[i64]) {
    let Some(first) = numbers.first().copied() else { return };
    let unit = unit_of(first, numbers);
    out.signed(first);
    out.unsigned(unit.cast_unsigned());
    let distances = numbers.iter().map(|number| number.wrapping_sub(first));
    // Division is the slowest operation here, and most units are one.
    let steps: Vec<i64> =
        if unit == 1 { distances.collect() } else { distances.map(|distance| distance / unit).collect() };
    let mut past = [0; 2];
    for block in steps.chunks(BLOCK) {
        write_block(out, past, block);
        past = match *block {
            [.., before, last] => [before, last],
            [last] => [past[1], last],
            [] => past,
        };
    }
}

fn write_block(out: &mut Writer, past: [i64; 2], block: &[i64]) {
    let (mut errors, mut sorted) = ([0; BLOCK], [0; BLOCK]);
    let errors = &mut errors[..block.len()];
    let (mut best, mut least) = (Prediction::Same, u32::MAX);
    for prediction in [Prediction::Same, Prediction::Trend, Prediction::Half, Prediction::None] {
        prediction.errors(past, block, errors);
        let bits = estimate_bits(errors);
        if bits < least {
            (best, least) = (prediction, bits);
        }
        if bits == 0 {
            break;
        }
    }
    best.errors(past, block, errors);
    let sorted = &mut sorted[..block.len()];
    sorted.copy_from_slice(errors);
    sorted.sort_unstable();
    Frame::around(sorted).write(out, best as u8, errors);
}

/// Estimates the bits that numbers take in a frame, from their distances to the median of three of them. Fitting a
/// frame for each prediction would hardly choose better and take several times as long.
fn estimate_bits(numbers: &[i64]) -> u32 {
    let mut three = [0, numbers.len() / 2, numbers.len().saturating_sub(1)].map(|index| numbers.get(index));
    three.sort_unstable();
    let middle = three[1].copied().unwrap_or_default();
    numbers.iter().map(|number| u64::BITS - number.abs_diff(middle).leading_zeros()).sum()
}

/// The greatest common divisor of the distances from the first number.
fn unit_of(first: i64, numbers: &[i64]) -> i64 {
    let mut unit = 0_i64;
    for number in numbers {
        let Some(distance) = number.checked_sub(first).and_then(i64::checked_abs) else { return 1 };
        if unit == 0 || distance % unit != 0 {
            unit = common_divisor(unit, distance);
        }
        if unit == 1 {
            break;
        }
    }
    unit.max(1)
}

const fn common_divisor(mut left: i64, mut right: i64) -> i64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Reads a column back, block by block.
pub(super) struct Numbers<'a> {
    input: Reader<'a>,
    first: i64,
    unit: i64,
    past: [i64; 2],
    block: [i64; BLOCK],
    /// Index of the next number in the block.
    next: usize,
    /// How many numbers the block has.
    filled: usize,
    /// How many numbers the following blocks have.
    left: usize,
}

impl<'a> Numbers<'a> {
    /// Opens a column of `count` numbers.
    pub(super) fn open(mut input: Reader<'a>, count: usize) -> Result<Self, CodecError> {
        let (first, unit) =
            if count == 0 { (0, 1) } else { (input.signed()?, input.unsigned()?.cast_signed()) };
        Ok(Self { input, first, unit, past: [0; 2], block: [0; BLOCK], next: 0, filled: 0, left: count })
    }

    /// The next number; an error after the last.
    #[inline]
    pub(super) fn next(&mut self) -> Result<i64, CodecError> {
        if self.next == self.filled {
            self.fill()?;
        }
        let number = self.block[self.next % BLOCK];
        self.next += 1;
        Ok(number)
    }

    /// An error unless all numbers and bytes were read.
    pub(super) fn end(&self) -> Result<(), CodecError> {
        if self.left > 0 || self.next < self.filled { Err(CodecError::Long) } else { self.input.end() }
    }

    #[cold]
    fn fill(&mut self) -> Result<(), CodecError> {
        let count = self.left.min(BLOCK);
        if count == 0 {
            return Err(CodecError::Short);
        }
        let block = &mut self.block[..count];
        let tag = read_block(&mut self.input, block)?;
        let prediction = *Prediction::ALL.get(usize::from(tag)).ok_or(CodecError::Malformed)?;
        self.past = prediction.restore(self.past, block);
        for number in block {
            *number = self.first.wrapping_add(number.wrapping_mul(self.unit));
        }
        self.left -= count;
        (self.next, self.filled) = (0, count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packed(numbers: &[i64]) -> Vec<u8> {
        let mut out = Writer::default();
        write_numbers(&mut out, numbers);
        let bytes = out.into_bytes();
        let mut column = Numbers::open(Reader::new(&bytes), numbers.len()).unwrap();
        let back: Vec<i64> = numbers.iter().map(|_| column.next().unwrap()).collect();
        assert_eq!(back, numbers);
        assert_eq!(column.end(), Ok(()));
        assert_eq!(column.next(), Err(CodecError::Short));
        bytes
    }

    #[test]
    fn predictable_numbers_cost_almost_no_bytes() {
        let per_block = |make: fn(i64) -> i64| packed(&(0..1_280).map(make).collect::<Vec<_>>()).len() / 10;
        assert!(per_block(|_| 42) <= 4);
        assert!(per_block(|step| 1_700_000_000_000 + step * 10_000) <= 5);
        assert!(per_block(|step| step * step * 3) <= 6);
        assert!(per_block(|step| 50_000 + (step % 2) * 1_000) <= 20);
    }

    #[test]
    fn the_unit_is_what_divides_all_distances() {
        let check =
            |numbers: &[i64], unit: i64| assert_eq!(unit_of(numbers[0], numbers), unit, "{numbers:?}");
        check(&[5], 1);
        check(&[5, 5], 1);
        check(&[1_007, 7, 4_007], 1_000);
        check(&[10, 15, 16], 1);
        check(&[i64::MIN, i64::MAX], 1);
        check(&[i64::MIN, 0], 1);
    }

    proptest! {
        #[test]
        fn any_numbers_come_back(numbers in prop::collection::vec(any::<i64>(), 0..400)) {
            packed(&numbers);
        }

        #[test]
        fn small_numbers_with_leaps_come_back(
            numbers in prop::collection::vec(prop_oneof![9 => -50..50_i64, 1 => any::<i64>()], 0..400),
        ) {
            packed(&numbers);
        }
    }
}
