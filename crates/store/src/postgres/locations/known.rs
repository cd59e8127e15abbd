//! The devices of a batch, read in one round trip after they are locked.

use std::collections::{BTreeSet, HashMap, HashSet};

use futures_util::future::{try_join, try_join3, try_join4};
use perigee_core::actor::Reach;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::license::{DeviceState, License};
use perigee_core::location::{Fix, JumpDetector, UnconfirmedJump};
use perigee_core::reporting_interval::ReportingInterval;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use tokio_postgres::types::ToSql;

use super::numbers::{self, ANNOUNCE, DRAW};
use crate::error::{DbError, describe};
use crate::postgres::{Session, bind};
use crate::row::Row;
use crate::sql::locations::{Admission, Submission, last_point};
use crate::tx::Tx;

/// In ascending order, as all locks here, which prevents deadlocks between batches. Who changes what submissions rely on
/// takes the lock alone.
const ACCOUNTS: &str = "SELECT pg_advisory_xact_lock_shared(id) FROM unnest(CAST($1 AS BIGINT[])) AS w (id)";

/// Submissions of a device wait for each other at its row in `device_live`, and for the first one at that in `device`.
const FIRST: &str = "SELECT d.id FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    JOIN device d ON d.account_id = w.account_id AND d.id = w.id \
    WHERE NOT EXISTS (SELECT 1 FROM device_live v WHERE v.account_id = w.account_id AND v.device_id = w.id) \
    ORDER BY d.account_id, d.id FOR NO KEY UPDATE OF d";
const LIVE: &str = "SELECT v.device_id FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    JOIN device_live v ON v.account_id = w.account_id AND v.device_id = w.id \
    ORDER BY v.account_id, v.device_id FOR NO KEY UPDATE OF v";

const DEVICES: &str = "SELECT d.account_id, d.id, d.licensed, d.expires, a.decided_at, v.newest_time, \
        l.device_id IS NOT NULL AS has_last, l.number, l.time, l.received_at, l.latitude, l.longitude, l.late, \
        FALSE AS suspect, l.readings, l.checksum, v.rhythm, v.doubt \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    JOIN device d ON d.account_id = w.account_id AND d.id = w.id \
    JOIN account a ON a.id = d.account_id \
    LEFT JOIN last_location l ON l.account_id = d.account_id AND l.device_id = d.id \
    LEFT JOIN device_live v ON v.account_id = d.account_id AND v.device_id = d.id";

const MEMBERS: &str = "SELECT m.account_id, m.group_id, m.device_id \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) \
        AS w (account_id, group_id, device_id) \
    JOIN group_member m USING (account_id, group_id, device_id)";

/// The state of a device before the batch.
pub(super) struct Device {
    active: bool,
    /// Whether its licence is seen to be expired for the first time.
    pub(super) lapsed: bool,
    /// No stored location is later than this.
    pub(super) newest: Option<Timestamp>,
    pub(super) rhythm: ReportingInterval,
    pub(super) jump_detector: JumpDetector,
}

/// The devices of a batch.
pub(super) struct Known {
    pub(super) devices: HashMap<(AccountId, DeviceId), Device>,
    members: HashSet<(AccountId, GroupId, DeviceId)>,
}

impl Known {
    pub(super) fn admission(&self, Submission { scope, device, .. }: &Submission) -> Admission {
        let in_sight = match scope.reach {
            Reach::Account => true,
            Reach::Group(group) => self.members.contains(&(scope.account, group, *device)),
            Reach::Device(own) => own == *device,
        };
        match self.devices.get(&(scope.account, *device)) {
            Some(device) if in_sight && device.active => Admission::Active,
            Some(_) if in_sight => Admission::Expired,
            _ => Admission::NotVisible,
        }
    }
}

/// What the statements that begin a batch have answered.
pub(super) struct Look {
    devices: Vec<tokio_postgres::Row>,
    members: Vec<tokio_postgres::Row>,
    drawn: Vec<tokio_postgres::Row>,
}

