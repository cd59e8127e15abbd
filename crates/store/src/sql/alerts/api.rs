//! The store's `Alerts` trait, implemented by SQL.

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
use crate::forward::forward;
use crate::sql::locations::retry_while_locked;
use crate::{Database, Tx};

/// Alerts that one transaction stores: each may create messages to fifty recipients, and other writers wait meanwhile.
const ALERTS_PER_JOB: usize = 200;

/// Stores the alerts of a device; `None` if its licence is expired. Fails if the device is locked for long, because alerts
/// of other devices wait meanwhile.
async fn store(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    alerts: Vec<Alert>,
) -> Result<Option<SubmittedAlerts>> {
    tx.lock_account_beside(scope.account).await?;
    tx.wait_briefly_for_rows().await?;
    if record_contact(tx, scope, device).await? {
        raise(tx, scope.account, device, alerts).await.map(Some)
    } else {
        Ok(None)
    }
}

async fn store_alerts(
    database: &Database,
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
        let submitted = retry_while_locked(database, || {
            let some = some.clone();
            database.write(move |tx| store(tx, scope, device, some).boxed())
        });
        let submitted = submitted.await?;
        // The contact of an expired device is committed before its alerts are refused.
        all.extend(submitted.ok_or(StoreError::DeviceExpired(device))?);
        if alerts.len() == 0 {
            return Ok(all);
        }
    }
}

forward! {
    impl Alerts for Database {
        run store_alerts(&self, &actor: Actor, device: DeviceId, alerts: Vec<Alert>)
            -> SubmittedAlerts = store_alerts;
        read list_alerts(&self, scope: Scope, device: DeviceId, name: Option<&str>, request: HistoryRequest)
            -> History<StoredAlert> = read::list with name = name.map(str::to_owned);
        read list_all_alerts(&self, scope: Scope, &filter: AlertFilter, request: HistoryRequest)
            -> History<StoredAlert> = read::list_all;
        read find_alert(&self, scope: Scope, id: AlertId) -> Option<StoredAlert> = read::find;
        write acknowledge_alert(&self, &actor: Actor, id: AlertId, note: Option<String>)
            -> StoredAlert = change::acknowledge;
        write add_alert_note(&self, &actor: Actor, id: AlertId, text: String, once: Option<IdempotencyKey>)
            -> Created<AlertNote> = notes::add;
        read list_alert_notes(&self, scope: Scope, id: AlertId) -> Vec<AlertNote> = notes::list;
        read find_notified_alert(&self, account: AccountId, message: NotificationId)
            -> Option<NotifiedAlert> = notes::find_notified;
        write acknowledge_notified_alert(
            &self, &origin: Origin, account: AccountId, message: NotificationId, name: String,
            note: Option<String>
        ) -> Option<NotifiedAlert> = notes::acknowledge_notified(origin, (account, message), name, note);
        write end_alert(&self, &actor: Actor, id: AlertId) -> StoredAlert = change::end;
    }
}
