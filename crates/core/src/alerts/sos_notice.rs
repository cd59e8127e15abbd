//! An SOS that cannot become an alert, because no device has its identifier or the licence of its device is expired. The people
//! of the account and the operators are notified all the same, within bounds that a stranger cannot exceed.

use serde::{Deserialize, Serialize};

use crate::locations::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// Why an SOS is no alert of a device.
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

/// What is known of an SOS that is no alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SosNotice {
    /// Why it is no alert.
    pub reason: SosReason,
    /// The name under which the sender reported.
    pub identifier: String,
    /// The protocol or the feed that it came by.
    pub source: String,
    /// Address that it came from; empty if it is not known.
    pub peer: String,
    /// When it happened, by the clock of the sender, or else when it was received.
    pub time: Timestamp,
    /// Where, if the sender knew.
    pub position: Option<(Latitude, Longitude)>,
}

impl SosNotice {
    /// For this time, in milliseconds, nobody is notified again of the same identifier: six hours.
    pub const AGAIN_MS: i64 = 6 * 60 * 60 * 1000;
    /// Identifiers of which the people of one account are notified in a day.
    pub const PER_ACCOUNT_A_DAY: i64 = 20;
    /// Identifiers of which operators are notified in a day: anybody can send to a listener.
    pub const TO_OPERATORS_A_DAY: i64 = 5;
    /// Identifiers that are kept for an account; the oldest are deleted first.
    pub const KEPT_MAX: u32 = 1_000;
}
