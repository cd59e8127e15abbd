//! Creating many devices at once: all of them or none, and what happens to each.

use serde::{Deserialize, Serialize};

use crate::id::{DeviceId, GroupId};

/// Maximum number of devices that one call creates.
pub const NEW_DEVICES_MAX: usize = 5_000;

/// What happens to one of many new devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowOutcome {
    /// It is new. It has an id once it was created.
    New(Option<DeviceId>),
    /// The account has a visible device with this identifier, which is left as it is.
    Existing(DeviceId),
    /// It cannot be created, so none is.
    Refused(RowRefusal),
}

/// Why one of many devices cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowRefusal {
    /// Another device of the account has this identifier.
    Taken(String),
    /// An earlier device of the same call, counted from 0, has this identifier.
    Repeated {
        /// The identifier.
        identifier: String,
        /// Where it was given first.
        first: usize,
    },
    /// The account has no such group, or the creator may not see it.
    UnknownGroup(GroupId),
}

/// The outcome of creating many devices, or of trying to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewDevices {
    /// One for each device, in the order in which they were given.
    pub rows: Vec<RowOutcome>,
    /// Licences that the new devices take.
    pub licenses_needed: u32,
    /// Licences that were free before.
    pub licenses_free: u32,
}

impl NewDevices {
    /// How many are new.
    pub fn count_new(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row, RowOutcome::New(_))).count()
    }

    /// Whether one of them cannot be created.
    pub fn has_refused(&self) -> bool {
        self.rows.iter().any(|row| matches!(row, RowOutcome::Refused(_)))
    }
}
