//! Storing alerts with their events and notifications, in one transaction.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::severity::Severity;
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, AlertId, DeviceId};
use perigee_core::locations::location::{Latitude, Longitude, Outcome, Readings};
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::store::{Result, SubmittedAlerts};
use perigee_core::time::Timestamp;

use super::super::identity::Identity;
use super::super::query::{for_ids, insert_many};
use super::super::{events, ids, locations};
use super::checksum;
use crate::codec::pack_readings;
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::notifications::outbox::{self, DeviceAudience, Raised};
use crate::{Tx, Value, params};

const INSERT: &str = "INSERT INTO alert (account_id, id, device_id, time, hash, name, text, critical, \
                      latitude, longitude, attributes, received_at, severity, known_latitude, known_longitude, \
                      checksum, ended_at)";

/// An alert to be stored, and its recipients besides those of its device.
#[derive(Clone)]
pub(crate) struct NewAlert {
    pub(crate) alert: Alert,
    /// The routing of the rule that raised it; `None` if it names nobody.
    pub(crate) routing: Option<AlertRouting>,
    /// The last position of the device, if the transaction changes it: the store still has the previous one.
    pub(crate) last_known: Option<Position>,
    /// Whether it is old: it is stored as ended, and nobody is notified.
    pub(crate) is_past: bool,
    /// Whether only those of `routing` are notified, and not those of the device.
    pub(crate) is_alone: bool,
}

impl NewAlert {
    /// An alert whose recipients are those of the routing of its device.
    pub(crate) const fn of_device(alert: Alert) -> Self {
        Self { alert, routing: None, last_known: None, is_past: false, is_alone: false }
    }
}

/// Stores new alerts with their events and notifications; returns for each its id and whether it is new. The device
/// must exist. No contact is recorded, because rules raise alerts too.
pub(crate) async fn raise(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    alerts: Vec<Alert>,
) -> Result<SubmittedAlerts> {
    let alerts = alerts.into_iter().map(NewAlert::of_device).collect();
    let mut raised = raise_all(tx, account, vec![(device, alerts)]).await?;
    Ok(raised.pop().map(|(_, submitted)| submitted).unwrap_or_default())
}

/// Like [`raise`], for many devices, each given once, with few statements.
pub(crate) async fn raise_all(
    tx: &Tx,
    account: AccountId,
    devices: Vec<(DeviceId, Vec<NewAlert>)>,
) -> Result<Vec<(DeviceId, SubmittedAlerts)>> {
    let count = devices.iter().map(|(_, alerts)| alerts.len()).sum();
    if count == 0 {
        return Ok(devices.into_iter().map(|(device, _)| (device, SubmittedAlerts::new())).collect());
    }
    tx.lock_account_beside(account).await?;
    // Consecutive, so that alerts of one time are listed in the order of submission.
    let mut next = ids::fresh_ids(tx, "alert", account, count).await?..;
    let (mut rows, mut all) = (Vec::with_capacity(count), Vec::with_capacity(devices.len()));
    for (device, alerts) in devices {
        let last_known = last_known(tx, account, device, &alerts).await?;
        let mut each = OfDevice { device, identities: Vec::new(), ids: HashMap::new(), raised: Vec::new() };
        for (NewAlert { alert, routing, is_past, is_alone, .. }, id) in alerts.into_iter().zip(&mut next) {
            let (identity, severity) = (Identity::of_alert(&alert), Severity::of(&alert));
            each.identities.push(identity);
            if let Entry::Vacant(entry) = each.ids.entry(identity) {
                entry.insert(AlertId::from_i64(id));
                let raised =
                    Raised { id: AlertId::from_i64(id), name: alert.name.clone(), severity, is_alone };
                if !is_past {
                    each.raised.push((raised, routing));
                }
                let ended_at = is_past.then_some(alert.time);
                let row = to_row(tx, (account, device), id, alert, identity, last_known);
                rows.push(with_end(row, ended_at));
            }
        }
        all.push(each);
    }
    let mut new = BTreeSet::new();
    for row in insert_many(tx, INSERT, &rows, "ON CONFLICT DO NOTHING RETURNING id").await? {
        new.insert(AlertId::from_i64(row.i64("id")?));
    }
    let mut new_events = Vec::with_capacity(new.len());
    let mut routed = Vec::with_capacity(all.len());
    for each in &mut all {
        each.raised.retain(|(alert, _)| new.contains(&alert.id));
        let (device, raised) = (each.device, std::mem::take(&mut each.raised));
        let audience = if raised.is_empty() { None } else { DeviceAudience::of(tx, account, device).await? };
        let Some(audience) = audience else {
            routed.push(None);
            continue;
        };
        let alerts = audience.of_alerts(tx, raised).await?;
        new_events.extend(alerts.iter().map(|routed_alert| {
            let data = events::routing_data(&routed_alert.webhooks);
            NewEvent { subject: routed_alert.alert.id.to_string(), device: Some(device), data }
        }));
        routed.push(Some((audience, alerts)));
    }
    append_events(tx, account, EventKind::AlertCreated, new_events).await?;
    let mut answer = Vec::with_capacity(all.len());
    for (each, routed) in all.into_iter().zip(routed) {
        if let Some((audience, alerts)) = &routed {
            outbox::fill(tx, audience, each.device, alerts).await?;
        }
        answer.push((each.device, each.outcomes(tx, account, &mut new).await?));
    }
    Ok(answer)
}

