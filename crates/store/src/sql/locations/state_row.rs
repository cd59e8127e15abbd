//! The state of a device: its row in `device_live`, under a checksum.
//!
//! Everything in it can be derived from the log, the chunks and the device, or is learned again. So a damaged row is
//! rebuilt when it is read under a lock.

mod rebuild;

use std::collections::HashMap;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

pub(crate) use self::rebuild::{derive, rebuild, recount};
use super::super::query::{for_ids, insert_many};
use crate::damage::{Damage, Damaged, Table};
use crate::error::{DbError, describe};
use crate::sql::checksum::crc;
use crate::tx::RowLock;
use crate::{Engine, Row, Tx, Value, params};

/// The state of one device, as its row has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateRow {
    pub(crate) account: AccountId,
    pub(crate) device: DeviceId,
    pub(crate) last_seen: Option<Timestamp>,
    /// The protocol that the device reports by.
    pub(crate) protocol: Option<String>,
    /// The model and firmware that the device reported.
    pub(crate) reported_model: Option<String>,
    pub(crate) proposed_zone_minutes: Option<i64>,
    /// The learned reporting interval.
    pub(crate) interval: Vec<u8>,
    /// A suspect location far away, serialised; the next location near it confirms it. Empty for none.
    pub(crate) unconfirmed_jump: Vec<u8>,
    /// The log number up to which its locations are in chunks.
    pub(crate) packed_to: i64,
    /// SQLite: the highest log number that is included in this state.
    pub(crate) observed_to: i64,
    /// PostgreSQL: no stored location is later than this.
    pub(crate) newest_time: Option<Timestamp>,
    /// PostgreSQL: a copy of the device's licence. `None` if the row was written without it.
    pub(crate) licensed: Option<bool>,
    pub(crate) expires: Option<Timestamp>,
}

/// The row of a device, or what is known of it if it is damaged.
pub(crate) type Checked = std::result::Result<StateRow, Box<Damaged>>;

/// The columns of [`StateRow`] and its checksum, under these names on both engines.
pub(crate) const fn columns(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => {
            "last_seen, protocol, reported_model, proposed_zone_minutes, rhythm, doubt, packed_to, observed_to, \
             NULL AS newest_time, NULL AS licensed, NULL AS expires, checksum"
        }
        Engine::Postgres => {
            "last_seen, protocol, reported_model, proposed_zone_minutes, rhythm, doubt, packed_to, \
             CAST(0 AS BIGINT) AS observed_to, newest_time, licensed, expires, checksum"
        }
    }
}

/// The columns of a joined row `l`, with the prefix `live_`.
pub(crate) const fn joined_columns(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => {
            "l.last_seen AS live_last_seen, l.protocol AS live_protocol, l.reported_model AS live_reported_model, \
             l.proposed_zone_minutes AS live_proposed_zone_minutes, l.rhythm AS live_rhythm, l.doubt AS live_doubt, \
             l.packed_to AS live_packed_to, l.observed_to AS live_observed_to, NULL AS live_newest_time, \
             NULL AS live_licensed, NULL AS live_expires, l.checksum AS live_checksum"
        }
        Engine::Postgres => {
            "l.last_seen AS live_last_seen, l.protocol AS live_protocol, l.reported_model AS live_reported_model, \
             l.proposed_zone_minutes AS live_proposed_zone_minutes, l.rhythm AS live_rhythm, l.doubt AS live_doubt, \
             l.packed_to AS live_packed_to, CAST(0 AS BIGINT) AS live_observed_to, l.newest_time AS live_newest_time, \
             l.licensed AS live_licensed, l.expires AS live_expires, l.checksum AS live_checksum"
        }
    }
}

/// The names of the columns in an answer.
struct Names {
    last_seen: &'static str,
    protocol: &'static str,
    reported_model: &'static str,
    proposed_zone_minutes: &'static str,
    interval: &'static str,
    unconfirmed_jump: &'static str,
    packed_to: &'static str,
    observed_to: &'static str,
    newest_time: &'static str,
    licensed: &'static str,
    expires: &'static str,
    checksum: &'static str,
}

