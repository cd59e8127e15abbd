//! How small chunks become large ones.
//!
//! Many devices that send at once do not fill chunks before memory is short of room, and a chunk packed early must be
//! packed again to grow. Small chunks are let be until together they are large, or until there are many of about one
//! size: so each location is packed once if it came among a thousand, twice if among a hundred, and four times if it came
//! alone.

use super::chunk::FULL;

/// Locations from which a chunk is large enough to be left alone.
const LARGE: usize = FULL / 2;
/// Small chunks of about one size that are gathered into one; also how much larger the next size is.
const ALIKE: usize = 8;
/// Chunks looked at: more than there are small ones of every size, unless late locations split some.
pub(super) const LOOK_AT: usize = 32;

/// How many of the newest chunks, told by their sizes from the newest on, a new one of this size takes in: all that
/// are small if they are large together, else those of a size as soon as they are many.
pub(super) fn taken_in(sizes: &[usize], new: usize) -> usize {
    let small = sizes.iter().take_while(|size| **size < LARGE).count();
    let small = &sizes[..small];
    if new + small.iter().sum::<usize>() >= LARGE || small.len() == LOOK_AT {
        return small.len();
    }
    let about = |size: usize| size.max(1).ilog2() / ALIKE.ilog2();
    let (mut taken, mut together) = (0, new);
    loop {
        let alike = small[taken..].iter().take_while(|size| about(**size) <= about(together)).count();
        if alike + 1 < ALIKE {
            return taken;
        }
        together += small[taken..taken + alike].iter().sum::<usize>();
        taken += alike;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that chunks have after so many packings of so many locations each, and how often a location was
    /// packed on average.
    fn after(packings: usize, size: usize) -> (Vec<usize>, usize) {
        let (mut sizes, mut packed): (Vec<usize>, usize) = (Vec::new(), 0);
        for _ in 0..packings {
            let newest: Vec<usize> = sizes.iter().rev().take(LOOK_AT).copied().collect();
            let kept = sizes.len() - taken_in(&newest, size);
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
            assert!(small < LOOK_AT, "of {size} each, {small} small chunks");
            assert!(sizes.iter().all(|size| *size < 2 * LARGE), "of {size} each");
        }
    }

    #[test]
    fn small_chunks_left_behind_are_taken_in_by_a_large_one() {
        assert_eq!(taken_in(&[12, 100, 3, 700, 5], 900), 3);
        assert_eq!(taken_in(&[], 900), 0);
        assert_eq!(taken_in(&[2; LOOK_AT], 1), LOOK_AT);
    }
}
