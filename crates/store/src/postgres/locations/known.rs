//! The devices of a batch, read in one round trip after they are locked.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bytes::Bytes;
use futures_util::future::{try_join, try_join3, try_join4};
use perigee_core::access::actor::Reach;
use perigee_core::accounts::license::{DeviceState, License};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::locations::location::{Fix, JumpDetector, Latitude, Longitude, Trust, UnconfirmedJump};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use tokio_postgres::types::{FromSql, ToSql};

use super::numbers::{self, ANNOUNCE, DRAW};
use super::seen_states::SeenStates;
use crate::batch_statement::BatchStatement;
use crate::codec::Point;
use crate::damage::Damaged;
use crate::error::{DbError, describe};
use crate::postgres::account_lock::beside_key;
use crate::postgres::{Session, bind};
use crate::row::Row;
use crate::sql::locations::state_row::StateRow;
use crate::sql::locations::{Admission, Submission, check_last};
use crate::tx::Tx;

/// Whether the locks of an account are free: they are taken if so. All submissions share its first lock, which changes
/// that they rely on take exclusively; those with alerts also take the second one, which excludes other changes.
macro_rules! try_account {
    ($account:literal) => {
        concat!(
            "CASE WHEN has_alerts AND NOT pg_try_advisory_xact_lock(",
            beside_key!($account),
            ") THEN FALSE ELSE pg_try_advisory_xact_lock_shared(",
            $account,
            ") END"
        )
    };
}

/// Takes the locks of accounts as far as they are free, because waiting for one of them would block the others.
const TRY_ACCOUNTS: &str = concat!(
    "SELECT id, ",
    try_account!("id"),
    " FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BOOLEAN[])) AS w (id, has_alerts)"
);

/// Like [`TRY_ACCOUNTS`], for one account, whose lock it waits for.
const WAIT_ACCOUNTS: &str = concat!(
    "SELECT id, CASE WHEN has_alerts THEN pg_advisory_xact_lock(",
    beside_key!("id"),
    ") IS NOT NULL ELSE TRUE END AND pg_advisory_xact_lock_shared(id) IS NOT NULL \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BOOLEAN[])) AS w (id, has_alerts)"
);

/// How long a submission waits for the lock of its account before it is tried again later.
const WAIT: &str = "SELECT set_config('lock_timeout', '250ms', true)";

/// Locks devices that have no row in `device_live` yet. Submissions of a device exclude each other by locking its row
/// in `device_live`, or its row in `device` before that exists. Only rows of accounts whose lock was taken are
/// locked, and rows that others have locked are skipped. On a cluster the lock of the account is on the coordinator and
/// was taken before.
const FIRST: BatchStatement = BatchStatement {
    any_account: concat!(
        "SELECT d.account_id, d.id FROM (SELECT account_id, id, ",
        try_account!("account_id"),
        " AS is_locked \
        FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BOOLEAN[])) AS w (account_id, id, has_alerts) \
        OFFSET 0) w \
    JOIN device d ON d.account_id = w.account_id AND d.id = w.id \
    WHERE w.is_locked \
    AND NOT EXISTS (SELECT 1 FROM device_live v WHERE v.account_id = w.account_id AND v.device_id = w.id) \
    ORDER BY d.account_id, d.id FOR NO KEY UPDATE OF d SKIP LOCKED"
    ),
    one_account: "SELECT d.account_id, d.id FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BOOLEAN[])) AS w (id, has_alerts) \
    JOIN device d ON d.account_id = (CAST($1 AS BIGINT[]))[1] AND d.id = w.id \
    WHERE NOT EXISTS (SELECT 1 FROM device_live v \
        WHERE v.account_id = (CAST($1 AS BIGINT[]))[1] AND v.device_id = w.id) \
    ORDER BY d.account_id, d.id FOR NO KEY UPDATE OF d SKIP LOCKED",
};

macro_rules! live {
    ($devices:expr, $account:literal) => {
        concat!(
            "SELECT v.* FROM ",
            $devices,
            " CROSS JOIN LATERAL ( ",
            "SELECT account_id, device_id, newest_time, rhythm, doubt, last_number, last_time, last_received_at, ",
            "last_latitude, last_longitude, last_late, last_readings, last_checksum, licensed, expires, packed_to, ",
            "last_seen, protocol, reported_model, proposed_zone_minutes, checksum ",
            "FROM device_live v WHERE ",
            $account,
            " AND v.device_id = w.id FOR NO KEY UPDATE SKIP LOCKED) v"
        )
    };
}

