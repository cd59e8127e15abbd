//! An SOS that cannot become an alert, because no device has its identifier or the licence of its device is expired.
//! The users of the account and the operators are still notified, up to a limit that protects them from strangers.

use serde::{Deserialize, Serialize};

use crate::locations::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// Why an SOS is not an alert of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SosReason {
    /// No device has the identifier.
    UnknownDevice,
    /// The licence of the device is expired.
    ExpiredDevice,
}

impl SosReason {
    /// Its name in events and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownDevice => "unknownDevice",
            Self::ExpiredDevice => "expiredDevice",
        }
    }
}

/// An SOS for which no alert can be raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SosNotice {
    /// Why it is not an alert.
    pub reason: SosReason,
    /// The name under which the sender reported.
    pub identifier: String,
    /// The protocol or the feed by which it was received.
    pub source: String,
    /// Address of the sender; empty if it is not known.
    pub peer: String,
    /// When it happened, by the clock of the sender, or else when it was received.
    pub time: Timestamp,
    /// Where, if the sender knew.
    pub position: Option<(Latitude, Longitude)>,
}

impl SosNotice {
    /// Milliseconds for which nobody is notified again of the same identifier: six hours.
    pub const AGAIN_MS: i64 = 6 * 60 * 60 * 1000;
    /// Maximum number of identifiers per day for which the users of one account are notified.
    pub const PER_ACCOUNT_A_DAY: i64 = 20;
    /// Maximum number of identifiers per day for which operators are notified: anybody can send to a listener.
    pub const TO_OPERATORS_A_DAY: i64 = 5;
    /// Maximum number of identifiers that are kept for an account; the oldest are deleted first.
    pub const KEPT_MAX: u32 = 1_000;
}
