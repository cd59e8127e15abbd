//! Bit packing: numbers of a fixed width one after the other, lowest bit first.

use super::BLOCK;
use crate::codec::bytes::{CodecError, Reader, Writer};

/// The widest number that one load of eight bytes covers at any bit offset.
pub(super) const NARROW_MAX: u32 = 57;
/// Wider numbers are stored as whole words.
pub(super) const WIDE: u32 = 64;

const WORD: usize = 8;
/// Room for a block at [`NARROW_MAX`] and one more word, so that every load can read eight bytes.
const SCRATCH: usize = BLOCK * WORD;

/// The width in which numbers of `bits` bits are stored.
pub(super) const fn usable_width(bits: u32) -> u32 {
    if bits > NARROW_MAX { WIDE } else { bits }
}

/// Bytes that `count` numbers take.
pub(super) const fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// A mask of the low `width` bits.
pub(super) const fn mask(width: u32) -> u64 {
    if width >= WIDE { u64::MAX } else { (1 << width) - 1 }
}

/// Writes the low `width` bits of each number.
pub(super) fn pack(out: &mut Writer, width: u32, numbers: impl Iterator<Item = u64>) {
    let (mut waiting, mut filled) = (0_u128, 0_u32);
    for number in numbers {
        waiting |= u128::from(number & mask(width)) << filled;
        filled += width;
        while filled >= 32 {
            out.raw(&low_word(waiting).to_le_bytes()[..4]);
            waiting >>= 32;
            filled -= 32;
        }
    }
    out.raw(&low_word(waiting).to_le_bytes()[..filled.div_ceil(8) as usize]);
}

#[expect(clippy::cast_possible_truncation, reason = "the low word is what is asked for")]
const fn low_word(bits: u128) -> u64 {
    bits as u64
}

/// Fills `numbers`, at most a block.
pub(super) fn unpack(input: &mut Reader<'_>, width: u32, numbers: &mut [u64]) -> Result<(), CodecError> {
    let packed = input.raw(packed_len(numbers.len(), width))?;
    if width == 0 {
        numbers.fill(0);
    } else if width == WIDE {
        for (number, word) in numbers.iter_mut().zip(packed.as_chunks().0) {
            *number = u64::from_le_bytes(*word);
        }
    } else if width <= NARROW_MAX && numbers.len() <= BLOCK {
        let mut scratch = [0; SCRATCH];
        scratch[..packed.len()].copy_from_slice(packed);
        let mask = mask(width);
        let mut bit = 0;
        for number in numbers {
            let word = scratch[bit / 8..].first_chunk::<WORD>().ok_or(CodecError::Short)?;
            *number = u64::from_le_bytes(*word) >> (bit % 8) & mask;
            bit += width as usize;
        }
    } else {
        return Err(CodecError::Malformed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_every_width_come_back(bits in 0..=64_u32, numbers in prop::collection::vec(any::<u64>(), 0..=BLOCK)) {
            let width = usable_width(bits);
            let mut out = Writer::default();
            pack(&mut out, width, numbers.iter().copied());
            let bytes = out.into_bytes();
            prop_assert_eq!(bytes.len(), packed_len(numbers.len(), width));
            let mut input = Reader::new(&bytes);
            let mut back = vec![0; numbers.len()];
            unpack(&mut input, width, &mut back)?;
            let expect: Vec<_> = numbers.iter().map(|number| number & mask(width)).collect();
            prop_assert_eq!(back, expect);
            prop_assert_eq!(input.end(), Ok(()));
        }
    }
}
