//! Storing, listing and updating alerts.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::alert::{Alert, AlertFilter, StoredAlert};
use crate::id::{AlertId, DeviceId};
use crate::location::{History, HistoryRequest, Outcome};

/// The result of each submitted alert, in their order.
pub type SubmittedAlerts = Vec<(Outcome, AlertId)>;

/// Reads and changes of alerts.
#[async_trait]
pub trait Alerts: Send + Sync {
    /// Stores alerts of a device. Returns the id of each, also of duplicates. Refused if the device is expired.
    async fn store_alerts(
        &self,
        actor: &Actor,
        device: DeviceId,
        alerts: Vec<Alert>,
    ) -> Result<SubmittedAlerts>;

    /// Lists a device's alerts, all or those with one name.
    async fn list_alerts(
        &self,
        scope: Scope,
        device: DeviceId,
        name: Option<&str>,
        request: HistoryRequest,
    ) -> Result<History<StoredAlert>>;

    /// Lists the alerts of all devices in the scope that pass the filter.
    async fn list_all_alerts(
        &self,
        scope: Scope,
        filter: &AlertFilter,
        request: HistoryRequest,
    ) -> Result<History<StoredAlert>>;

    /// Finds an alert of a device in the scope.
    async fn find_alert(&self, scope: Scope, id: AlertId) -> Result<Option<StoredAlert>>;

    /// Acknowledges an alert. The first user to do so stays recorded.
    async fn acknowledge_alert(&self, actor: &Actor, id: AlertId) -> Result<StoredAlert>;

    /// Ends an alert. An end set before stays as it is.
    async fn end_alert(&self, actor: &Actor, id: AlertId) -> Result<StoredAlert>;
}
