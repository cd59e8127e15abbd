//! Alerts: something happened to a device that somebody should know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{AlertId, DeviceId, GroupId, UserId};
use crate::location::{Attribute, Latitude, Longitude};
use crate::notification::Channel;
use crate::severity::Severity;
use crate::time::Timestamp;

/// An alert as submitted by a client or raised by a rule.
///
/// Two alerts of a device are the same when time, name and text are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// When it happened, by the device's clock.
    pub time: Timestamp,
    /// What happened, for example `SOSButton`; up to [`Self::NAME_MAX`] characters.
    pub name: String,
    /// Free text for people; up to [`Self::TEXT_MAX`] characters.
    pub text: Option<String>,
    /// Where it happened, if the sender knew.
    pub position: Option<(Latitude, Longitude)>,
    /// Whether it was sent as critical. `SOSButton` always is.
    pub critical: bool,
    /// Further values, kept as sent.
    pub attributes: BTreeMap<String, Attribute>,
}

impl Alert {
    /// Characters that a name may have.
    pub const NAME_MAX: usize = 100;
    /// Characters that a text may have.
    pub const TEXT_MAX: usize = 1_000;
    /// Alerts that one request may submit.
    pub const BATCH_MAX: usize = 10_000;

    /// Whether alerts of this name are critical even if not sent as such.
    pub fn is_critical_by_name(name: &str) -> bool {
        name == "SOSButton"
    }
}

/// A stored alert with what happened to it since.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAlert {
    /// Assigned by the service; later alerts have larger ids.
    pub id: AlertId,
    /// The device it happened to.
    pub device: DeviceId,
    /// The alert as submitted.
    pub alert: Alert,
    /// Last known position of the device when the alert arrived; only set if the alert has no position.
    pub last_known: Option<(Latitude, Longitude)>,
    /// When the service received it.
    pub received_at: Timestamp,
    /// When it was acknowledged, and by whom; the user is `None` if since deleted.
    pub acknowledged: Option<(Timestamp, Option<UserId>)>,
    /// When it ended, by a user or by its rule.
    pub ended_at: Option<Timestamp>,
    /// Computed from name and `critical` when it was stored.
    pub severity: Severity,
    /// Channels by which at least one message was accepted, in the order of [`Channel::ALL`].
    pub sent_by: Vec<Channel>,
}

/// Where an alert is in its life cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertStage {
    /// Neither acknowledged nor ended.
    Open,
    /// Acknowledged and not ended.
    Acknowledged,
    /// Ended, whether acknowledged or not.
    Ended,
}

/// Which alerts to list; all conditions must be true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertFilter {
    /// Only devices in this group.
    pub group: Option<GroupId>,
    /// Only alerts of this device.
    pub device: Option<DeviceId>,
    /// Only this name, in any letter case.
    pub name: Option<String>,
    /// Only this severity or higher.
    pub severity: Option<Severity>,
    /// Only alerts in this stage.
    pub stage: Option<AlertStage>,
}
