//! Frame-of-reference coding with patches: a block is a lower bound, a bit width that fits nearly all numbers, and the
//! high bits of the few that do not fit.

use super::BLOCK;
use super::bits::{WIDE, pack, packed_len, unpack, usable_width};
use crate::codec::bytes::{CodecError, Reader, Writer};

/// Bits for the count of numbers outside the frame, in the byte that it shares with the block's tag.
const OUTLIERS_BITS: u32 = 5;
/// Counts of outliers that are tried. Trying every count would hardly fit better.
const OUTLIERS: [usize; 10] = [0, 1, 2, 3, 5, 8, 12, 17, 24, 31];

/// The range of most numbers of a block.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    reference: i64,
    width: u32,
    /// Bytes that the block takes in this frame.
    cost: usize,
}

impl Frame {
    /// The frame in which these numbers, in ascending order, take the fewest bytes.
    pub(super) fn around(sorted: &[i64]) -> Self {
        let mut best = Self { reference: 0, width: WIDE, cost: usize::MAX };
        for outliers in OUTLIERS.into_iter().take_while(|outliers| *outliers < sorted.len()) {
            let Some((start, range)) = narrowest(sorted, sorted.len() - outliers) else { break };
            let width = usable_width(u64::BITS - range.leading_zeros());
            let least = packed_len(sorted.len(), width) + 2 * outliers;
            if 2 * outliers >= best.cost {
                break;
            }
            if width < best.width && least < best.cost || outliers == 0 {
                let reference = sorted[start];
                let end = start + sorted.len() - outliers;
                let outside = sorted[..start].iter().chain(&sorted[end..]);
                let cost =
                    least + outside.map(|number| high_len(high(*number, reference, width))).sum::<usize>();
                if cost < best.cost {
                    best = Self { reference, width, cost };
                }
            }
            if width == 0 {
                break;
            }
        }
        best
    }

    /// Writes a block and a tag of up to three bits.
    pub(super) fn write(self, out: &mut Writer, tag: u8, numbers: &[i64]) {
        let outside = |number: &i64| high(*number, self.reference, self.width) != 0;
        let outliers =
            u8::try_from(numbers.iter().filter(|number| outside(number)).count()).unwrap_or(u8::MAX);
        out.byte(u8::try_from(self.width).unwrap_or(u8::MAX));
        out.byte(tag << OUTLIERS_BITS | outliers);
        out.signed(self.reference);
        let above = |number: &i64| number.wrapping_sub(self.reference).cast_unsigned();
        pack(out, self.width, numbers.iter().map(above));
        for (index, number) in (0..).zip(numbers).filter(|(_, number)| outside(number)) {
            out.byte(index);
            out.signed(high(*number, self.reference, self.width));
        }
    }
}

/// Fills `numbers` with a block, and returns its tag.
pub(super) fn read_block(input: &mut Reader<'_>, numbers: &mut [i64]) -> Result<u8, CodecError> {
    let width = u32::from(input.byte()?);
    let tag = input.byte()?;
    let reference = input.signed()?;
    let mut above = [0; BLOCK];
    let above = above.get_mut(..numbers.len()).ok_or(CodecError::Malformed)?;
    unpack(input, width, above)?;
    for (number, above) in numbers.iter_mut().zip(above) {
        *number = reference.wrapping_add(above.cast_signed());
    }
    for _ in 0..tag & ((1 << OUTLIERS_BITS) - 1) {
        let number = numbers.get_mut(usize::from(input.byte()?)).ok_or(CodecError::Malformed)?;
        let lifted = input.signed()?.checked_shl(width).ok_or(CodecError::Malformed)?;
        *number = number.wrapping_add(lifted);
    }
    Ok(tag >> OUTLIERS_BITS)
}

/// The narrowest run of `count` numbers: its start and its range.
fn narrowest(sorted: &[i64], count: usize) -> Option<(usize, u64)> {
    let range = |run: &[i64]| Some(run.last()?.wrapping_sub(*run.first()?).cast_unsigned());
    sorted
        .windows(count)
        .enumerate()
        .filter_map(|(start, run)| Some((start, range(run)?)))
        .min_by_key(|(_, range)| *range)
}

/// The bits of a number's distance from the reference above the width; 0 within the frame.
const fn high(number: i64, reference: i64, width: u32) -> i64 {
    let distance = number.wrapping_sub(reference);
    if width >= WIDE { 0 } else { distance >> width }
}

/// Bytes beyond the first that [`Writer::signed`] takes.
const fn high_len(high: i64) -> usize {
    let folded = (high << 1) ^ (high >> 63);
    ((u64::BITS - folded.leading_zeros()).saturating_sub(1) / 7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(numbers: &[i64]) -> Vec<u8> {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        let mut out = Writer::default();
        Frame::around(&sorted).write(&mut out, 5, numbers);
        let bytes = out.into_bytes();
        let mut back = vec![0; numbers.len()];
        let mut input = Reader::new(&bytes);
        assert_eq!(read_block(&mut input, &mut back), Ok(5));
        assert_eq!(back, numbers);
        assert_eq!(input.end(), Ok(()));
        bytes
    }

    #[test]
    fn a_constant_block_is_a_few_bytes() {
        assert_eq!(packed(&[7; BLOCK]).len(), 3);
        assert_eq!(packed(&[7]).len(), 3);
    }

    #[test]
    fn outliers_on_both_sides_do_not_widen_the_rest() {
        let mut numbers: Vec<i64> = (0..128).map(|index| 1_000 + index % 8).collect();
        let without = packed(&numbers).len();
        numbers[3] = i64::MAX;
        numbers[90] = -5;
        assert!(packed(&numbers).len() <= without + 2 + 12);
        numbers[4] = i64::MIN;
        packed(&numbers);
    }

    #[test]
    fn extremes_come_back() {
        packed(&[i64::MIN, i64::MAX, 0, -1, 1]);
        packed(&[i64::MIN, i64::MIN + (1 << 60)]);
        packed(
            &(0..128)
                .map(|index: i64| index.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()))
                .collect::<Vec<_>>(),
        );
    }
}