/// Locks and reads the states of devices, one after the other in the order of the arrays. The arrays are sub-selects
/// so that the planner does not see their length: for a few devices it would plan again each time, which takes longer
/// than the statement. A cluster plans each statement anyway.
const LIVE: BatchStatement = BatchStatement {
    any_account: live!(
        concat!(
            "(SELECT account_id, id, ",
            try_account!("account_id"),
            " AS is_locked \
        FROM unnest((SELECT CAST($1 AS BIGINT[])), (SELECT CAST($2 AS BIGINT[])), (SELECT CAST($3 AS BOOLEAN[]))) \
            AS w (account_id, id, has_alerts) OFFSET 0) w"
        ),
        "w.is_locked AND v.account_id = w.account_id"
    ),
    one_account: live!(
        "unnest(CAST($2 AS BIGINT[]), CAST($3 AS BOOLEAN[])) AS w (id, has_alerts)",
        "v.account_id = (CAST($1 AS BIGINT[]))[1]"
    ),
};

/// The position of the licence in a row of [`LIVE`].
const LICENSE: usize = 13;
/// The position of the checksum of the state in a row of [`LIVE`].
const CHECKSUM: usize = 20;

/// Reads devices whose licence is not copied to their state. Each is found as the first device at or after its key,
/// for which only the primary key can be used. With a condition on an equal key, a planner without statistics, as
/// after an import, may use another index and read all devices of the account.
const DEVICES: BatchStatement = BatchStatement {
    any_account: "SELECT d.account_id, d.id, d.licensed, d.expires \
    FROM unnest((SELECT CAST($1 AS BIGINT[])), (SELECT CAST($2 AS BIGINT[]))) AS w (account_id, id) \
    CROSS JOIN LATERAL ( \
        SELECT account_id, id, licensed, expires FROM device e \
        WHERE (e.account_id, e.id) >= (w.account_id, w.id) ORDER BY e.account_id, e.id LIMIT 1) d \
    WHERE d.account_id = w.account_id AND d.id = w.id",
    one_account: "SELECT d.account_id, d.id, d.licensed, d.expires FROM unnest(CAST($2 AS BIGINT[])) AS w (id) \
    CROSS JOIN LATERAL ( \
        SELECT account_id, id, licensed, expires FROM device e \
        WHERE e.account_id = (CAST($1 AS BIGINT[]))[1] AND e.id >= w.id ORDER BY e.account_id, e.id LIMIT 1) d \
    WHERE d.id = w.id",
};

/// Like [`DEVICES`], the identifiers of devices that submissions name by one. Run after the locks of the accounts are
/// taken, so that it sees every change that was confirmed before: a change needs the exclusive lock.
const NAMES: BatchStatement = BatchStatement {
    any_account: "SELECT d.account_id, d.id, d.identifier \
    FROM unnest((SELECT CAST($1 AS BIGINT[])), (SELECT CAST($2 AS BIGINT[]))) AS w (account_id, id) \
    CROSS JOIN LATERAL ( \
        SELECT account_id, id, identifier FROM device e \
        WHERE (e.account_id, e.id) >= (w.account_id, w.id) ORDER BY e.account_id, e.id LIMIT 1) d \
    WHERE d.account_id = w.account_id AND d.id = w.id",
    one_account: "SELECT d.account_id, d.id, d.identifier FROM unnest(CAST($2 AS BIGINT[])) AS w (id) \
    CROSS JOIN LATERAL ( \
        SELECT account_id, id, identifier FROM device e \
        WHERE e.account_id = (CAST($1 AS BIGINT[]))[1] AND e.id >= w.id ORDER BY e.account_id, e.id LIMIT 1) d \
    WHERE d.id = w.id",
};

