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
use crate::codec::Point;
use crate::damage::Damaged;
use crate::error::{DbError, describe};
use crate::postgres::{Session, bind};
use crate::row::Row;
use crate::sql::locations::state_row::StateRow;
use crate::sql::locations::{Admission, Submission, check_last};
use crate::tx::Tx;

/// Takes the locks of accounts, as far as they are free: who waited for one of them would keep the others waiting. Who changes
/// what submissions rely on takes the lock alone. So does a batch for accounts of which it stores alerts: a lock that is shared
/// cannot be made exclusive later, because two batches would wait for each other.
const TRY_ACCOUNTS: &str = "SELECT id, CASE WHEN alone THEN pg_try_advisory_xact_lock(id) \
        ELSE pg_try_advisory_xact_lock_shared(id) END \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BOOLEAN[])) AS w (id, alone)";

/// The same for one account, for which it waits.
const WAIT_ACCOUNTS: &str = "SELECT id, CASE WHEN alone THEN pg_advisory_xact_lock(id) \
        ELSE pg_advisory_xact_lock_shared(id) END IS NOT NULL \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BOOLEAN[])) AS w (id, alone)";

/// How long a submission waits for the lock of its account before it is tried again later.
const WAIT: &str = "SELECT set_config('lock_timeout', '250ms', true)";

/// Submissions of a device exclude each other by its row in `device_live`, and the first one by that in `device`. Only rows of
/// accounts whose lock is taken are locked, and none is waited for.
const FIRST: &str = "SELECT d.account_id, d.id FROM ( \
        SELECT account_id, id, CASE WHEN alone THEN pg_try_advisory_xact_lock(account_id) \
            ELSE pg_try_advisory_xact_lock_shared(account_id) END AS is_locked \
        FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BOOLEAN[])) AS w (account_id, id, alone) \
        OFFSET 0) w \
    JOIN device d ON d.account_id = w.account_id AND d.id = w.id \
    WHERE w.is_locked \
    AND NOT EXISTS (SELECT 1 FROM device_live v WHERE v.account_id = w.account_id AND v.device_id = w.id) \
    ORDER BY d.account_id, d.id FOR NO KEY UPDATE OF d SKIP LOCKED";

/// Locks and reads, one device after the other in the order of the arrays. They are sub-selects so that the planner does not
/// see their length: for a few devices it would plan anew each time, which takes longer than the statement.
const LIVE: &str = "SELECT v.* FROM ( \
        SELECT account_id, id, CASE WHEN alone THEN pg_try_advisory_xact_lock(account_id) \
            ELSE pg_try_advisory_xact_lock_shared(account_id) END AS is_locked \
        FROM unnest((SELECT CAST($1 AS BIGINT[])), (SELECT CAST($2 AS BIGINT[])), (SELECT CAST($3 AS BOOLEAN[]))) \
            AS w (account_id, id, alone) OFFSET 0) w \
    CROSS JOIN LATERAL ( \
        SELECT account_id, device_id, newest_time, rhythm, doubt, last_number, last_time, last_received_at, \
            last_latitude, last_longitude, last_late, last_readings, last_checksum, licensed, expires, packed_to, \
            last_seen, protocol, reported_model, proposed_zone_minutes, checksum \
        FROM device_live v \
        WHERE w.is_locked AND v.account_id = w.account_id AND v.device_id = w.id \
        FOR NO KEY UPDATE SKIP LOCKED) v";

/// The position of the licence in a row of [`LIVE`].
const LICENSE: usize = 13;
/// And that of the checksum of the state.
const CHECKSUM: usize = 20;

/// Devices whose licence is not beside their state. A device is the first from its key on, which only the primary key can
/// find. Asked for an equal key, a planner without statistics, as after an import, may search all devices of the account by
/// one of the other indexes.
const DEVICES: &str = "SELECT d.account_id, d.id, d.licensed, d.expires \
    FROM unnest((SELECT CAST($1 AS BIGINT[])), (SELECT CAST($2 AS BIGINT[]))) AS w (account_id, id) \
    CROSS JOIN LATERAL ( \
        SELECT account_id, id, licensed, expires FROM device e \
        WHERE (e.account_id, e.id) >= (w.account_id, w.id) ORDER BY e.account_id, e.id LIMIT 1) d \
    WHERE d.account_id = w.account_id AND d.id = w.id";

