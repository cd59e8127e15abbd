//! What is recorded about a plan, and the traveller's links.

use serde::{Deserialize, Serialize};

use super::{CheckInBy, DeadlineKind, Plan};
use crate::id::{AccountId, AlertId, DeviceId, PlanEventId, PlanId, PlanLinkId, UserId};
use crate::locations::location::{Latitude, Longitude};
use crate::time::Timestamp;
use crate::zone::Zone;

/// What an entry of the timeline of a plan says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the API document describes them")]
pub enum PlanEventKind {
    Started,
    CheckedIn,
    Missed,
    Nudged,
    Warned,
    Alarmed,
    Resolved,
    Withdrawn,
    Paused,
    Resumed,
    Extended,
    Ended,
    Cancelled,
    Changed,
}

impl PlanEventKind {
    /// Every kind, in the order of the API document.
    pub const ALL: [Self; 14] = [
        Self::Started,
        Self::CheckedIn,
        Self::Missed,
        Self::Nudged,
        Self::Warned,
        Self::Alarmed,
        Self::Resolved,
        Self::Withdrawn,
        Self::Paused,
        Self::Resumed,
        Self::Extended,
        Self::Ended,
        Self::Cancelled,
        Self::Changed,
    ];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::CheckedIn => "checkedIn",
            Self::Missed => "missed",
            Self::Nudged => "nudged",
            Self::Warned => "warned",
            Self::Alarmed => "alarmed",
            Self::Resolved => "resolved",
            Self::Withdrawn => "withdrawn",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Extended => "extended",
            Self::Ended => "ended",
            Self::Cancelled => "cancelled",
            Self::Changed => "changed",
        }
    }
}

/// An entry of the timeline of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEvent {
    /// Assigned by the service; later entries have larger ids.
    pub id: PlanEventId,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub kind: PlanEventKind,
    /// What a check-in was, or by what an action was requested.
    pub by: Option<CheckInBy>,
    /// The device that it came from.
    pub device: Option<DeviceId>,
    /// Where the device was.
    pub position: Option<(Latitude, Longitude)>,
    /// The text of the device, or the note of a person.
    pub text: Option<String>,
    /// The user who did it.
    pub user: Option<UserId>,
    /// Minutes of a pause or an extension.
    pub minutes: Option<u32>,
    /// Why the missed check-in was expected.
    pub of: Option<DeadlineKind>,
    /// Until when it was expected.
    pub deadline: Option<Timestamp>,
    /// The alert that was raised.
    pub alert: Option<AlertId>,
}

impl PlanEvent {
    /// Maximum number of entries of a plan; beyond it, the oldest check-ins are deleted.
    pub const PER_PLAN_MAX: u32 = 5_000;
    /// Locations that are check-ins are recorded at most this often, in milliseconds.
    pub const LOCATION_EVERY_MS: i64 = 15 * 60 * 1_000;
}

/// A traveller's link, to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPlanLink {
    /// Whose link it is.
    pub name: Option<String>,
    /// The link does nothing from this instant on; `None` for as long as the plan exists.
    pub until: Option<Timestamp>,
    /// The random part of the URL, with 192 bits.
    pub secret: String,
}

/// A traveller's link, by which a plan is steered without an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLink {
    /// Assigned by the service; not part of the URL.
    pub id: PlanLinkId,
    /// The plan.
    pub plan: PlanId,
    /// What the client chose.
    pub link: NewPlanLink,
    /// When a button was last used.
    pub last_used: Option<Timestamp>,
    /// Set by the service on creation.
    pub creation: Timestamp,
}

impl PlanLink {
    /// Maximum number of links of a plan.
    pub const PER_PLAN_MAX: u32 = 20;
}

/// What the page of a traveller's link shows.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenPlan {
    /// The plan.
    pub plan: Plan,
    /// The link.
    pub link: PlanLink,
    /// The name of the account.
    pub account: String,
    /// The zone of the account.
    pub zone: Zone,
}

/// A message to a device that asks its traveller to check in, which waits to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanNudge {
    /// The account of the plan.
    pub account: AccountId,
    /// The plan.
    pub plan: Plan,
    /// The device.
    pub device: DeviceId,
    /// The zone of the plan.
    pub zone: Zone,
    /// The deadline that was missed.
    pub deadline: Timestamp,
}