const MEMBERS: BatchStatement = BatchStatement {
    any_account: "SELECT m.account_id, m.group_id, m.device_id \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) \
        AS w (account_id, group_id, device_id) \
    JOIN group_member m USING (account_id, group_id, device_id)",
    one_account: "SELECT m.account_id, m.group_id, m.device_id \
    FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS w (group_id, device_id) \
    JOIN group_member m USING (group_id, device_id) WHERE m.account_id = (CAST($1 AS BIGINT[]))[1]",
};

/// The statements of a batch, in the form for this session.
fn statements(session: &Session, lock_accounts: &'static str) -> [&'static str; 8] {
    let [first, live, devices, names, members] =
        [FIRST, LIVE, DEVICES, NAMES, MEMBERS].map(|each| each.of(session.is_distributed()));
    [lock_accounts, first, live, devices, names, members, ANNOUNCE, DRAW]
}

/// The state of a device before the batch.
pub(super) struct Device {
    pub(super) license: License,
    active: bool,
    /// Whether its licence is found to be expired for the first time.
    pub(super) lapsed: bool,
    /// Its row in `device_live`; empty if there is none.
    pub(super) state: StateRow,
    pub(super) jump_detector: JumpDetector,
}

/// A device whose row does not match its checksum, and its last location.
pub(super) struct DamagedDevice {
    pub(super) key: Key,
    pub(super) damaged: Box<Damaged>,
    last: Option<Fix>,
}

/// The devices of a batch.
pub(super) struct Known {
    pub(super) devices: HashMap<(AccountId, DeviceId), Device>,
    /// Devices that are locked by others.
    locked: HashSet<Key>,
    /// Accounts whose lock this batch holds.
    held: HashSet<i64>,
    members: HashSet<(AccountId, GroupId, DeviceId)>,
    /// The identifiers of the devices that submissions name by one.
    identifiers: HashMap<Key, String>,
}

impl Known {
    /// Adds a device whose row was rebuilt.
    pub(super) fn add_rebuilt(&mut self, now: Timestamp, device: &DamagedDevice, state: StateRow) {
        // The licence is read with the rest; a device without one does not exist.
        if let Some(licensed) = state.licensed {
            let mut rebuilt = Device::new(device.key, License { licensed, expires: state.expires }, now);
            rebuilt.jump_detector.last = device.last;
            rebuilt.state = state;
            self.devices.insert(device.key, rebuilt);
        }
    }

    pub(super) fn admission(&self, submission: &Submission) -> Admission {
        let Submission { scope, device, identifier, .. } = submission;
        let is_visible = match scope.reach {
            Reach::Account => true,
            Reach::Group(group) => self.members.contains(&(scope.account, group, *device)),
            Reach::Device(own) => own == *device,
        };
        let key = (scope.account, *device);
        if !self.held.contains(&scope.account.as_i64()) || self.locked.contains(&key) {
            return Admission::Locked;
        }
        if identifier.is_some() && identifier.as_deref() != self.identifiers.get(&key).map(String::as_str) {
            return Admission::Renamed;
        }
        match self.devices.get(&key) {
            Some(device) if is_visible && device.active => Admission::Active,
            Some(_) if is_visible => Admission::Expired,
            _ => Admission::NotVisible,
        }
    }
}

/// The answers of the statements that begin a batch.
pub(super) struct Answers {
    /// The accounts, and whether their lock was taken.
    accounts: Vec<tokio_postgres::Row>,
    /// Devices without a state that are locked.
    first: Vec<tokio_postgres::Row>,
    /// Devices that were not seen to have a state with a licence, as far as they exist.
    devices: Vec<tokio_postgres::Row>,
    live: Vec<tokio_postgres::Row>,
    members: Vec<tokio_postgres::Row>,
    /// Devices that submissions name by an identifier, as far as they exist.
    names: Vec<tokio_postgres::Row>,
    drawn: Vec<tokio_postgres::Row>,
    /// The devices of the batch that were seen to have a state with a licence.
    seen: BTreeSet<(i64, i64)>,
}

/// Prepares the statements of a batch, so that none needs a separate round trip later.
pub(super) async fn prepare(session: &Session) -> std::result::Result<(), DbError> {
    session.prepare_native(statements(session, TRY_ACCOUNTS)).await.map(drop)
}