const MEMBERS: &str = "SELECT m.account_id, m.group_id, m.device_id \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) \
        AS w (account_id, group_id, device_id) \
    JOIN group_member m USING (account_id, group_id, device_id)";

/// The state of a device before the batch.
pub(super) struct Device {
    pub(super) license: License,
    active: bool,
    /// Whether its licence is seen to be expired for the first time.
    pub(super) lapsed: bool,
    /// Its row, or what it is to become.
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
    /// Accounts whose lock is shared.
    shared: HashSet<i64>,
    members: HashSet<(AccountId, GroupId, DeviceId)>,
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

    pub(super) fn admission(&self, Submission { scope, device, .. }: &Submission) -> Admission {
        let in_sight = match scope.reach {
            Reach::Account => true,
            Reach::Group(group) => self.members.contains(&(scope.account, group, *device)),
            Reach::Device(own) => own == *device,
        };
        let key = (scope.account, *device);
        if !self.shared.contains(&scope.account.as_i64()) || self.locked.contains(&key) {
            return Admission::Locked;
        }
        match self.devices.get(&key) {
            Some(device) if in_sight && device.active => Admission::Active,
            Some(_) if in_sight => Admission::Expired,
            _ => Admission::NotVisible,
        }
    }
}

/// What the statements that begin a batch have answered.
pub(super) struct Look {
    /// The accounts, and whether their lock is shared.
    accounts: Vec<tokio_postgres::Row>,
    /// Devices without a state that are locked.
    first: Vec<tokio_postgres::Row>,
    /// Devices that were not seen to have a state with a licence, as far as they exist.
    devices: Vec<tokio_postgres::Row>,
    live: Vec<tokio_postgres::Row>,
    members: Vec<tokio_postgres::Row>,
    drawn: Vec<tokio_postgres::Row>,
    /// The devices of the batch that were seen to have a state with a licence.
    seen: BTreeSet<(i64, i64)>,
}

/// The statements of a batch, so that none needs a round trip of its own later.
pub(super) async fn prepare(session: &Session) -> std::result::Result<(), DbError> {
    session.prepare_native([TRY_ACCOUNTS, FIRST, LIVE, DEVICES, MEMBERS, ANNOUNCE, DRAW]).await.map(drop)
}

/// Locks the accounts, most often shared, locks and reads the devices, and draws log numbers. The statements are pipelined; the
/// server executes them in order, and each sees what was committed before it began.
pub(super) async fn look(
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
) -> std::result::Result<Look, DbError> {
    look_with(session, submissions, seen_states, TRY_ACCOUNTS).await
}

/// The same for submissions of one account, whose lock was not free: waits for it for a moment.
pub(super) async fn wait_and_look(
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
) -> std::result::Result<Look, DbError> {
    let [wait] = session.prepare_native([WAIT]).await?;
    session.run(&wait, &[]).await?;
    look_with(session, submissions, seen_states, WAIT_ACCOUNTS).await
}

async fn look_with(
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
    share: &'static str,
) -> std::result::Result<Look, DbError> {
    let (accounts, alone) = accounts(submissions);
    let devices: BTreeSet<(i64, i64)> =
        submissions.iter().map(|each| (each.scope.account.as_i64(), each.device.as_i64())).collect();
    let (of_account, device): (Vec<i64>, Vec<i64>) = devices.iter().copied().unzip();
    let (seen, first) = seen_states.part(devices);
    let (first_account, first_device): (Vec<i64>, Vec<i64>) = first.iter().copied().unzip();
    let is_alone = |account: &i64| {
        accounts.iter().position(|each| each == account).is_some_and(|place| alone.get(place) == Some(&true))
    };
    let device_alone: Vec<bool> = of_account.iter().map(is_alone).collect();
    let first_alone: Vec<bool> = first_account.iter().map(is_alone).collect();
    let [groups_account, groups, groups_device] = memberships(submissions);
    let blocks = numbers::blocks(submissions.iter().map(|each| each.locations.len()).sum());

    let [share, lock_first, live, find, belong, announce, draw] =
        session.prepare_native([share, FIRST, LIVE, DEVICES, MEMBERS, ANNOUNCE, DRAW]).await?;
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
        // Late, because nobody reads past what is announced.
        let (_announced, drawn) =
            try_join(session.run(&announce, &[]), session.run(&draw, &[&blocks])).await?;
        Ok(drawn)
    };
    let keys_first: [&(dyn ToSql + Sync); 2] = [&first_account, &first_device];
    let lock_keys: [&(dyn ToSql + Sync); 3] = [&first_account, &first_device, &first_alone];
    let of_first = async |statement, keys: &[&(dyn ToSql + Sync)]| {
        if first_device.is_empty() {
            return Ok(Vec::new());
        }
        session.run(statement, keys).await
    };
    let keys: [&(dyn ToSql + Sync); 3] = [&of_account, &device, &device_alone];
    let lock = async {
        let accounts: [&(dyn ToSql + Sync); 2] = [&accounts, &alone];
        try_join3(
            session.run(&share, &accounts),
            of_first(&lock_first, &lock_keys),
            session.run(&live, &keys),
        )
        .await
    };
    let ((accounts, first, live), devices, members, drawn) =
        try_join4(lock, of_first(&find, &keys_first), members, numbers).await?;
    Ok(Look { accounts, first, devices, live, members, drawn, seen })
}

