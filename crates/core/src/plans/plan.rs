//! A plan as stored: its settings, and how far it has come.

use serde::{Deserialize, Serialize};

use super::{Deadline, LadderStep, PlanSettings};
use crate::id::{AccountId, AlertId, DeviceId, PlanId};
use crate::locations::location::{Latitude, Longitude};
use crate::revision::Revision;
use crate::time::Timestamp;

/// A plan, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Assigned by the service; never changes.
    pub id: PlanId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes of the settings.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: PlanSettings,
    /// How far it has come.
    pub progress: Progress,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// Where a plan is in its life cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanState {
    /// Not started.
    #[default]
    Draft,
    /// Check-ins are expected.
    Active,
    /// No check-ins are expected for a while.
    Paused,
    /// A check-in was missed, and the steps for that run.
    Overdue,
    /// The travellers have arrived.
    Ended,
    /// Given up.
    Cancelled,
}

impl PlanState {
    /// Every state, in the order of the API document.
    pub const ALL: [Self; 6] =
        [Self::Draft, Self::Active, Self::Paused, Self::Overdue, Self::Ended, Self::Cancelled];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Overdue => "overdue",
            Self::Ended => "ended",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the plan was started and not ended.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Active | Self::Paused | Self::Overdue)
    }
}

/// What a check-in was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckInBy {
    /// The plan was started.
    Start,
    /// A text of a device.
    Message,
    /// A location of a device.
    Location,
    /// A text of a device that begins with a word for a check-in.
    Word,
    /// A location inside a geofence.
    Geofence,
    /// A location at a waypoint.
    Waypoint,
    /// The button in the console, or the API.
    Button,
    /// The traveller's link.
    Link,
    /// The plan was resumed.
    Resume,
    /// The plan was extended.
    Extend,
}

impl CheckInBy {
    /// Every value, in the order of the API document.
    pub const ALL: [Self; 10] = [
        Self::Start,
        Self::Message,
        Self::Location,
        Self::Word,
        Self::Geofence,
        Self::Waypoint,
        Self::Button,
        Self::Link,
        Self::Resume,
        Self::Extend,
    ];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Message => "message",
            Self::Location => "location",
            Self::Word => "word",
            Self::Geofence => "geofence",
            Self::Waypoint => "waypoint",
            Self::Button => "button",
            Self::Link => "link",
            Self::Resume => "resume",
            Self::Extend => "extend",
        }
    }
}

/// A check-in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckIn {
    /// When the traveller checked in, by the clock of the device if it was one.
    pub at: Timestamp,
    /// What it was.
    pub by: CheckInBy,
    /// The device that sent it.
    pub device: Option<DeviceId>,
    /// Where the device was.
    pub position: Option<(Latitude, Longitude)>,
    /// The text that it sent, or the note of whoever pressed a button.
    pub text: Option<String>,
    /// The waypoint that was reached.
    pub waypoint: Option<u16>,
}

/// A missed check-in, and the steps that were taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// The deadline that was missed.
    pub deadline: Deadline,
    /// When it counted as missed, with grace and the usual delay of the network.
    pub since: Timestamp,
    /// The last step taken.
    pub step: LadderStep,
    /// Alerts of the steps, in their order.
    pub alerts: Vec<AlertId>,
}

/// How far a plan has come. The store keeps the instants from which something waits in columns of their own, so that they
/// follow the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Where it is in its life cycle.
    pub state: PlanState,
    /// When it was started the last time.
    pub started: Option<Timestamp>,
    /// When it was ended or cancelled.
    pub ended: Option<Timestamp>,
    /// The instant from which the next check-in counts: the last check-in.
    pub base: Option<Timestamp>,
    /// No check-in is expected before this instant, because the plan was extended.
    pub not_before: Option<Timestamp>,
    /// When a paused plan resumes by itself.
    pub paused_until: Option<Timestamp>,
    /// When the last step of the ladder was taken.
    pub step_at: Option<Timestamp>,
    /// The last check-in.
    pub last: Option<CheckIn>,
    /// The check-in that is missed now.
    pub missed: Option<Missed>,
    /// Waypoints that were reached, by index, ascending.
    pub reached: Vec<u16>,
    /// How many check-ins were missed so far.
    pub misses: u32,
    /// How long messages of the devices usually take, in seconds; learned from their last locations.
    pub usual_delay_s: u32,
}
