//! The traits of a store. Every method is one transaction: committed and synced when it returns, or without any
//! effect.
//!
//! Reads of tenant data take a [`Scope`], changes take an [`Actor`]: data outside of it is not found.

mod accounts;
mod alerts;
mod calls;
mod commands;
mod commits;
mod conversations;
mod credentials;
mod device_files;
mod devices;
mod drivers;
mod gateways;
mod groups;
mod locations;
mod logs;
mod maintenance;
mod metrics;
mod notifications;
mod operator_notices;
mod plans;
mod reports;
mod rule_engine;
mod rules;
mod shares;
mod timeline;
mod users;
mod webhooks;

pub use accounts::{
    AccountOrder, AccountOverview, AccountStandings, AccountUsage, Accounts, Purged, UsageReport,
};
pub use alerts::{Alerts, SubmittedAlerts};
pub use calls::{CALL_RETENTION_DAYS, Calls, HourCalls};
pub use commands::Commands;
pub use commits::{Additions, CommitSignals, Commits, Queue};
pub use conversations::Conversations;
pub use credentials::{Credentials, PASSWORD_MAILS_AN_HOUR};
pub use device_files::DeviceFiles;
pub use devices::{Devices, ExpiryAnnouncement, NamedDevice};
pub use drivers::{Assignments, Drivers};
pub use gateways::account_gateways::AccountGateways;
pub use gateways::emergencies::Emergencies;
pub use gateways::gateway_health::GatewayHealth;
pub use gateways::polls::{FAILING_POLLS, LeasedPoll, POLLS_PER_ACCOUNT, PollSettlement, Polls};
pub use gateways::raw_messages::RawMessages;
pub use gateways::reporters::Reporters;
pub use groups::Groups;
pub use locations::{LocationMaintenance, LocationSink, Locations, Next};
pub use logs::{Audits, Events};
pub use maintenance::{MaintenancePlans, PlansEvaluated};
pub use metrics::{Backlog, DamageMetrics, Metrics, PendingWrites, StoreMetrics};
pub use notifications::contacts::{ContactGroups, WatchLists};
pub use notifications::escalations::{DueStep, Escalations};
pub use notifications::outbox::{Notifications, Outbox, Reserved};
pub use notifications::overview::Overviews;
pub use notifications::push::PushSubscriptions;
pub use notifications::recipients::EmailRecipients;
pub use notifications::routing::{Routing, TEST_MESSAGES_AN_HOUR};
pub use notifications::templates::Templates;
pub use operator_notices::{Claims, OperatorNotices};
pub use plans::{PlanLinks, PlanWork, Plans};
pub use reports::SavedReports;
pub use rule_engine::{
    AccountLease, CatchUp, DeviceRound, DeviceTrail, LogScan, LogScanLimits, Round, RoundStart,
    RuleEngineStore, StatusChange, StatusCheck, TrailDepth,
};
pub use rules::{Geofences, Rules};
pub use shares::{SharedView, Shares, ViewReport};
pub use timeline::{
    DerivedTimeline, DeviceTotals, DriverKey, DriverTotals, PendingTimeline, RemovedTrip, TimelineMarks,
    TimelinePage, TimelineRound, Timelines, TimelinesSaved, TripFilter, TripOrder,
};
pub use users::Users;
pub use webhooks::{WebhookWork, Webhooks};

use async_trait::async_trait;

#[expect(unused_imports, reason = "named by the documentation")]
use crate::access::actor::{Actor, Scope};
use crate::accounts::retention::{DeletedRecords, RecordRetention};
use crate::error::StoreError;

/// The result of every store method.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Declares the trait of a whole store from the traits of its parts.
macro_rules! store {
    ($($part:ident)+) => {
        /// Everything that a store can do.
        pub trait Store: $($part +)+ {}

        impl<T: $($part +)+> Store for T {}
    };
}

store! {
    Accounts AccountStandings Users Credentials Devices Groups Reporters RawMessages Emergencies AccountGateways GatewayHealth Polls Commands DeviceFiles Locations LocationMaintenance Alerts Routing ContactGroups WatchLists Escalations Outbox Notifications PushSubscriptions Overviews EmailRecipients Events Audits Shares Templates Webhooks WebhookWork Conversations Geofences Rules RuleEngineStore Timelines Calls Metrics Maintenance Commits OperatorNotices Claims SavedReports MaintenancePlans Plans PlanLinks PlanWork Drivers Assignments
}

/// Health checks and housekeeping of a store.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Checks that the store answers.
    async fn ping(&self) -> Result<()>;

    /// Reads the store's clock and detects steps. A step ahead stops deletion by age until it is confirmed; a step
    /// back brings waiting work forward. Called every few seconds.
    async fn watch_clock(&self) -> Result<()>;

    /// Checks that the store works, by writing a row the usual way and reading it.
    async fn probe(&self) -> Result<()>;

    /// Adds checksums to rows written by versions without them. Returns how many.
    async fn fill_checksums(&self) -> Result<u64>;

    /// Deletes expired idempotency keys, sessions and links. Returns how many rows.
    async fn delete_expired(&self) -> Result<u64>;

    /// Deletes records past their retention, in small transactions.
    async fn delete_old_records(&self, retention: RecordRetention) -> Result<DeletedRecords>;
}
