//! The log of locations, whichever engine keeps it.

use futures_util::FutureExt as _;
use perigee_core::actor::Scope;
use perigee_core::event::{Event, EventKind, EventObject};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Compacted, CompactionBudget, Feed, StoredLocation, TimeRange};
use perigee_core::store::{LogScan, LogScanLimits, Result};
use perigee_core::time::Timestamp;

use super::window::Window;
use crate::codec::Point;
use crate::sql::event_filter::Wanted;
use crate::sql::{accounts, clock};
use crate::{Database, Engine, Tx, params, postgres, sqlite};

/// After how long few locations are packed too.
pub(crate) const FEW_WAIT_MS: i64 = 60 * 60 * 1000;

/// The column with the highest number of a row: on SQLite a row holds many locations.
pub(crate) const fn number_column(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "last_number",
        Engine::Postgres => "number",
    }
}

/// Locations of devices in sight after this number.
pub(super) async fn feed(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
    match tx.memory() {
        Some(_) => sqlite::locations::list(tx, scope, after, limit).await,
        None => postgres::locations::list(tx, scope, after, limit).await,
    }
}

/// What the log says after this number.
pub(crate) async fn skim(tx: &Tx, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan> {
    match tx.memory() {
        Some(_) => sqlite::locations::skim(tx, account, after, limits).await,
        None => postgres::locations::skim(tx, account, after, limits).await,
    }
}

/// The locations of these devices in the log after the first number and up to the second.
pub(crate) async fn read_log(
    tx: &Tx,
    account: AccountId,
    part: (i64, i64),
    devices: Vec<DeviceId>,
) -> Result<Vec<(DeviceId, StoredLocation)>> {
    match tx.memory() {
        Some(_) => sqlite::locations::read_log(tx, account, part, devices).await,
        None => postgres::locations::read_log(tx, account, part, devices).await,
    }
}

/// The highest number of the account, also when its location is gone.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    match tx.memory() {
        Some(_) => sqlite::locations::end(tx, scope).await,
        None => postgres::locations::end(tx, scope).await,
    }
}

/// Locations as events, and up to which number they are, unless they are all there are.
pub(crate) async fn events(
    tx: &Tx,
    scope: Scope,
    wanted: &Wanted<'_>,
    after: i64,
    limit: u32,
) -> Result<(Vec<Event>, Option<i64>)> {
    match tx.memory() {
        Some(_) => sqlite::locations::events(tx, scope, wanted, after, limit).await,
        None => postgres::locations::events(tx, scope, wanted, after, limit).await,
    }
}

/// The event of a location.
pub(crate) fn event_of(account: AccountId, device: DeviceId, stored: StoredLocation) -> Event {
    Event {
        number: stored.number,
        account,
        at: stored.received_at,
        kind: EventKind::LocationCreated,
        subject: device.to_string(),
        device: Some(device),
        data: serde_json::Value::Null,
        object: EventObject::Location(Box::new(stored)),
    }
}

/// What is asked for of a device that is in no chunk yet.
pub(super) async fn recent(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    window: &Window,
) -> Result<Vec<Point>> {
    match tx.memory() {
        Some(memory) => {
            let places = (window.after, window.before);
            Ok(memory.unpacked().between((account, device), places, window.order, window.wanted()))
        }
        None => postgres::locations::recent(tx, account, device, window).await,
    }
}

/// Erases a range of a device; gives how many were in no chunk, beside those `packed` that were.
pub(super) async fn erase(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    range: TimeRange,
    packed: u64,
) -> Result<u64> {
    match tx.memory() {
        Some(memory) => sqlite::locations::erase(tx, memory, account, device, range, packed).await,
        None => postgres::locations::erase(tx, account, device, range).await,
    }
}

/// Whether a device recorded anything before this instant that is in no chunk.
pub(super) async fn holds_before(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    before: Timestamp,
) -> Result<bool> {
    let Some(memory) = tx.memory() else {
        return postgres::locations::holds_before(tx, account, device, before).await;
    };
    let range = TimeRange { from: Timestamp::MIN, to: before.plus_millis(-1) };
    Ok(memory.unpacked().count_within((account, device), range) > 0)
}

/// Packs what is due, up to so many devices.
pub(super) async fn compact(database: &Database, budget: CompactionBudget) -> Result<Compacted> {
    match database.memory() {
        Some(memory) => sqlite::locations::compact(database, memory, budget).await,
        None => postgres::locations::compact(database, budget).await,
    }
}

/// Forgets what was received this long ago and is in chunks. Gives how many locations went.
pub(super) async fn trim(database: &Database, keep_ms: i64) -> Result<u64> {
    let now = clock::trusted_now(database).await?;
    let accounts = database.read(|tx| accounts::ids(tx).boxed()).await?;
    let mut gone = 0;
    if let Some(memory) = database.memory() {
        // What is saved need not be read again when the store is opened.
        sqlite::locations::save_all(database, memory).await?;
    }
    for account in accounts {
        gone += match database.memory() {
            Some(memory) => sqlite::locations::trim(database, memory, account, (keep_ms, now)).await?,
            None => postgres::locations::trim(database, account, (keep_ms, now)).await?,
        };
    }
    Ok(gone)
}

/// Up to which number the log was trimmed.
pub(crate) async fn trimmed_to(tx: &Tx, account: AccountId) -> Result<i64> {
    let sql = "SELECT number FROM location_trim WHERE account_id = ?1";
    let row = tx.query_opt(sql, params![account]).await?;
    Ok(row.map(|row| row.i64("number")).transpose()?.unwrap_or(0))
}

/// Notes up to which number the log was trimmed.
pub(crate) async fn note_trimmed(tx: &Tx, account: AccountId, number: i64) -> Result<()> {
    let sql = "INSERT INTO location_trim (account_id, number) VALUES (?1, ?2) \
               ON CONFLICT (account_id) DO UPDATE SET number = CASE \
                   WHEN excluded.number > location_trim.number \
                   THEN excluded.number ELSE location_trim.number END";
    tx.execute(sql, params![account, number]).await?;
    Ok(())
}
