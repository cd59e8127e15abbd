//! Size-tiered merging of small chunks.
//!
//! With many devices, memory fills before chunks do, and a chunk that is packed early must be repacked to grow. Small
//! chunks are merged when together they are large, or when there are many of about one size. A location is thus packed
//! once if it arrived among a thousand, twice if among a hundred, and four times if it arrived alone.

use super::chunk::FULL;

/// Locations from which a chunk is not merged any more.
const LARGE: usize = FULL / 2;
/// Small chunks of one tier that are merged into one; also the ratio of sizes between tiers.
const FANOUT: usize = 8;
/// Chunks examined: more than there are small ones of every tier, unless late locations split some.
pub(super) const EXAMINED_MAX: usize = 32;

/// How many of the newest chunks, given by their sizes from the newest on, a new one of this size absorbs: all small
/// ones if together they are large, otherwise those of a tier as soon as it is full.
pub(super) fn absorbed(sizes: &[usize], new: usize) -> usize {
    let small = sizes.iter().take_while(|size| **size < LARGE).count();
    let small = &sizes[..small];
    if new + small.iter().sum::<usize>() >= LARGE || small.len() == EXAMINED_MAX {
        return small.len();
    }
    let tier = |size: usize| size.max(1).ilog2() / FANOUT.ilog2();
    let (mut taken, mut together) = (0, new);
    loop {
        let alike = small[taken..].iter().take_while(|size| tier(**size) <= tier(together)).count();
        if alike + 1 < FANOUT {
            return taken;
        }
        together += small[taken..taken + alike].iter().sum::<usize>();
        taken += alike;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of chunks after `packings` packings of `size` locations each, and how often a location was packed on
    /// average.
    fn after(packings: usize, size: usize) -> (Vec<usize>, usize) {
        let (mut sizes, mut packed): (Vec<usize>, usize) = (Vec::new(), 0);
        for _ in 0..packings {
            let newest: Vec<usize> = sizes.iter().rev().take(EXAMINED_MAX).copied().collect();
            let kept = sizes.len() - absorbed(&newest, size);
            let together = sizes.drain(kept..).sum::<usize>() + size;
            packed += together;
            sizes.push(together);
        }
        (sizes, packed.div_ceil(packings * size))
    }

    #[test]
    fn what_comes_in_large_pieces_is_packed_once() {
        assert_eq!(after(50, 1000), (vec![1000; 50], 1));
        assert_eq!(after(50, LARGE), (vec![LARGE; 50], 1));
    }

    #[test]
    fn what_comes_in_small_pieces_is_packed_a_few_times_and_leaves_few_small_chunks() {
        for (size, most) in [(1, 4), (3, 4), (12, 3), (100, 2), (500, 2)] {
            let (sizes, packed) = after(5_000, size);
            assert!(packed <= most, "of {size} each, packed {packed} times");
            let small = sizes.iter().filter(|size| **size < LARGE).count();
            assert!(small < EXAMINED_MAX, "of {size} each, {small} small chunks");
            assert!(sizes.iter().all(|size| *size < 2 * LARGE), "of {size} each");
        }
    }

    #[test]
    fn small_chunks_left_behind_are_taken_in_by_a_large_one() {
        assert_eq!(absorbed(&[12, 100, 3, 700, 5], 900), 3);
        assert_eq!(absorbed(&[], 900), 0);
        assert_eq!(absorbed(&[2; EXAMINED_MAX], 1), EXAMINED_MAX);
    }
}
