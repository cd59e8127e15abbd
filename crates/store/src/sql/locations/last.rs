//! The last location that can be trusted: of one device, and of all that are in sight.

use std::collections::{BTreeMap, HashMap};

use perigee_core::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{LastFilter, Location, StoredLocation, supersedes};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use super::super::query::{Query, for_ids, insert_many};
use super::super::scope;
use super::ingest::New;
use super::row::{LAST_COLUMNS, from_row};
use crate::codec::pack_readings;
use crate::{Tx, Value, params};

/// Rows one statement reads while most of them may be filtered out.
const STRIDE: i64 = 1_000;

/// The newest location of a device that can be trusted.
pub(crate) async fn find_last(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    let sql = format!("SELECT {LAST_COLUMNS} FROM last_location WHERE account_id = ?1 AND device_id = ?2");
    tx.query_opt(&sql, params![account, device]).await?.as_ref().map(from_row).transpose()
}

pub(super) async fn find_last_in_sight(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    scope::require_device(tx, scope, device).await?;
    find_last(tx, scope.account, device).await
}

/// The last locations that pass the filter, by device.
pub(super) async fn list_last(
    tx: &Tx,
    scope: Scope,
    filter: LastFilter,
    page: PageRequest,
) -> Result<Page<(DeviceId, StoredLocation)>> {
    let mut items = Vec::new();
    let mut after = page.after.unwrap_or(i64::MIN);
    let wanted = usize::try_from(page.limit).unwrap_or(usize::MAX).saturating_add(1);
    while items.len() < wanted {
        let rows = select(scope, &filter, after).rows(tx).await?;
        for row in &rows {
            let device = row.i64("device_id")?;
            after = after.max(device);
            let last = from_row(row)?;
            if filter.admits(&last) {
                items.push((DeviceId::from_i64(device), last));
            }
        }
        if rows.len() < usize::try_from(STRIDE).unwrap_or(usize::MAX) {
            break;
        }
    }
    Ok(Page::cut(items, page.limit, |(device, _)| device.as_i64()))
}

fn select(scope: Scope, filter: &LastFilter, after: i64) -> Query {
    let sql = format!(
        "SELECT device_id, {LAST_COLUMNS} FROM last_location WHERE account_id = ?1 AND device_id > ?2"
    );
    let mut query = Query::new(sql, params![scope.account, after]);
    scope::keep_devices(&mut query, scope, "device_id");
    if let Some(group) = filter.group {
        scope::keep_members(&mut query, scope, group, "device_id");
    }
    query.push_with(" ORDER BY device_id LIMIT {}", STRIDE);
    query
}

const INSERT: &str = "INSERT INTO last_location \
    (account_id, device_id, number, time, received_at, latitude, longitude, late, readings)";
const REPLACE: &str = "ON CONFLICT (account_id, device_id) DO UPDATE SET number = excluded.number, \
    time = excluded.time, received_at = excluded.received_at, latitude = excluded.latitude, \
    longitude = excluded.longitude, late = excluded.late, readings = excluded.readings";

/// Moves the last locations on to the newest of these that can be trusted, unless the one there is newer.
pub(super) async fn advance(tx: &Tx, new: &New) -> Result<()> {
    let before = of_devices(tx, new).await?;
    let mut rows = Vec::new();
    for ((account, device), new) in new {
        let mut new: Vec<&StoredLocation> = new.iter().filter(|stored| !stored.trust.suspect).collect();
        // In the order of time, so that the same locations give the same last one however they were sent.
        new.sort_unstable_by_key(|stored| (stored.location.time, stored.number));
        let before = before.get(&(*account, *device));
        let mut last = before;
        for stored in new {
            if last.is_none_or(|last| supersedes(stored, last)) {
                last = Some(stored);
            }
        }
        if let Some(last) = last.filter(|last| before != Some(*last)) {
            rows.push(to_row(*account, *device, last));
        }
    }
    insert_many(tx, INSERT, &rows, REPLACE).await?;
    Ok(())
}

async fn of_devices(tx: &Tx, new: &New) -> Result<HashMap<(AccountId, DeviceId), StoredLocation>> {
    let mut by_account: BTreeMap<AccountId, Vec<i64>> = BTreeMap::new();
    for (account, device) in new.keys() {
        by_account.entry(*account).or_default().push(device.as_i64());
    }
    let sql = format!(
        "SELECT device_id, {LAST_COLUMNS} FROM last_location WHERE account_id = ?1 AND device_id IN ({{ids}})"
    );
    let mut last = HashMap::new();
    for (account, devices) in by_account {
        for row in for_ids(tx, &sql, params![account], &devices).await? {
            last.insert((account, DeviceId::from_i64(row.i64("device_id")?)), from_row(&row)?);
        }
    }
    Ok(last)
}

/// Makes this the last location of a device.
pub(super) async fn put_last(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    last: &StoredLocation,
) -> Result<()> {
    insert_many(tx, INSERT, &[to_row(account, device, last)], REPLACE).await?;
    Ok(())
}

fn to_row(account: AccountId, device: DeviceId, last: &StoredLocation) -> Vec<Value> {
    let Location { time, latitude, longitude, readings } = &last.location;
    params![
        account,
        device,
        last.number,
        *time,
        last.received_at,
        latitude.as_e7(),
        longitude.as_e7(),
        last.trust.late,
        pack_readings(readings),
    ]
    .to_vec()
}
