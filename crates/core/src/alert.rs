//! Alerts: something happened to a device that somebody should know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{AlertId, DeviceId, GroupId, UserId};
use crate::location::{Attribute, Latitude, Longitude};
use crate::notification::Channel;
use crate::severity::Severity;
use crate::time::Timestamp;

/// Something that happened to a device, as submitted.
///
/// Two alerts of a device are the same when time, name and text are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// When it happened.
    pub time: Timestamp,
    /// What happened.
    pub name: String,
    /// In words.
    pub text: Option<String>,
    /// Where, if known.
    pub position: Option<(Latitude, Longitude)>,
    /// Whether it cannot wait; SOS cannot.
    pub critical: bool,
    /// Whatever else was sent.
    pub attributes: BTreeMap<String, Attribute>,
}

impl Alert {
    /// Characters in a name.
    pub const NAME_MAX: usize = 100;
    /// Characters in a text.
    pub const TEXT_MAX: usize = 1_000;
    /// Alerts one call may bring.
    pub const BATCH_MAX: usize = 10_000;

    /// Whether alerts of this name are critical without saying so.
    pub fn is_critical_by_name(name: &str) -> bool {
        name == "SOSButton"
    }
}

/// An alert as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAlert {
    /// Its id.
    pub id: AlertId,
    /// The device.
    pub device: DeviceId,
    /// What was sent.
    pub alert: Alert,
    /// Where the device was last known to be when an alert without a position was received.
    pub last_known: Option<(Latitude, Longitude)>,
    /// When it was received.
    pub received_at: Timestamp,
    /// When somebody took note of it, and who.
    pub acknowledged: Option<(Timestamp, Option<UserId>)>,
    /// When it was over.
    pub ended_at: Option<Timestamp>,
    /// How much it matters.
    pub severity: Severity,
    /// The channels by which somebody was really told, in their order.
    pub sent_by: Vec<Channel>,
}

/// How far an alert has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertStage {
    /// Nobody has taken note of it, and it is not over.
    Open,
    /// Somebody has taken note of it, and it is not over.
    Acknowledged,
    /// It is over.
    Ended,
}

/// Which alerts to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertFilter {
    /// Of the devices of this group.
    pub group: Option<GroupId>,
    /// Of this device.
    pub device: Option<DeviceId>,
    /// Of this name, in any letter case.
    pub name: Option<String>,
    /// That matter at least so much.
    pub severity: Option<Severity>,
    /// That have come so far.
    pub stage: Option<AlertStage>,
}
