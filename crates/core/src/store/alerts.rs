//! Storing, listing and updating alerts.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Origin, Scope};
use crate::alerts::alert::{Alert, AlertFilter, AlertNote, NotifiedAlert, StoredAlert};
use crate::id::{AccountId, AlertId, DeviceId, NotificationId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::locations::location::{History, HistoryRequest, Outcome};

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

    /// Acknowledges an alert. The first person to do so stays recorded; a note is stored in any case.
    async fn acknowledge_alert(
        &self,
        actor: &Actor,
        id: AlertId,
        note: Option<String>,
    ) -> Result<StoredAlert>;

    /// Stores a note about an alert. Refused if it has [`AlertNote::PER_ALERT_MAX`].
    async fn add_alert_note(
        &self,
        actor: &Actor,
        id: AlertId,
        text: String,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<AlertNote>>;

    /// Lists the notes about an alert in the scope, the oldest first.
    async fn list_alert_notes(&self, scope: Scope, id: AlertId) -> Result<Vec<AlertNote>>;

    /// Finds the alert of a notification, for the person who has the link in it.
    async fn find_notified_alert(
        &self,
        account: AccountId,
        message: NotificationId,
    ) -> Result<Option<NotifiedAlert>>;

    /// Acknowledges the alert of a notification, by the link in it. `None` if the notification or the alert was
    /// deleted.
    async fn acknowledge_notified_alert(
        &self,
        origin: &Origin,
        account: AccountId,
        message: NotificationId,
        name: String,
        note: Option<String>,
    ) -> Result<Option<NotifiedAlert>>;

    /// Ends an alert. An end set before stays as it is.
    async fn end_alert(&self, actor: &Actor, id: AlertId) -> Result<StoredAlert>;
}
