//! A geofence as it is kept.

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::id::{AccountId, GeofenceId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A named area, circle or corridor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Geofence {
    /// Its id.
    pub id: GeofenceId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// What a client sets.
    pub settings: GeofenceSettings,
    /// When it was made.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// What a client sets of a geofence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeofenceSettings {
    /// Its name.
    pub name: String,
    /// A note about it.
    pub description: Option<String>,
    /// Where it is.
    pub shape: Shape,
}

impl GeofenceSettings {
    /// Geofences an account may have.
    pub const MOST: u32 = 10_000;

    /// The members in which it differs from what was before, by their names in the API.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 3] {
        [
            ("name", self.name != before.name),
            ("description", self.description != before.description),
            ("geometry", self.shape != before.shape),
        ]
    }
}
