//! Alerts.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::alert::{Alert, StoredAlert};
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
}
