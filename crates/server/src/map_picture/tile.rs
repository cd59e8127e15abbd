//! Reads what a picture needs of a vector tile (Mapbox Vector Tile 2). Anything damaged ends the reading.

/// Maximum number of points of a tile.
const POINTS_MAX: usize = 400_000;

/// A layer of a tile.
pub(super) struct Layer {
    pub(super) name: String,
    /// Units of a side of the tile.
    pub(super) extent: f64,
    pub(super) shapes: Vec<Shape>,
}

/// A polygon or lines.
pub(super) struct Shape {
    pub(super) geometry: Geometry,
    /// Whether it has the property `water`: a lake on land.
    pub(super) is_water: bool,
    /// Whether it has the property `ice`.
    pub(super) is_ice: bool,
}

/// Paths in units of the tile.
pub(super) enum Geometry {
    Polygon(Vec<Vec<(i32, i32)>>),
    Lines(Vec<Vec<(i32, i32)>>),
}

/// A number in base 128, least significant group first.
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// A field of a message: its number, and its bytes or its value.
enum Field<'b> {
    Bytes(u64, &'b [u8]),
    Value(u64, u64),
}

/// The fields of a message one after the other.
struct Fields<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Fields<'b> {
    const fn of(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Whether a field is left.
    const fn is_more(&self) -> bool {
        self.at < self.bytes.len()
    }

    /// The next field; `None` if the message is damaged.
    fn next(&mut self) -> Option<Field<'b>> {
        let key = varint(self.bytes, &mut self.at)?;
        let (number, kind) = (key >> 3, key & 7);
        let skipped = match kind {
            0 => return Some(Field::Value(number, varint(self.bytes, &mut self.at)?)),
            1 => 8,
            5 => 4,
            2 => {
                let length = usize::try_from(varint(self.bytes, &mut self.at)?).ok()?;
                let end = self.at.checked_add(length)?;
                let bytes = self.bytes.get(self.at..end)?;
                self.at = end;
                return Some(Field::Bytes(number, bytes));
            }
            _ => return None,
        };
        self.at = self.at.checked_add(skipped).filter(|at| *at <= self.bytes.len())?;
        Some(Field::Value(number, 0))
    }
}

/// The layers of a tile.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Layer>> {
    let mut fields = Fields::of(bytes);
    let (mut layers, mut left) = (Vec::new(), POINTS_MAX);
    while fields.is_more() {
        if let Field::Bytes(3, bytes) = fields.next()? {
            layers.push(layer(bytes, &mut left)?);
        }
    }
    Some(layers)
}

fn layer(bytes: &[u8], left: &mut usize) -> Option<Layer> {
    let mut fields = Fields::of(bytes);
    let (mut name, mut extent, mut features, mut keys) = (String::new(), 4_096_u32, Vec::new(), Vec::new());
    while fields.is_more() {
        match fields.next()? {
            Field::Bytes(1, text) => name = String::from_utf8_lossy(text).into_owned(),
            Field::Bytes(2, feature) => features.push(feature),
            Field::Bytes(3, key) => keys.push(key),
            Field::Value(5, value) => extent = u32::try_from(value).ok().filter(|extent| *extent > 0)?,
            _ => {}
        }
    }
    let mut shapes = Vec::new();
    for bytes in features {
        feature(bytes, &keys, left, &mut shapes)?;
    }
    Some(Layer { name, extent: f64::from(extent), shapes })
}

/// Adds the shape of a feature; points are left out. `None` if it is damaged.
fn feature(bytes: &[u8], keys: &[&[u8]], left: &mut usize, shapes: &mut Vec<Shape>) -> Option<()> {
    let mut fields = Fields::of(bytes);
    let (mut tags, mut kind, mut geometry): (&[u8], u64, &[u8]) = (&[], 0, &[]);
    while fields.is_more() {
        match fields.next()? {
            Field::Bytes(2, bytes) => tags = bytes,
            Field::Value(3, value) => kind = value,
            Field::Bytes(4, bytes) => geometry = bytes,
            _ => {}
        }
    }
    let geometry = match kind {
        2 => Geometry::Lines(paths(geometry, left)?),
        3 => Geometry::Polygon(paths(geometry, left)?),
        _ => return Some(()),
    };
    shapes.push(Shape { geometry, is_water: has(tags, keys, b"water"), is_ice: has(tags, keys, b"ice") });
    Some(())
}

/// Whether a feature has a property with this key. Features without it leave it out.
fn has(tags: &[u8], keys: &[&[u8]], wanted: &[u8]) -> bool {
    let mut at = 0;
    while let (Some(key), Some(_value)) = (varint(tags, &mut at), varint(tags, &mut at)) {
        if usize::try_from(key).ok().and_then(|key| keys.get(key)).is_some_and(|key| *key == wanted) {
            return true;
        }
    }
    false
}

/// The paths of commands: move to, line to, close.
fn paths(bytes: &[u8], left: &mut usize) -> Option<Vec<Vec<(i32, i32)>>> {
    let (mut at, mut x, mut y) = (0, 0_i32, 0_i32);
    let mut paths: Vec<Vec<(i32, i32)>> = Vec::new();
    while at < bytes.len() {
        let command = varint(bytes, &mut at)?;
        let (kind, count) = (command & 7, command >> 3);
        if kind == 7 {
            continue;
        }
        for _ in 0..count {
            *left = left.checked_sub(1)?;
            let mut step = || Some(signed(varint(bytes, &mut at)?));
            (x, y) = (x.checked_add(step()??)?, y.checked_add(step()??)?);
            if kind == 1 {
                paths.push(vec![(x, y)]);
            } else {
                paths.last_mut()?.push((x, y));
            }
        }
    }
    Some(paths)
}

/// A number with its sign in the lowest bit.
fn signed(value: u64) -> Option<i32> {
    let value = u32::try_from(value).ok()?;
    let half = i32::try_from(value >> 1).ok()?;
    Some(if value & 1 == 1 { -half - 1 } else { half })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_the_specification_shows_them() {
        // The polygon of the example in the specification of vector tiles.
        let mut left = 10;
        let read = paths(&[9, 6, 12, 18, 10, 12, 24, 44, 15], &mut left).unwrap();
        assert_eq!(read, [[(3, 6), (8, 12), (20, 34)]]);
        assert_eq!(left, 7);
        assert!(paths(&[9, 6, 12, 18, 10, 12, 24, 44, 15], &mut 2).is_none(), "more points than allowed");
        assert!(paths(&[10, 2, 2], &mut 10).is_none(), "a line without a beginning");
    }
}
