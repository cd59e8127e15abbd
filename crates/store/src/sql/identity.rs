//! The identity of a location or an alert within its device: its time and a hash of its content.

use perigee_core::alerts::alert::Alert;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::column;
use crate::Row;
use crate::codec::{Point, Writer};

/// Half of a SHA-256: collisions within one device and millisecond are negligible.
pub(crate) type ContentHash = [u8; 16];

/// The key of an item among those of its device.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) time: Timestamp,
    pub(crate) hash: ContentHash,
}

impl Identity {
    /// Locations are equal if every submitted field is equal. Logs of older versions have this hash.
    pub(crate) fn of_point(point: &Point) -> Self {
        let mut content = Writer::with_capacity(point.readings.len() + 20);
        content.signed(point.time.as_millis());
        content.signed(i64::from(point.latitude.as_e7()));
        content.signed(i64::from(point.longitude.as_e7()));
        content.raw(&point.readings);
        Self { time: point.time, hash: short_hash(&content.into_bytes()) }
    }

    /// Alerts are equal if time, name and text are equal.
    pub(crate) fn of_alert(alert: &Alert) -> Self {
        let mut content = Writer::default();
        content.signed(alert.time.as_millis());
        content.text(&alert.name);
        content.byte(u8::from(alert.text.is_some()));
        content.text(alert.text.as_deref().unwrap_or_default());
        Self { time: alert.time, hash: short_hash(&content.into_bytes()) }
    }

    /// The key in the columns `time` and `hash`.
    pub(crate) fn from_row(row: &Row) -> Result<Self> {
        let hash = row.bytes("hash")?;
        let hash = hash.try_into().map_err(|_bytes: Vec<u8>| column::unreadable("hash", "not 16 bytes"))?;
        Ok(Self { time: row.timestamp("time")?, hash })
    }
}

fn short_hash(content: &[u8]) -> ContentHash {
    let mut short = ContentHash::default();
    short.iter_mut().zip(Sha256::digest(content)).for_each(|(kept, byte)| *kept = byte);
    short
}