/// Locks the accounts, locks and reads the devices, and draws log numbers. The statements are pipelined; the server
/// executes them in order, and each sees what was committed before it began.
pub(super) async fn read_devices(
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
) -> std::result::Result<Answers, DbError> {
    read_devices_with(session, submissions, seen_states, TRY_ACCOUNTS).await
}

/// Like [`read_devices`], for submissions of one account whose lock was not free: waits for it briefly.
pub(super) async fn wait_and_read_devices(
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
) -> std::result::Result<Answers, DbError> {
    let [wait] = session.prepare_native([WAIT]).await?;
    session.run(&wait, &[]).await?;
    read_devices_with(session, submissions, seen_states, WAIT_ACCOUNTS).await
}

async fn read_devices_with(
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
    lock_accounts: &'static str,
) -> std::result::Result<Answers, DbError> {
    let (accounts, has_alerts) = accounts(submissions);
    let devices: BTreeSet<(i64, i64)> =
        submissions.iter().map(|each| (each.scope.account.as_i64(), each.device.as_i64())).collect();
    let (of_account, device): (Vec<i64>, Vec<i64>) = devices.iter().copied().unzip();
    let (seen, first) = seen_states.split(devices);
    let (first_account, first_device): (Vec<i64>, Vec<i64>) = first.iter().copied().unzip();
    let carries_alerts = |account: &i64| {
        accounts
            .iter()
            .position(|each| each == account)
            .is_some_and(|index| has_alerts.get(index) == Some(&true))
    };
    let device_has_alerts: Vec<bool> = of_account.iter().map(carries_alerts).collect();
    let first_has_alerts: Vec<bool> = first_account.iter().map(carries_alerts).collect();
    let [groups_account, groups, groups_device] = memberships(submissions);
    let blocks = numbers::blocks(submissions.iter().map(|each| each.locations.len()).sum());

    let (named_account, named_device) = named(submissions);

    let [lock_accounts, lock_first, live, find, names, belong, announce, draw] =
        session.prepare_native(statements(session, lock_accounts)).await?;
    let params_of_accounts: [&(dyn ToSql + Sync); 2] = [&accounts, &has_alerts];
    let mut taken = None;
    if session.is_distributed() {
        // The rows are locked on another server, which does not know whether the account's lock was taken.
        let rows = session.run(&lock_accounts, &params_of_accounts).await?;
        let answers = Answers { accounts: rows, ..Answers::none() };
        if answers.held()?.is_empty() {
            return Ok(answers);
        }
        taken = Some(answers.accounts);
    }
    let names = async {
        if named_device.is_empty() {
            return Ok(Vec::new());
        }
        session.run(&names, &[&named_account, &named_device]).await
    };
    let members = async {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        session.run(&belong, &[&groups_account, &groups, &groups_device]).await
    };
    let numbers = async {
        if blocks == 0 {
            return Ok(Vec::new());
        }
        // As late as possible, because readers of the log do not read beyond an announced number.
        let (_announced, drawn) =
            try_join(session.run(&announce, &[]), session.run(&draw, &[&blocks])).await?;
        Ok(drawn)
    };
    let keys_first: [&(dyn ToSql + Sync); 2] = [&first_account, &first_device];
    let lock_keys: [&(dyn ToSql + Sync); 3] = [&first_account, &first_device, &first_has_alerts];
    let of_first = async |statement, keys: &[&(dyn ToSql + Sync)]| {
        if first_device.is_empty() {
            return Ok(Vec::new());
        }
        session.run(statement, keys).await
    };
    let keys: [&(dyn ToSql + Sync); 3] = [&of_account, &device, &device_has_alerts];
    let lock = async {
        let lock_accounts = async {
            match taken {
                Some(rows) => Ok(rows),
                None => session.run(&lock_accounts, &params_of_accounts).await,
            }
        };
        try_join3(lock_accounts, of_first(&lock_first, &lock_keys), session.run(&live, &keys)).await
    };
    let ((accounts, first, live), devices, (names, members), drawn) =
        try_join4(lock, of_first(&find, &keys_first), try_join(names, members), numbers).await?;
    Ok(Answers { accounts, first, devices, live, members, names, drawn, seen })
}

