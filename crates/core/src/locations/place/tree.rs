//! An index of places: a k-d tree of unit vectors, which finds the place with the lowest cost without comparing all of
//! them. The cost is the distance plus a penalty for small places. With vectors, neither the antimeridian nor the poles
//! are special.

use crate::locations::sphere::RADIUS_M;

/// Metres within which a position is at a place, whatever the size of the place.
const AT_PLACE_M: f64 = 3_000.0;
/// Penalty in metres for each step of rank: a place that is a step larger may be this much farther away.
const METRES_PER_RANK: f64 = 9_000.0;
const AXES: usize = 3;

/// A place in the tree: 20 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    vector: [f32; AXES],
    index: u32,
    /// From 0 for the largest cities to 9.
    rank: u8,
    /// The lowest rank of this place and all those below it.
    lowest_rank: u8,
}

impl Node {
    pub(super) const fn new(vector: [f32; AXES], rank: u8, index: u32) -> Self {
        Self { vector, index, rank, lowest_rank: rank }
    }
}

/// A balanced tree without pointers: the middle of a slice is its root, and the parts before and after it are its two
/// sides.
#[derive(Debug, Default)]
pub(super) struct Tree(Vec<Node>);

/// The cheapest place found so far.
struct Best {
    cost: f64,
    index: Option<u32>,
}

impl Tree {
    pub(super) fn build(mut nodes: Vec<Node>) -> Self {
        arrange(&mut nodes, 0);
        Self(nodes)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.0.capacity() * size_of::<Node>()
    }

    /// The index of the place with the lowest cost for this position.
    pub(super) fn best(&self, here: [f32; AXES]) -> Option<u32> {
        let mut best = Best { cost: f64::INFINITY, index: None };
        search(&self.0, 0, here, [0.0; AXES], &mut best);
        best.index
    }

    /// The same by comparing all places.
    #[cfg(test)]
    pub(super) fn best_of_all(&self, here: [f32; AXES]) -> Option<u32> {
        let cost = |node: &Node| {
            let half = f64::from(length(std::array::from_fn(|axis| difference(node, here, axis)))) / 2.0;
            cost(2.0 * RADIUS_M * half.min(1.0).asin(), node.rank)
        };
        self.0.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).map(|node| node.index)
    }
}

/// Sorts nodes into a tree, and returns the lowest rank among them.
fn arrange(nodes: &mut [Node], axis: usize) -> u8 {
    if nodes.is_empty() {
        return u8::MAX;
    }
    let middle = nodes.len() / 2;
    let part = |node: &Node| node.vector.get(axis).copied().unwrap_or_default();
    nodes.select_nth_unstable_by(middle, |a, b| part(a).total_cmp(&part(b)));
    let (before, rest) = nodes.split_at_mut(middle);
    let Some((root, after)) = rest.split_first_mut() else { return u8::MAX };
    let next = (axis + 1) % AXES;
    root.lowest_rank = root.rank.min(arrange(before, next)).min(arrange(after, next));
    root.lowest_rank
}

/// The cost of describing a position by a place at this distance. If the position is at the place, the cost is divided
/// by 100.
fn cost(metres: f64, rank: u8) -> f64 {
    let cost = metres + f64::from(rank) * METRES_PER_RANK;
    if metres <= AT_PLACE_M { cost / 100.0 } else { cost }
}

/// Searches these nodes for a lower cost. `outside` is the distance from here to their box, by axis.
fn search(nodes: &[Node], axis: usize, here: [f32; AXES], outside: [f32; AXES], best: &mut Best) {
    let middle = nodes.len() / 2;
    let Some(root) = nodes.get(middle) else { return };
    // A chord is never longer than the arc on the surface, so no place in the box has a lower cost.
    let chord_m = f64::from(length(outside)) * RADIUS_M;
    if cost(chord_m, root.lowest_rank) >= best.cost {
        return;
    }
    let half = f64::from(length(std::array::from_fn(|axis| difference(root, here, axis)))) / 2.0;
    let own = cost(2.0 * RADIUS_M * half.min(1.0).asin(), root.rank);
    if own < best.cost {
        *best = Best { cost: own, index: Some(root.index) };
    }
    let (before, rest) = nodes.split_at(middle);
    let after = rest.get(1..).unwrap_or_default();
    let beyond = difference(root, here, axis);
    let (near, far) = if beyond > 0.0 { (before, after) } else { (after, before) };
    let next = (axis + 1) % AXES;
    search(near, next, here, outside, best);
    let mut farther = outside;
    if let Some(side) = farther.get_mut(axis) {
        *side = beyond;
    }
    search(far, next, here, farther, best);
}

fn difference(node: &Node, here: [f32; AXES], axis: usize) -> f32 {
    node.vector.get(axis).zip(here.get(axis)).map_or(0.0, |(there, here)| there - here)
}

fn length([x, y, z]: [f32; AXES]) -> f32 {
    (x * x + y * y + z * z).sqrt()
}