/// The statements of a batch, so that none needs a round trip of its own later.
pub(super) async fn prepare(session: &Session) -> std::result::Result<(), DbError> {
    session.prepare_native([ACCOUNTS, FIRST, LIVE, DEVICES, MEMBERS, ANNOUNCE, DRAW]).await.map(drop)
}

/// Shares the locks of the accounts, locks and reads the devices, and draws log numbers. The statements are pipelined; the
/// server executes them in order, and each sees what was committed before it began.
pub(super) async fn look(
    session: &Session,
    submissions: &[Submission],
) -> std::result::Result<Look, DbError> {
    let accounts: BTreeSet<i64> = submissions.iter().map(|each| each.scope.account.as_i64()).collect();
    let accounts: Vec<i64> = accounts.into_iter().collect();
    let devices: BTreeSet<(i64, i64)> =
        submissions.iter().map(|each| (each.scope.account.as_i64(), each.device.as_i64())).collect();
    let (of_account, devices): (Vec<i64>, Vec<i64>) = devices.into_iter().unzip();
    let [groups_account, groups, groups_device] = memberships(submissions);
    let blocks = numbers::blocks(submissions.iter().map(|each| each.locations.len()).sum());

    let [share, first, live, find, belong, announce, draw] =
        session.prepare_native([ACCOUNTS, FIRST, LIVE, DEVICES, MEMBERS, ANNOUNCE, DRAW]).await?;
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
    let lock = async {
        let keys: [&(dyn ToSql + Sync); 2] = [&of_account, &devices];
        try_join3(session.run(&share, &[&accounts]), session.run(&first, &keys), session.run(&live, &keys))
            .await
    };
    let keys: [&(dyn ToSql + Sync); 2] = [&of_account, &devices];
    let (_locked, devices, members, drawn) =
        try_join4(lock, session.run(&find, &keys), members, numbers).await?;
    Ok(Look { devices, members, drawn })
}

impl Look {
    /// The devices before the batch, and the numbers for its locations in ascending order.
    pub(super) fn read(self, tx: &Tx) -> Result<(Known, impl Iterator<Item = i64>)> {
        let devices = bind::read(&self.devices)?;
        let devices = devices.iter().map(|row| device(tx, row, tx.now())).collect::<Result<_>>()?;
        let members = bind::read(&self.members)?.iter().map(member).collect::<Result<_>>()?;
        let drawn = self.drawn.iter().map(|row| row.try_get(0)).collect::<std::result::Result<_, _>>();
        let drawn = drawn.map_err(|error| DbError::internal(describe(&error)))?;
        Ok((Known { devices, members }, numbers::numbers(drawn)))
    }
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

fn device(tx: &Tx, row: &Row, now: Timestamp) -> Result<((AccountId, DeviceId), Device)> {
    let key = (AccountId::from_i64(row.i64("account_id")?), DeviceId::from_i64(row.i64("id")?));
    let license = License { licensed: row.bool("licensed")?, expires: row.opt_timestamp("expires")? };
    let active = license.state(now.max(row.timestamp("decided_at")?)) == DeviceState::Active;
    let last = if row.bool("has_last")? { last_point(tx, key.0, key.1, row)? } else { None };
    let last = last.and_then(|point| point.unpack().ok()).as_ref().map(Fix::from);
    let unconfirmed = row.opt_bytes_ref("doubt")?.map(UnconfirmedJump::from_bytes).unwrap_or_default();
    let rhythm = row.opt_bytes_ref("rhythm")?.map(ReportingInterval::from_bytes).unwrap_or_default();
    let newest = row.opt_timestamp("newest_time")?;
    let lapsed = license.licensed && !active;
    Ok((key, Device { active, lapsed, newest, rhythm, jump_detector: JumpDetector { last, unconfirmed } }))
}

fn member(row: &Row) -> Result<(AccountId, GroupId, DeviceId)> {
    Ok((
        AccountId::from_i64(row.i64("account_id")?),
        GroupId::from_i64(row.i64("group_id")?),
        DeviceId::from_i64(row.i64("device_id")?),
    ))
}