impl Answers {
    fn none() -> Self {
        let none = Vec::new;
        let [accounts, first, devices, live, members, names, drawn] =
            [none(), none(), none(), none(), none(), none(), none()];
        Self { accounts, first, devices, live, members, names, drawn, seen: BTreeSet::new() }
    }

    /// The accounts whose lock was taken.
    fn held(&self) -> std::result::Result<HashSet<i64>, DbError> {
        let mut held = HashSet::with_capacity(self.accounts.len());
        for row in &self.accounts {
            if get(row, 1)? {
                held.insert(get(row, 0)?);
            }
        }
        Ok(held)
    }

    /// Whether these submissions are of one account only, and its lock is not free.
    pub(super) fn is_account_locked(&self) -> Result<bool> {
        Ok(self.accounts.len() == 1 && self.held()?.is_empty())
    }

    /// Devices that had a state with a licence when they were last read, and have none now: the device was deleted,
    /// others have locked the state, or the database lost a commit.
    pub(super) fn missing(&self) -> Result<Vec<(i64, i64)>> {
        let held = self.held()?;
        let mut found = HashSet::with_capacity(self.live.len());
        for row in &self.live {
            if get::<Option<bool>>(row, LICENSE)?.is_some() {
                found.insert((get(row, 0)?, get(row, 1)?));
            }
        }
        let is_missing = |device: &(i64, i64)| held.contains(&device.0) && !found.contains(device);
        Ok(self.seen.iter().copied().filter(is_missing).collect())
    }

    /// The devices before the batch, those of them that are damaged, and the numbers for its locations in ascending
    /// order.
    pub(super) fn read(
        self,
        tx: &Tx,
        seen_states: &SeenStates,
    ) -> Result<(Known, Vec<DamagedDevice>, impl Iterator<Item = i64>)> {
        let held = self.held()?;
        let (mut devices, mut locked) = (HashMap::with_capacity(self.live.len()), HashSet::new());
        for row in &self.devices {
            devices.insert(key(row)?, Device::new(key(row)?, license(row, 2)?, tx.now()));
            locked.insert(key(row)?);
        }
        for row in &self.first {
            locked.remove(&key(row)?);
        }
        let mut with_license = Vec::with_capacity(self.live.len());
        let mut damaged_devices = Vec::new();
        for row in &self.live {
            let (key, last) = (key(row)?, last(tx, key(row)?, row)?);
            locked.remove(&key);
            let state = match state(key, row)?.checked(get(row, CHECKSUM)?) {
                Ok(state) => state,
                Err(damaged) => {
                    devices.remove(&key);
                    damaged_devices.push(DamagedDevice { key, damaged, last });
                    continue;
                }
            };
            if let Some(licensed) = state.licensed {
                let license = License { licensed, expires: state.expires };
                devices.insert(key, Device::new(key, license, tx.now()));
                with_license.push((key.0.as_i64(), key.1.as_i64()));
            }
            if let Some(device) = devices.get_mut(&key) {
                let unconfirmed = UnconfirmedJump::from_bytes(&state.unconfirmed_jump);
                device.jump_detector = JumpDetector { last, unconfirmed };
                device.state = state;
            }
        }
        devices.retain(|key, _| !locked.contains(key));
        seen_states.add(with_license);
        let members = bind::read(&self.members)?.iter().map(member).collect::<Result<_>>()?;
        let identifiers = self.names.iter().map(name).collect::<Result<_>>()?;
        let drawn = self.drawn.iter().map(|row| get(row, 0)).collect::<std::result::Result<_, _>>()?;
        Ok((Known { devices, locked, held, members, identifiers }, damaged_devices, numbers::numbers(drawn)))
    }
}

/// The accounts of a batch, and whether it stores alerts of each.
fn accounts(submissions: &[Submission]) -> (Vec<i64>, Vec<bool>) {
    let mut accounts: BTreeMap<i64, bool> = BTreeMap::new();
    for submission in submissions {
        *accounts.entry(submission.scope.account.as_i64()).or_default() |= submission.attached.is_some();
    }
    accounts.into_iter().unzip()
}

