//! What a store can do. Every method is one transaction: whole, committed and synced when it returns, or nothing.
//!
//! Reads of a tenant's data take a [`Scope`], changes take an [`Actor`]: what lies outside is not found.

mod accounts;
mod alerts;
mod calls;
mod credentials;
mod devices;
mod figures;
mod following;
mod groups;
mod locations;
mod logs;
mod outbox;
mod overview;
mod recipients;
mod routing;
mod rules;
mod shares;
mod templates;
mod users;
mod webhooks;

pub use accounts::{AccountOverview, Accounts, UsageReport};
pub use alerts::{Alerts, SubmittedAlerts};
pub use calls::{CALLS_KEPT_DAYS, Calls, HourCalls};
pub use credentials::Credentials;
pub use devices::{Devices, ExpiryAnnouncement, NamedDevice};
pub use figures::{Backlog, DamageFigures, Figures, Intake, StoreFigures};
pub use following::{
    CatchingUp, Depth, DeviceRound, Followed, FollowedDevice, Following, Lease, Round, SkimLimits, Skimmed,
    StatusChange, Watched,
};
pub use groups::Groups;
pub use locations::{Appetite, LocationSink, LocationUpkeep, Locations};
pub use logs::{Audits, Events};
pub use outbox::{Notifications, Outbox, Reserved};
pub use overview::Overviews;
pub use recipients::EmailRecipients;
pub use routing::Routing;
pub use rules::{Geofences, Rules};
pub use shares::{SharedView, Shares, ViewReport};
pub use templates::Templates;
pub use users::Users;
pub use webhooks::{WebhookWork, Webhooks};

use async_trait::async_trait;

#[expect(unused_imports, reason = "named by the documentation")]
use crate::actor::{Actor, Scope};
use crate::error::StoreError;
use crate::retention::{DeletedRecords, RecordRetention};

/// What every method of a store gives.
pub type Result<T> = std::result::Result<T, StoreError>;

/// A whole store.
pub trait Store:
    Accounts
    + Users
    + Credentials
    + Devices
    + Groups
    + Locations
    + LocationUpkeep
    + Alerts
    + Routing
    + Outbox
    + Notifications
    + Overviews
    + EmailRecipients
    + Events
    + Audits
    + Shares
    + Templates
    + Webhooks
    + WebhookWork
    + Geofences
    + Rules
    + Following
    + Calls
    + Figures
    + Upkeep
{
}

impl<T> Store for T where
    T: Accounts
        + Users
        + Credentials
        + Devices
        + Groups
        + Locations
        + LocationUpkeep
        + Alerts
        + Routing
        + Outbox
        + Notifications
        + Overviews
        + EmailRecipients
        + Events
        + Audits
        + Shares
        + Templates
        + Webhooks
        + WebhookWork
        + Geofences
        + Rules
        + Following
        + Calls
        + Figures
        + Upkeep
{
}

/// What keeps a store well.
#[async_trait]
pub trait Upkeep: Send + Sync {
    /// Whether the store answers.
    async fn ping(&self) -> Result<()>;

    /// Reads the store's clock and notes its steps: one ahead stops deletion by age until it is confirmed, one back
    /// brings forward what waits. Called every few seconds.
    async fn watch_clock(&self) -> Result<()>;

    /// Whether the store can do its work: writes a row as everything else is written, and reads.
    async fn probe(&self) -> Result<()>;

    /// Fills in the checksums of rows from before there were any. Gives how many.
    async fn fill_checksums(&self) -> Result<u64>;

    /// Forgets what is over: old idempotency keys, sessions, links. Gives how many rows went.
    async fn forget_expired(&self) -> Result<u64>;

    /// Deletes records that are older than the operator keeps them, in small transactions.
    async fn delete_old_records(&self, retention: RecordRetention) -> Result<DeletedRecords>;
}
