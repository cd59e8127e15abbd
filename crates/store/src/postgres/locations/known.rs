//! The devices of a batch, read in one round trip under the locks of their accounts.

use std::collections::{BTreeSet, HashMap, HashSet};

use futures_util::future::try_join4;
use perigee_core::actor::Reach;
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::license::{DeviceState, License};
use perigee_core::location::{Fix, JumpDetector, UnconfirmedJump};
use perigee_core::reporting_interval::ReportingInterval;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::error::{DbError, describe};
use crate::postgres::{Session, bind};
use crate::row::Row;
use crate::sql::locations::{Admission, Submission, last_point};
use crate::tx::Tx;

/// In ascending order, which prevents deadlocks between batches.
const LOCK: &str = "SELECT id FROM account WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE";

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

/// The sequence by name: looking it up by its column takes far longer than drawing from it.
const NUMBERS: &str = "SELECT COALESCE(array_agg(nextval('event_number_seq')), '{}') FROM generate_series(1, CAST($1 AS BIGINT))";

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

/// Locks the accounts, reads the devices and draws log numbers in ascending order. The statements are pipelined; the
/// server executes them in order, and each sees what was committed before it began.
pub(super) async fn read(
    tx: &Tx,
    session: &Session,
    submissions: &[Submission],
    count: usize,
) -> Result<(Known, Vec<i64>)> {
    let now = tx.now();
    let accounts: BTreeSet<i64> = submissions.iter().map(|each| each.scope.account.as_i64()).collect();
    let accounts: Vec<i64> = accounts.into_iter().collect();
    let devices: BTreeSet<(i64, i64)> =
        submissions.iter().map(|each| (each.scope.account.as_i64(), each.device.as_i64())).collect();
    let (of_account, devices): (Vec<i64>, Vec<i64>) = devices.into_iter().unzip();
    let [groups_account, groups, groups_device] = memberships(submissions);
    let count = i64::try_from(count).unwrap_or(i64::MAX);

    let [lock, find, belong, draw] = session.prepare_native([LOCK, DEVICES, MEMBERS, NUMBERS]).await?;
    let members = async {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        session.run(&belong, &[&groups_account, &groups, &groups_device]).await
    };
    let (_locked, devices, members, drawn) = try_join4(
        session.run(&lock, &[&accounts]),
        session.run(&find, &[&of_account, &devices]),
        members,
        session.run(&draw, &[&count]),
    )
    .await?;

    let devices = bind::read(&devices)?.iter().map(|row| device(tx, row, now)).collect::<Result<_>>()?;
    let members = bind::read(&members)?.iter().map(member).collect::<Result<_>>()?;
    let mut numbers = list(&drawn)?;
    numbers.sort_unstable();
    Ok((Known { devices, members }, numbers))
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

/// The array of numbers that is the whole result.
fn list(rows: &[tokio_postgres::Row]) -> Result<Vec<i64>> {
    let row = rows.first().ok_or_else(|| DbError::internal("no row where one was expected"))?;
    Ok(row.try_get(0).map_err(|error| DbError::internal(describe(&error)))?)
}