macro_rules! names {
    ($prefix:literal) => {
        Names {
            last_seen: concat!($prefix, "last_seen"),
            protocol: concat!($prefix, "protocol"),
            reported_model: concat!($prefix, "reported_model"),
            proposed_zone_minutes: concat!($prefix, "proposed_zone_minutes"),
            interval: concat!($prefix, "rhythm"),
            unconfirmed_jump: concat!($prefix, "doubt"),
            packed_to: concat!($prefix, "packed_to"),
            observed_to: concat!($prefix, "observed_to"),
            newest_time: concat!($prefix, "newest_time"),
            licensed: concat!($prefix, "licensed"),
            expires: concat!($prefix, "expires"),
            checksum: concat!($prefix, "checksum"),
        }
    };
}

const PLAIN: Names = names!("");
const JOINED: Names = names!("live_");

impl StateRow {
    /// The state of a device that has none yet.
    pub(crate) const fn empty(account: AccountId, device: DeviceId) -> Self {
        Self {
            account,
            device,
            last_seen: None,
            protocol: None,
            reported_model: None,
            proposed_zone_minutes: None,
            interval: Vec::new(),
            unconfirmed_jump: Vec::new(),
            packed_to: 0,
            observed_to: 0,
            newest_time: None,
            licensed: None,
            expires: None,
        }
    }

    /// The checksum of the row. Packing, which changes `packed_to` without reading the rest, adds the difference.
    pub(crate) fn checksum(&self) -> i64 {
        let rest = crc(params![
            self.account,
            self.device,
            self.last_seen,
            self.protocol.as_deref(),
            self.reported_model.as_deref(),
            self.proposed_zone_minutes,
            self.interval.as_slice(),
            self.unconfirmed_jump.as_slice(),
            self.observed_to,
            self.newest_time,
            self.licensed,
            self.expires,
        ]);
        rest.wrapping_add(self.packed_to)
    }

    /// The row, if it matches its stored checksum or has none.
    pub(crate) fn checked(self, kept: Option<i64>) -> Checked {
        if kept.is_some_and(|kept| kept != self.checksum()) {
            return Err(Box::new(damaged(self.account, self.device, "it does not match its checksum")));
        }
        Ok(self)
    }

    /// The state in a row of [`columns`].
    pub(crate) fn of(row: &Row, account: AccountId, device: DeviceId) -> Checked {
        Self::named(row, &PLAIN, account, device)
    }

    /// The state in a row of [`joined_columns`], if there is one. A damaged one is recorded and left out.
    pub(crate) fn joined(damage: &Damage, row: &Row, account: AccountId, device: DeviceId) -> Option<Self> {
        if matches!(row.value(JOINED.packed_to), Ok(Value::Null)) {
            return None;
        }
        Self::named(row, &JOINED, account, device).map_err(|damaged| damage.note(&damaged)).ok()
    }

    fn named(row: &Row, names: &Names, account: AccountId, device: DeviceId) -> Checked {
        let read = || -> std::result::Result<(Self, Option<i64>), DbError> {
            let state = Self {
                account,
                device,
                last_seen: row.opt_timestamp(names.last_seen)?,
                protocol: row.opt_text(names.protocol)?,
                reported_model: row.opt_text(names.reported_model)?,
                proposed_zone_minutes: row.opt_i64(names.proposed_zone_minutes)?,
                interval: row.bytes(names.interval)?,
                unconfirmed_jump: row.bytes(names.unconfirmed_jump)?,
                packed_to: row.i64(names.packed_to)?,
                observed_to: row.i64(names.observed_to)?,
                newest_time: row.opt_timestamp(names.newest_time)?,
                licensed: row.opt_bool(names.licensed)?,
                expires: row.opt_timestamp(names.expires)?,
            };
            Ok((state, row.opt_i64(names.checksum)?))
        };
        match read() {
            Ok((state, kept)) => state.checked(kept),
            Err(error) => Err(Box::new(damaged(account, device, describe(&error)))),
        }
    }

    pub(crate) async fn save(&self, tx: &Tx) -> Result<()> {
        save_all(tx, std::slice::from_ref(self)).await
    }

    fn values(&self, engine: Engine) -> Vec<Value> {
        let mut values = params![
            self.account,
            self.device,
            self.last_seen,
            self.protocol.as_deref(),
            self.reported_model.as_deref(),
            self.proposed_zone_minutes,
            self.interval.as_slice(),
            self.unconfirmed_jump.as_slice(),
            self.packed_to,
            self.checksum(),
        ]
        .to_vec();
        match engine {
            Engine::Sqlite => values.push(Value::from(self.observed_to)),
            // `last_seen` is not nullable there.
            Engine::Postgres => {
                values[2] = Value::from(self.last_seen.unwrap_or(Timestamp::from_millis(0)));
                values.extend_from_slice(params![self.newest_time, self.licensed, self.expires]);
            }
        }
        values
    }
}