/// The devices that submissions name by an identifier, as columns: accounts and devices.
fn named(submissions: &[Submission]) -> (Vec<i64>, Vec<i64>) {
    let named = submissions.iter().filter(|submission| submission.identifier.is_some());
    let devices: BTreeSet<(i64, i64)> =
        named.map(|each| (each.scope.account.as_i64(), each.device.as_i64())).collect();
    devices.into_iter().unzip()
}

/// The group memberships to check, as columns: accounts, groups and devices.
fn memberships(submissions: &[Submission]) -> [Vec<i64>; 3] {
    let mut columns = [const { Vec::new() }; 3];
    for Submission { scope, device, .. } in submissions {
        if let Reach::Group(group) = scope.reach {
            columns[0].push(scope.account.as_i64());
            columns[1].push(group.as_i64());
            columns[2].push(device.as_i64());
        }
    }
    columns
}

type Key = (AccountId, DeviceId);

/// The value in this column, counted from 0.
fn get<'r, T: FromSql<'r>>(row: &'r tokio_postgres::Row, position: usize) -> std::result::Result<T, DbError> {
    row.try_get(position).map_err(|error| DbError::internal(describe(&error)))
}

fn key(row: &tokio_postgres::Row) -> Result<Key> {
    Ok((AccountId::from_i64(get(row, 0)?), DeviceId::from_i64(get(row, 1)?)))
}

/// A device and its identifier, empty if it has none.
fn name(row: &tokio_postgres::Row) -> Result<(Key, String)> {
    Ok((key(row)?, get::<Option<String>>(row, 2)?.unwrap_or_default()))
}

/// The licence in a row, from this position on.
fn license(row: &tokio_postgres::Row, position: usize) -> Result<License> {
    let expires: Option<i64> = get(row, position + 1)?;
    Ok(License { licensed: get(row, position)?, expires: expires.map(Timestamp::from_millis) })
}

impl Device {
    /// A device without a state. The account's latest decision about licences need not be read: licences that had
    /// expired by then were revoked with it.
    fn new(key: Key, license: License, now: Timestamp) -> Self {
        let active = license.state(now) == DeviceState::Active;
        let lapsed = license.licensed && !active;
        let state = StateRow::empty(key.0, key.1);
        Self { license, active, lapsed, state, jump_detector: JumpDetector::default() }
    }
}

/// The state of a device in its row of [`LIVE`], unchecked.
fn state((account, device): Key, row: &tokio_postgres::Row) -> Result<StateRow> {
    let time = |millis: Option<i64>| millis.map(Timestamp::from_millis);
    Ok(StateRow {
        account,
        device,
        last_seen: time(get(row, 16)?),
        protocol: get(row, 17)?,
        reported_model: get(row, 18)?,
        proposed_zone_minutes: get(row, 19)?,
        interval: get(row, 3)?,
        unconfirmed_jump: get(row, 4)?,
        packed_to: get(row, 15)?,
        observed_to: 0,
        newest_time: time(get(row, 2)?),
        licensed: get(row, LICENSE)?,
        expires: time(get(row, LICENSE + 1)?),
    })
}

/// The last location of a device in its row of [`LIVE`]. A damaged one is recorded, and the device has none.
fn last(tx: &Tx, (account, device): Key, row: &tokio_postgres::Row) -> Result<Option<Fix>> {
    let Some(number) = get(row, 5)? else { return Ok(None) };
    let readings: &[u8] = get(row, 11)?;
    let point = Point {
        time: Timestamp::from_millis(get(row, 6)?),
        number,
        received_at: Timestamp::from_millis(get(row, 7)?),
        latitude: Latitude::from_e7(get(row, 8)?),
        longitude: Longitude::from_e7(get(row, 9)?),
        trust: Trust { late: get(row, 10)?, suspect: false },
        readings: Bytes::copy_from_slice(readings),
    };
    let checked = check_last(&point, get(row, 12)?, account, device);
    Ok(checked.map_err(|damaged| tx.damage().note(&damaged)).ok().as_ref().map(Fix::from))
}

fn member(row: &Row) -> Result<(AccountId, GroupId, DeviceId)> {
    Ok((
        AccountId::from_i64(row.i64("account_id")?),
        GroupId::from_i64(row.i64("group_id")?),
        DeviceId::from_i64(row.i64("device_id")?),
    ))
}