impl Look {
    /// The accounts whose lock is shared.
    fn shared(&self) -> Result<HashSet<i64>> {
        let mut shared = HashSet::with_capacity(self.accounts.len());
        for row in &self.accounts {
            if get(row, 1)? {
                shared.insert(get(row, 0)?);
            }
        }
        Ok(shared)
    }

    /// Whether these submissions are of one account only, and its lock is not free.
    pub(super) fn is_shut_out(&self) -> Result<bool> {
        Ok(self.accounts.len() == 1 && self.shared()?.is_empty())
    }

    /// Devices that were seen to have a state with a licence and have none: they were deleted, others have locked it, or the
    /// database lost what was committed.
    pub(super) fn missing(&self) -> Result<Vec<(i64, i64)>> {
        let shared = self.shared()?;
        let mut found = HashSet::with_capacity(self.live.len());
        for row in &self.live {
            if get::<Option<bool>>(row, LICENSE)?.is_some() {
                found.insert((get(row, 0)?, get(row, 1)?));
            }
        }
        let is_missing = |device: &(i64, i64)| shared.contains(&device.0) && !found.contains(device);
        Ok(self.seen.iter().copied().filter(is_missing).collect())
    }

    /// The devices before the batch, those of them that are damaged, and the numbers for its locations in ascending order.
    pub(super) fn read(
        self,
        tx: &Tx,
        seen_states: &SeenStates,
    ) -> Result<(Known, Vec<DamagedDevice>, impl Iterator<Item = i64>)> {
        let shared = self.shared()?;
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
                let unconfirmed = UnconfirmedJump::from_bytes(&state.doubt);
                device.jump_detector = JumpDetector { last, unconfirmed };
                device.state = state;
            }
        }
        devices.retain(|key, _| !locked.contains(key));
        seen_states.add(with_license);
        let members = bind::read(&self.members)?.iter().map(member).collect::<Result<_>>()?;
        let drawn = self.drawn.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
        Ok((Known { devices, locked, shared, members }, damaged_devices, numbers::numbers(drawn)))
    }
}

/// The accounts of a batch, and whether the lock of each is taken alone.
fn accounts(submissions: &[Submission]) -> (Vec<i64>, Vec<bool>) {
    let mut accounts: BTreeMap<i64, bool> = BTreeMap::new();
    for submission in submissions {
        *accounts.entry(submission.scope.account.as_i64()).or_default() |= submission.attached.is_some();
    }
    accounts.into_iter().unzip()
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

/// The value at this position, from 0, of a statement here.
fn get<'r, T: FromSql<'r>>(row: &'r tokio_postgres::Row, position: usize) -> Result<T> {
    Ok(row.try_get(position).map_err(|error| DbError::internal(describe(&error)))?)
}

fn key(row: &tokio_postgres::Row) -> Result<Key> {
    Ok((AccountId::from_i64(get(row, 0)?), DeviceId::from_i64(get(row, 1)?)))
}

/// The licence in a row, from this position on.
fn license(row: &tokio_postgres::Row, position: usize) -> Result<License> {
    let expires: Option<i64> = get(row, position + 1)?;
    Ok(License { licensed: get(row, position)?, expires: expires.map(Timestamp::from_millis) })
}

impl Device {
    /// A device without a state. The account's latest decision about licences need not be read: what had expired by then was
    /// taken back with it.
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
        rhythm: get(row, 3)?,
        doubt: get(row, 4)?,
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
