//! Size-tiered merging of small chunks.
//!
//! With many devices, locations must be packed before each device has enough of them to fill a chunk, and a small
//! chunk can only grow by being packed again. Small chunks are merged when together they are large, or when there are
//! many of about the same size. A location is thus packed once if its batch has half as many locations as a full
//! chunk, twice if the batch has a hundred, and at most four times if it is alone in its batch.

/// How many small chunks of one tier are merged into one; also the ratio of sizes between tiers.
const FANOUT: usize = 8;
/// How many of a device's newest chunks are examined. There are fewer small ones over all tiers, unless late locations
/// split some.
pub(super) const EXAMINED_MAX: usize = 32;

/// How many existing chunks are merged with a new one of `new` locations. `sizes` are those of the newest chunks,
/// newest first; merging ends at the first large one, of half a full one or more. All small chunks are merged if
/// together they are large, otherwise those of a tier as soon as it is full.
pub(super) fn absorbed(sizes: &[usize], new: usize, full: usize) -> usize {
    let large = full / 2;
    let small_count = sizes.iter().take_while(|size| **size < large).count();
    let small = &sizes[..small_count];
    if new + small.iter().sum::<usize>() >= large || small.len() == EXAMINED_MAX {
        return small.len();
    }
    let tier = |size: usize| size.max(1).ilog2() / FANOUT.ilog2();
    let (mut absorbed, mut merged_size) = (0, new);
    // A merge can fill the next tier, which is then merged as well.
    loop {
        let same_tier = small[absorbed..].iter().take_while(|size| tier(**size) <= tier(merged_size)).count();
        // The new or merged chunk is one of the tier, too.
        if same_tier + 1 < FANOUT {
            return absorbed;
        }
        merged_size += small[absorbed..absorbed + same_tier].iter().sum::<usize>();
        absorbed += same_tier;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: usize = 1_024;
    const LARGE: usize = FULL / 2;

    /// The sizes of the chunks after `packings` batches of `size` locations each, and how often a location was packed
    /// on average, rounded up.
    fn after(packings: usize, size: usize) -> (Vec<usize>, usize) {
        let (mut sizes, mut packed): (Vec<usize>, usize) = (Vec::new(), 0);
        for _ in 0..packings {
            let newest: Vec<usize> = sizes.iter().rev().take(EXAMINED_MAX).copied().collect();
            let kept = sizes.len() - absorbed(&newest, size, FULL);
            let merged_size = sizes.drain(kept..).sum::<usize>() + size;
            packed += merged_size;
            sizes.push(merged_size);
        }
        (sizes, packed.div_ceil(packings * size))
    }

    #[test]
    fn large_batches_are_packed_once() {
        assert_eq!(after(50, 1000), (vec![1000; 50], 1));
        assert_eq!(after(50, LARGE), (vec![LARGE; 50], 1));
    }

    #[test]
    fn small_batches_are_packed_a_few_times_and_leave_few_small_chunks() {
        for (size, most) in [(1, 4), (3, 4), (12, 3), (100, 2), (500, 2)] {
            let (sizes, packed) = after(5_000, size);
            assert!(packed <= most, "of {size} each, packed {packed} times");
            let small = sizes.iter().filter(|size| **size < LARGE).count();
            assert!(small < EXAMINED_MAX, "of {size} each, {small} small chunks");
            assert!(sizes.iter().all(|size| *size < 2 * LARGE), "of {size} each");
        }
    }

    #[test]
    fn small_chunks_are_absorbed_by_a_large_one() {
        assert_eq!(absorbed(&[12, 100, 3, 700, 5], 900, FULL), 3);
        assert_eq!(absorbed(&[], 900, FULL), 0);
        assert_eq!(absorbed(&[2; EXAMINED_MAX], 1, FULL), EXAMINED_MAX);
    }
}
