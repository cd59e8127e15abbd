//! Alerts.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::alert::{Alert, AlertFilter, StoredAlert};
use crate::id::{AlertId, DeviceId};
use crate::location::{History, HistoryRequest, Outcome};

/// What became of submitted alerts, in their order.
pub type SubmittedAlerts = Vec<(Outcome, AlertId)>;

/// What happened to devices.
#[async_trait]
pub trait Alerts: Send + Sync {
    /// Stores alerts of a device in sight. Gives the id of each, also of those there were. Refused when expired.
    async fn store_alerts(
        &self,
        actor: &Actor,
        device: DeviceId,
        alerts: Vec<Alert>,
    ) -> Result<SubmittedAlerts>;

    /// A device's alerts, all or those of one name.
    async fn list_alerts(
        &self,
        scope: Scope,
        device: DeviceId,
        name: Option<&str>,
        request: HistoryRequest,
    ) -> Result<History<StoredAlert>>;

    /// The alerts of every device in sight that pass the filter.
    async fn list_all_alerts(
        &self,
        scope: Scope,
        filter: &AlertFilter,
        request: HistoryRequest,
    ) -> Result<History<StoredAlert>>;

    /// One alert of a device in sight.
    async fn find_alert(&self, scope: Scope, id: AlertId) -> Result<Option<StoredAlert>>;

    /// Notes that somebody has taken note of an alert. The first to do so stays named.
    async fn acknowledge_alert(&self, actor: &Actor, id: AlertId) -> Result<StoredAlert>;

    /// Notes that an alert is over; it stays over since when it first was.
    async fn end_alert(&self, actor: &Actor, id: AlertId) -> Result<StoredAlert>;
}
