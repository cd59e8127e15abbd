//! Share links: a public live view of a device or group between two instants.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, DeviceId, GroupId, ShareId, UserId};
use crate::time::Timestamp;

/// The device or group that a link shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShareTarget {
    /// A single device of the account.
    Device(DeviceId),
    /// The devices that are in a group when the link is opened.
    Group(GroupId),
}

/// A share link to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewShare {
    /// The device or group that it shows.
    pub target: ShareTarget,
    /// Shown on its page and in lists.
    pub name: Option<String>,
    /// The link shows nothing before this instant.
    pub from: Timestamp,
    /// The link shows nothing from this instant on.
    pub until: Timestamp,
    /// Whether its page names the account.
    #[serde(default)]
    pub show_account: bool,
    /// Whether its page shows the trips since its beginning.
    #[serde(default)]
    pub show_trips: bool,
    /// After how many minutes its page shows messages of conversations; `None` if it shows none.
    #[serde(default)]
    pub conversation_delay_min: Option<u32>,
    /// The random part of the URL, with 192 bits.
    pub secret: String,
}

/// A share link as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Assigned by the service; not part of the URL.
    pub id: ShareId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Its device or group, and the times of its validity.
    pub link: NewShare,
    /// How often it was opened; saved every few seconds.
    pub views: u64,
    /// When it was last opened.
    pub last_viewed: Option<Timestamp>,
    /// The user who created it; `None` if since deleted.
    pub created_by: Option<UserId>,
    /// Set by the service on creation.
    pub creation: Timestamp,
}

impl Share {
    /// The longest delay of conversations, in minutes: 31 days.
    pub const CONVERSATION_DELAY_MAX_MIN: u32 = 31 * 24 * 60;

    /// Whether the link shows anything at this instant.
    pub fn is_open(&self, now: Timestamp) -> bool {
        (self.link.from..self.link.until).contains(&now)
    }
}
