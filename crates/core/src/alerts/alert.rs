//! Alerts: events of a device that somebody should know about, such as an SOS or a speed limit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::accounts::branding::Colour;
use crate::alerts::severity::Severity;
use crate::id::{AlertId, AlertNoteId, DeviceId, FileId, GroupId, UserId};
use crate::locations::location::{Attribute, Latitude, Longitude};
use crate::notifications::notification::Channel;
use crate::notifications::routing::Preferences;
use crate::time::Timestamp;
use crate::zone::Zone;

/// An alert as submitted by a client or raised by a rule.
///
/// Two alerts of a device are the same when time, name and text are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// When it happened, by the device's clock.
    pub time: Timestamp,
    /// The name of the alert, for example `SOSButton`; up to [`Self::NAME_MAX`] characters.
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
    /// Maximum number of characters of a name.
    pub const NAME_MAX: usize = 100;
    /// Maximum number of characters of a text.
    pub const TEXT_MAX: usize = 1_000;
    /// Maximum number of alerts that one request may submit.
    pub const BATCH_MAX: usize = 10_000;

    /// Whether alerts of this name are critical even if not sent as such.
    pub fn is_critical_by_name(name: &str) -> bool {
        name == "SOSButton"
    }
}

/// A stored alert with its later changes.
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
    /// The first later fix of the same emergency; only set if the alert has no position.
    pub later_fix: Option<LaterFix>,
    /// When the service received it.
    pub received_at: Timestamp,
    /// When it was acknowledged, and by whom; the user is `None` if since deleted.
    pub acknowledged: Option<(Timestamp, Option<UserId>)>,
    /// The name of who acknowledged it by the link in a message, without an account.
    pub acknowledged_name: Option<String>,
    /// When it ended, by a user or by its rule.
    pub ended_at: Option<Timestamp>,
    /// Computed from name and `critical` when it was stored.
    pub severity: Severity,
    /// Channels by which at least one message was accepted, in the order of [`Channel::all`].
    pub sent_by: Vec<Channel>,
}

impl StoredAlert {
    /// Its own position, else that of a later fix of its emergency, else the last known one of its device.
    pub fn best_position(&self) -> Option<(Latitude, Longitude)> {
        let later = || self.later_fix.map(|fix| fix.position);
        self.alert.position.or_else(later).or(self.last_known)
    }
}

/// A fix that a device took after it had reported an emergency without a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterFix {
    /// When it was taken.
    pub time: Timestamp,
    /// Where the device was.
    pub position: (Latitude, Longitude),
}

/// A note of a person about an alert, or an acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertNote {
    /// Assigned by the service; later notes have larger ids.
    pub id: AlertNoteId,
    /// The user who wrote it; `None` for people without an account.
    pub user: Option<UserId>,
    /// The name of the person, as they gave it or as the user has it.
    pub name: String,
    /// The text; `None` for an acknowledgement without one.
    pub text: Option<String>,
    /// Whether the person acknowledged the alert with it.
    pub acknowledges: bool,
    /// When it was stored.
    pub created: Timestamp,
}

impl AlertNote {
    /// Maximum number of characters of a note.
    pub const TEXT_MAX: usize = 1_000;
    /// Maximum number of notes of an alert, so that a link in a message cannot fill the store.
    pub const PER_ALERT_MAX: u32 = 200;
}

/// An alert as shown to a person who opens the link in a message about it.
#[derive(Clone, Debug, PartialEq)]
pub struct NotifiedAlert {
    /// The alert as it is now.
    pub alert: StoredAlert,
    /// The name of the device.
    pub device: String,
    /// The name of the account, as it presents itself.
    pub account: String,
    /// The colour of buttons, if the account has its own.
    pub colour: Option<Colour>,
    /// The ID of the logo of the account, if there is one.
    pub logo: Option<FileId>,
    /// Language and units of the recipient of the message.
    pub preferences: Preferences,
    /// The time zone of times on the page.
    pub time_zone: Zone,
    /// The name of the user who acknowledged it, if a user did.
    pub acknowledged_by: Option<String>,
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
