//! The store's `Alerts` trait, implemented by SQL.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::alerts::alert::{Alert, AlertFilter, AlertNote, NotifiedAlert, StoredAlert};
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, AlertId, DeviceId, NotificationId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::locations::location::{History, HistoryRequest};
use perigee_core::store::{Alerts, Result, SubmittedAlerts};

use super::super::devices::record_contact;
use super::{change, notes, raise, read};
use crate::{Database, Tx};

/// Alerts that one transaction stores: each may create messages to fifty recipients, and other writers wait meanwhile.
const ALERTS_PER_JOB: usize = 200;

/// Stores the alerts of a device; `None` when its licence is expired.
async fn store(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    alerts: Vec<Alert>,
) -> Result<Option<SubmittedAlerts>> {
    if record_contact(tx, scope, device).await? {
        raise(tx, scope.account, device, alerts).await.map(Some)
    } else {
        Ok(None)
    }
}

#[async_trait]
impl Alerts for Database {
    async fn store_alerts(
        &self,
        actor: &Actor,
        device: DeviceId,
        alerts: Vec<Alert>,
    ) -> Result<SubmittedAlerts> {
        let scope = actor.scope;
        let mut all = Vec::with_capacity(alerts.len());
        let mut alerts = alerts.into_iter();
        // At least once, so that the contact is recorded.
        loop {
            let some: Vec<Alert> = alerts.by_ref().take(ALERTS_PER_JOB).collect();
            let submitted = self.write(move |tx| store(tx, scope, device, some).boxed()).await?;
            // The contact of an expired device is committed before its alerts are refused.
            all.extend(submitted.ok_or(StoreError::DeviceExpired(device))?);
            if alerts.len() == 0 {
                return Ok(all);
            }
        }
    }

    async fn list_alerts(
        &self,
        scope: Scope,
        device: DeviceId,
        name: Option<&str>,
        request: HistoryRequest,
    ) -> Result<History<StoredAlert>> {
        let name = name.map(str::to_owned);
        self.read(move |tx| read::list(tx, scope, device, name, request).boxed()).await
    }

    async fn list_all_alerts(
        &self,
        scope: Scope,
        filter: &AlertFilter,
        request: HistoryRequest,
    ) -> Result<History<StoredAlert>> {
        let filter = filter.clone();
        self.read(move |tx| read::list_all(tx, scope, filter, request).boxed()).await
    }

    async fn find_alert(&self, scope: Scope, id: AlertId) -> Result<Option<StoredAlert>> {
        self.read(move |tx| read::find(tx, scope, id).boxed()).await
    }

    async fn acknowledge_alert(
        &self,
        actor: &Actor,
        id: AlertId,
        note: Option<String>,
    ) -> Result<StoredAlert> {
        let actor = actor.clone();
        self.write(move |tx| change::acknowledge(tx, actor, id, note).boxed()).await
    }

    async fn add_alert_note(
        &self,
        actor: &Actor,
        id: AlertId,
        text: String,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<AlertNote>> {
        let actor = actor.clone();
        self.write(move |tx| notes::add(tx, actor, id, text, once).boxed()).await
    }

    async fn list_alert_notes(&self, scope: Scope, id: AlertId) -> Result<Vec<AlertNote>> {
        self.read(move |tx| notes::list(tx, scope, id).boxed()).await
    }

    async fn find_told_alert(
        &self,
        account: AccountId,
        message: NotificationId,
    ) -> Result<Option<NotifiedAlert>> {
        self.read(move |tx| notes::find_told(tx, account, message).boxed()).await
    }

    async fn acknowledge_told_alert(
        &self,
        origin: &Origin,
        account: AccountId,
        message: NotificationId,
        name: String,
        note: Option<String>,
    ) -> Result<Option<NotifiedAlert>> {
        let (origin, told) = (origin.clone(), (account, message));
        self.write(move |tx| notes::acknowledge_told(tx, origin, told, name, note).boxed()).await
    }

    async fn end_alert(&self, actor: &Actor, id: AlertId) -> Result<StoredAlert> {
        let actor = actor.clone();
        self.write(move |tx| change::end(tx, actor, id).boxed()).await
    }
}