fn damaged(account: AccountId, device: DeviceId, reason: impl std::fmt::Display) -> Damaged {
    Damaged::new(Table::DeviceState, reason).of(account, Some(device))
}

/// Writes rows. The caller has locked them.
pub(crate) async fn save_all(tx: &Tx, rows: &[StateRow]) -> Result<()> {
    let own = match tx.engine() {
        Engine::Sqlite => vec!["observed_to"],
        Engine::Postgres => vec!["newest_time", "licensed", "expires"],
    };
    let mut columns = vec![
        "last_seen",
        "protocol",
        "reported_model",
        "proposed_zone_minutes",
        "rhythm",
        "doubt",
        "packed_to",
        "checksum",
    ];
    columns.extend(own);
    let head = format!("INSERT INTO device_live (account_id, device_id, {})", columns.join(", "));
    let set: Vec<String> = columns.iter().map(|column| format!("{column} = excluded.{column}")).collect();
    let tail = format!("ON CONFLICT (account_id, device_id) DO UPDATE SET {}", set.join(", "));
    let rows: Vec<Vec<Value>> = rows.iter().map(|row| row.values(tx.engine())).collect();
    insert_many(tx, &head, &rows, &tail).await?;
    Ok(())
}

/// The rows of these devices, where they exist.
pub(crate) async fn read_all(
    tx: &Tx,
    account: AccountId,
    devices: &[i64],
) -> Result<HashMap<DeviceId, Checked>> {
    select(tx, account, devices, "").await
}

/// Locks and reads the rows of these devices, where they exist. Damaged rows are rebuilt.
pub(crate) async fn lock_all(
    tx: &Tx,
    account: AccountId,
    devices: &[i64],
) -> Result<HashMap<DeviceId, StateRow>> {
    let mut devices = devices.to_vec();
    devices.sort_unstable();
    let found = select(tx, account, &devices, tx.row_lock(RowLock::NoKeyUpdate)).await?;
    let mut sound = HashMap::with_capacity(found.len());
    for (device, checked) in found {
        let state = match checked {
            Ok(state) => state,
            Err(damaged) => rebuild(tx, &damaged, account, device).await?,
        };
        sound.insert(device, state);
    }
    Ok(sound)
}

async fn select(
    tx: &Tx,
    account: AccountId,
    devices: &[i64],
    lock: &str,
) -> Result<HashMap<DeviceId, Checked>> {
    let columns = columns(tx.engine());
    let sql = format!(
        "SELECT device_id, {columns} FROM device_live WHERE account_id = ?1 AND device_id IN ({{ids}}) \
         ORDER BY device_id {lock}"
    );
    let mut found = HashMap::with_capacity(devices.len());
    for row in for_ids(tx, &sql, params![account], devices).await? {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        found.insert(device, StateRow::of(&row, account, device));
    }
    Ok(found)
}

/// The state of a device. If its row is damaged, the state is derived from the device's locations.
pub(crate) async fn read(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Option<StateRow>> {
    match read_all(tx, account, &[device.as_i64()]).await?.remove(&device) {
        None => Ok(None),
        Some(Ok(state)) => Ok(Some(state)),
        Some(Err(damaged)) => {
            tx.damage().note(&damaged);
            derive(tx, account, device).await.map(Some)
        }
    }
}

/// Locks the state of a device and reads it; a damaged one is rebuilt. `None` if the device does not exist.
pub(crate) async fn lock(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Option<StateRow>> {
    let lock = tx.row_lock(RowLock::NoKeyUpdate);
    // Locks the device too, because there may be no state yet.
    let sql = format!("SELECT id FROM device WHERE account_id = ?1 AND id = ?2 {lock}");
    if tx.query_opt(&sql, params![account, device]).await?.is_none() {
        return Ok(None);
    }
    let columns = columns(tx.engine());
    let sql = format!("SELECT {columns} FROM device_live WHERE account_id = ?1 AND device_id = ?2 {lock}");
    let Some(row) = tx.query_opt(&sql, params![account, device]).await? else {
        return Ok(Some(StateRow::empty(account, device)));
    };
    match StateRow::of(&row, account, device) {
        Ok(state) => Ok(Some(state)),
        Err(damaged) => rebuild(tx, &damaged, account, device).await.map(Some),
    }
}
