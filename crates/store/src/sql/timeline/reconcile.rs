//! Matches newly derived segments with stored ones, so that ids and labels are kept.
//!
//! A derived segment takes over the id and the labels of an overlapping stored segment of its kind: of one with labels if
//! there is one, else of the one with the longest overlap.

use perigee_core::timeline::{Segment, SegmentLabels, StoredSegment};

/// A derived segment, and the stored one that it replaces.
#[derive(Debug, PartialEq)]
pub(super) struct Match {
    pub(super) segment: Segment,
    pub(super) old: Option<StoredSegment>,
    pub(super) labels: SegmentLabels,
}

/// Matches derived segments with stored ones, both in order of time. Also returns the stored ones without a match.
pub(super) fn reconcile(old: Vec<StoredSegment>, new: Vec<Segment>) -> (Vec<Match>, Vec<StoredSegment>) {
    let mut pairs = overlaps(&old, &new);
    pairs.sort_by_key(|pair| (!pair.has_labels, -pair.overlap_ms, pair.old, pair.new));
    let mut of_new: Vec<Option<usize>> = vec![None; new.len()];
    let mut is_kept = vec![false; old.len()];
    for pair in &pairs {
        if of_new[pair.new].is_none() && !is_kept[pair.old] {
            of_new[pair.new] = Some(pair.old);
            is_kept[pair.old] = true;
        }
    }
    let mut labels: Vec<SegmentLabels> = of_new
        .iter()
        .map(|old_one| old_one.map_or_else(SegmentLabels::default, |at| old[at].labels.clone()))
        .collect();
    // A segment that was joined with another passes its labels on, unless the other has labels of its own.
    for pair in pairs.iter().filter(|pair| pair.has_labels && !is_kept[pair.old]) {
        if labels[pair.new].is_empty() {
            labels[pair.new] = old[pair.old].labels.clone();
        }
    }
    let mut old: Vec<Option<StoredSegment>> = old.into_iter().map(Some).collect();
    let matches = new.into_iter().zip(of_new).zip(labels).map(|((segment, at), labels)| {
        let old = at.and_then(|at| old.get_mut(at).and_then(Option::take));
        Match { segment, old, labels }
    });
    let matches = matches.collect();
    (matches, old.into_iter().flatten().collect())
}

struct Pair {
    old: usize,
    new: usize,
    overlap_ms: i64,
    has_labels: bool,
}

fn overlaps(old: &[StoredSegment], new: &[Segment]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut first = 0;
    for (at_new, segment) in new.iter().enumerate() {
        while old.get(first).is_some_and(|one| one.segment.to <= segment.from) {
            first += 1;
        }
        let overlapping =
            old.iter().enumerate().skip(first).take_while(|(_, one)| one.segment.from < segment.to);
        for (at_old, one) in overlapping.filter(|(_, one)| one.segment.kind == segment.kind) {
            let (from, to) = (one.segment.from.max(segment.from), one.segment.to.min(segment.to));
            let overlap_ms = to.as_millis() - from.as_millis();
            if overlap_ms > 0 {
                pairs.push(Pair { old: at_old, new: at_new, overlap_ms, has_labels: !one.labels.is_empty() });
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests;
