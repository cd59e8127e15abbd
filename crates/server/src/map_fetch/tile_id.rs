//! Numbers of tiles: zoom by zoom, and within a zoom along a Hilbert curve, as the format defines them.

/// The ID of the first tile of a zoom level.
pub(super) const fn first_of(zoom: u8) -> u64 {
    ((1 << (2 * zoom as u64)) - 1) / 3
}

/// The zoom level of a tile.
pub(super) fn zoom_of(id: u64) -> u8 {
    (0..=31).rev().find(|zoom| first_of(*zoom) <= id).unwrap_or(0)
}

/// Column and row of the tile at this place of the curve of a zoom level.
pub(super) const fn place_of(zoom: u8, along: u64) -> (u64, u64) {
    let (mut x, mut y, mut rest, mut size) = (0, 0, along, 1);
    let end = 1_u64 << zoom;
    while size < end {
        let right = (rest / 2) & 1;
        let down = (rest ^ right) & 1;
        if down == 0 {
            if right == 1 {
                (x, y) = (size - 1 - x, size - 1 - y);
            }
            (x, y) = (y, x);
        }
        x += size * right;
        y += size * down;
        rest /= 4;
        size *= 2;
    }
    (x, y)
}

/// The place on the curve of a zoom level of the tile in this column and row.
pub(super) const fn along_of(zoom: u8, x: u64, y: u64) -> u64 {
    let (mut x, mut y, mut along) = (x, y, 0);
    let mut size = (1_u64 << zoom) / 2;
    while size > 0 {
        let right = (x & size != 0) as u64;
        let down = (y & size != 0) as u64;
        along += size * size * ((3 * right) ^ down);
        (x, y) = (x & (size - 1), y & (size - 1));
        if down == 0 {
            if right == 1 {
                (x, y) = (size - 1 - x, size - 1 - y);
            }
            (x, y) = (y, x);
        }
        size /= 2;
    }
    along
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_format() {
        let id = |zoom, x, y| first_of(zoom) + along_of(zoom, x, y);
        // From the specification of the format.
        assert_eq!(
            [id(0, 0, 0), id(1, 0, 0), id(1, 0, 1), id(1, 1, 1), id(1, 1, 0), id(2, 0, 0)],
            [0, 1, 2, 3, 4, 5]
        );
        assert_eq!(id(12, 3_423, 1_763), 19_078_479);
        assert_eq!([zoom_of(0), zoom_of(1), zoom_of(4), zoom_of(5), zoom_of(19_078_479)], [0, 1, 1, 2, 12]);
    }

    #[test]
    fn places_and_numbers_belong_together() {
        for zoom in 0..=6 {
            for along in 0..1_u64 << (2 * zoom) {
                let (x, y) = place_of(zoom, along);
                assert_eq!(along_of(zoom, x, y), along, "{zoom}/{x}/{y}");
                // A tile's four parts follow each other.
                assert_eq!(place_of(zoom + 1, along * 4 + 3).0 / 2, x);
            }
        }
        let (x, y) = place_of(22, 12_345_678_901_234);
        assert_eq!(along_of(22, x, y), 12_345_678_901_234);
    }
}
