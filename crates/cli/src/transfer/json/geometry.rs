//! Collects the positions of GeoJSON geometries, however deeply nested.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A GeoJSON geometry of any type, with its positions in one list.
#[derive(Debug)]
pub(super) struct Geometry {
    /// `Point`, `LineString` and so on.
    pub(super) kind: String,
    /// Longitude, latitude and altitude; the altitude is NaN if missing.
    pub(super) positions: Vec<[f64; 3]>,
}

#[derive(Deserialize)]
struct Members {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    coordinates: Option<Node>,
}

impl<'de> Deserialize<'de> for Geometry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Members { kind, coordinates } = Members::deserialize(deserializer)?;
        let positions = match coordinates {
            Some(Node::Position(position)) => vec![position],
            Some(Node::Positions(positions)) => positions,
            Some(Node::Number(_)) | None => Vec::new(),
        };
        Ok(Self { kind, positions })
    }
}

/// A number, an array of numbers, or arrays of those.
enum Node {
    Number(f64),
    Position([f64; 3]),
    Positions(Vec<[f64; 3]>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("coordinates")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    #[expect(clippy::cast_precision_loss, reason = "no coordinate is that large")]
    fn visit_i64<E: Error>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "no coordinate is that large")]
    fn visit_u64<E: Error>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Node, A::Error> {
        let (mut position, mut numbers, mut positions) = ([f64::NAN; 3], 0, Vec::new());
        while let Some(node) = elements.next_element()? {
            match node {
                Node::Number(number) => {
                    if let Some(slot) = position.get_mut(numbers) {
                        *slot = number;
                    }
                    numbers += 1;
                }
                Node::Position(inner) => positions.push(inner),
                Node::Positions(inner) => positions.extend(inner),
            }
        }
        match numbers {
            0 => Ok(Node::Positions(positions)),
            1 => Err(A::Error::custom("a position must have a longitude and a latitude")),
            _ => Ok(Node::Position(position)),
        }
    }
}
