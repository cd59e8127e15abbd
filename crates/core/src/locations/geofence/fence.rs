//! A geofence as it is stored.

use serde::{Deserialize, Serialize};

use super::Shape;
use crate::id::{AccountId, GeofenceId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A named area, circle or corridor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Geofence {
    /// Assigned by the service; never changes.
    pub id: GeofenceId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: GeofenceSettings,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// The settings of a geofence that a client can change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeofenceSettings {
    /// Shown on the map and in lists; need not be unique.
    pub name: String,
    /// Free text for people.
    pub description: Option<String>,
    /// The area it covers.
    pub shape: Shape,
}

impl GeofenceSettings {
    /// Maximum number of geofences of an account.
    pub const PER_ACCOUNT_MAX: u32 = 10_000;
    /// Maximum number of positions of all geofences of an account: a rule may have to test all of them for one
    /// location.
    pub const POSITIONS_PER_ACCOUNT_MAX: u32 = 200_000;

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 3] {
        [
            ("name", self.name != before.name),
            ("description", self.description != before.description),
            ("geometry", self.shape != before.shape),
        ]
    }
}