/// The alerts of one device.
struct OfDevice {
    device: DeviceId,
    identities: Vec<Identity>,
    ids: HashMap<Identity, AlertId>,
    raised: Vec<(Raised, Option<AlertRouting>)>,
}

impl OfDevice {
    /// The outcome and id of each alert. Of equal alerts in a call, only the first can be new.
    async fn outcomes(
        mut self,
        tx: &Tx,
        account: AccountId,
        new: &mut BTreeSet<AlertId>,
    ) -> Result<SubmittedAlerts> {
        let stored = self.ids.iter().filter(|(_, id)| !new.contains(id)).map(|(identity, _)| identity);
        let stored = find_ids(tx, account, self.device, stored).await?;
        self.ids.extend(stored);
        let known = self.identities.iter().filter_map(|identity| self.ids.get(identity).copied());
        let outcome = |id| (if new.remove(&id) { Outcome::Accepted } else { Outcome::Duplicate }, id);
        Ok(known.map(outcome).collect())
    }
}

/// The last known position of the device, if one of these alerts has no position.
async fn last_known(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    alerts: &[NewAlert],
) -> Result<Option<Position>> {
    if alerts.iter().all(|new| new.alert.position.is_some()) {
        return Ok(None);
    }
    if let Some(position) = alerts.iter().find_map(|new| new.last_known) {
        return Ok(Some(position));
    }
    let last = locations::find_last(tx, account, device).await?;
    Ok(last.map(|stored| (stored.location.latitude, stored.location.longitude)))
}

/// Latitude and longitude.
pub(crate) type Position = (Latitude, Longitude);

fn to_row(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    id: i64,
    alert: Alert,
    identity: Identity,
    last_known: Option<Position>,
) -> Vec<Value> {
    let severity = Severity::of(&alert).rank();
    let (known_latitude, known_longitude) = last_known.filter(|_| alert.position.is_none()).unzip();
    let (latitude, longitude) = alert.position.unzip();
    // Attributes are packed as readings without other fields.
    let attributes = pack_readings(&Readings { attributes: alert.attributes, ..Readings::default() });
    params![
        account,
        id,
        device,
        identity.time,
        identity.hash,
        alert.name,
        alert.text,
        alert.critical,
        latitude.map(Latitude::as_e7),
        longitude.map(Longitude::as_e7),
        attributes,
        tx.now(),
        severity,
        known_latitude.map(Latitude::as_e7),
        known_longitude.map(Longitude::as_e7),
    ]
    .to_vec()
}

/// Adds the checksum of an alert and when it ended.
fn with_end(mut row: Vec<Value>, ended_at: Option<Timestamp>) -> Vec<Value> {
    let later = ended_at.map_or(0, Timestamp::as_millis);
    row.push(Value::from(checksum::of_new(&row).wrapping_add(later)));
    row.push(Value::from(ended_at));
    row
}

/// The identities and ids of the stored alerts at the times of these identities.
async fn find_ids(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    identities: impl Iterator<Item = &Identity>,
) -> Result<Vec<(Identity, AlertId)>> {
    let times: BTreeSet<i64> = identities.map(|identity| identity.time.as_millis()).collect();
    let times: Vec<i64> = times.into_iter().collect();
    let sql = "SELECT id, time, hash FROM alert \
               WHERE account_id = ?1 AND device_id = ?2 AND time IN ({ids})";
    let rows = for_ids(tx, sql, params![account, device], &times).await?;
    rows.iter().map(|row| Ok((Identity::from_row(row)?, AlertId::from_i64(row.i64("id")?)))).collect()
}
