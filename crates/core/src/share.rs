//! Share links: a live view of a device or group for whoever has the link, between two instants.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, DeviceId, GroupId, ShareId, UserId};
use crate::time::Timestamp;

/// What a link shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShareTarget {
    /// One device.
    Device(DeviceId),
    /// A group's devices.
    Group(GroupId),
}

/// A share link to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewShare {
    /// What it shows.
    pub target: ShareTarget,
    /// What it is for.
    pub name: Option<String>,
    /// Shows nothing before.
    pub from: Timestamp,
    /// Shows nothing from then on.
    pub until: Timestamp,
    /// The unguessable part of the address.
    pub secret: String,
}

/// A share link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Its id, for its owner.
    pub id: ShareId,
    /// The account it belongs to.
    pub account: AccountId,
    /// What it shows, to whom and when.
    pub link: NewShare,
    /// How often it was opened.
    pub views: u64,
    /// When it was last opened.
    pub last_viewed: Option<Timestamp>,
    /// Who made it.
    pub created_by: Option<UserId>,
    /// When it was made.
    pub creation: Timestamp,
}

impl Share {
    /// Whether the link shows anything at this instant.
    pub fn is_open(&self, now: Timestamp) -> bool {
        (self.link.from..self.link.until).contains(&now)
    }
}
