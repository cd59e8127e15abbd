//! A device from its row.

use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::accounts::account::Account;
use perigee_core::accounts::limits::{Counters, Limits};
use perigee_core::day::{Date, Day};
use perigee_core::devices::device::{Device, DeviceSettings};
use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::id::{AccountId, DeviceId, FileId, GroupId, UserId};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::super::{column, ids, scope};
use super::{checksum, limits};
use crate::damage::{Damage, Damaged, Table};
use crate::error::describe;
use crate::sql::locations::Memory;
use crate::sql::locations::state_row::{self, StateRow};
use crate::{Engine, Row, Tx};

/// Every column of a device and of its state; `?1` is the account and `?2` the date of its day.
pub(super) fn select(engine: Engine) -> String {
    format!("SELECT d.*, {}, {}, {REST}", state_row::joined_columns(engine), limits::SENT)
}

const REST: &str = "(SELECT string_agg(CAST(m.group_id AS TEXT), ',' ORDER BY m.group_id) FROM group_member m \
         WHERE m.account_id = ?1 AND m.device_id = d.id) AS group_ids \
    FROM device d \
    LEFT JOIN device_live l ON l.account_id = d.account_id AND l.device_id = d.id \
    WHERE d.account_id = ?1";

/// The context that the devices of one answer share: the reader's scope, and the account's day.
pub(super) struct Frame {
    memory: Option<Arc<dyn Memory>>,
    damage: Arc<Damage>,
    pub(super) scope: Scope,
    pub(super) now: Timestamp,
    day: Day,
    zone: Zone,
}

impl Frame {
    pub(super) fn new(tx: &Tx, account: &Account, scope: Scope) -> Self {
        let (day, zone) = account.day_at(tx.now());
        let (memory, damage) = (tx.memory().cloned(), Arc::clone(tx.damage()));
        Self { memory, damage, scope, now: tx.now(), day, zone: zone.clone() }
    }

    pub(super) fn account(&self) -> AccountId {
        self.scope.account
    }

    /// The date of the account's day, whose counters are read.
    pub(super) fn date(&self) -> String {
        self.day.date.to_string()
    }

    pub(super) fn device(&self, row: &Row) -> Result<Device> {
        let id = DeviceId::from_i64(row.i64("id")?);
        let row = &*checksum::checked(&self.damage, self.account(), id, row);
        let memory = self.memory.as_ref().and_then(|memory| memory.device(self.account(), id));
        let state = StateRow::joined(&self.damage, row, self.account(), id);
        let state = state.unwrap_or_else(|| StateRow::empty(self.account(), id));
        let zone = state.proposed_zone_minutes.and_then(|minutes| minutes.try_into().ok());
        Ok(Device {
            id,
            account: self.account(),
            revision: Revision(row.i64("revision")?),
            settings: self.settings(row)?,
            licensed: row.bool("licensed")?,
            expires: row.opt_timestamp("expires")?,
            counters: self.counters(row)?,
            last_seen: state.last_seen.max(memory.as_ref().and_then(|memory| memory.last_seen)),
            learned_interval_s: match memory {
                Some(memory) => memory.interval.interval_s(),
                None => ReportingInterval::from_bytes(&state.interval).interval_s(),
            },
            protocol: state.protocol,
            reported_model: state.reported_model,
            proposed_zone_minutes: zone,
            photo: row.opt_i64("photo_id")?.map(FileId::from_i64),
            created_by: row.opt_i64("created_by")?.map(UserId::from_i64),
            creation: row.timestamp("creation")?,
            last_modified: row.timestamp("last_modified")?,
        })
    }

    fn settings(&self, row: &Row) -> Result<DeviceSettings> {
        Ok(DeviceSettings {
            identifier: row.opt_text("identifier")?,
            identifiers: self.or_default(row, column::json(row, "identifiers"))?,
            name: row.text("name")?,
            description: row.opt_text("description")?,
            min: row.opt_text("min")?,
            tags: self.or_default(row, column::json(row, "tags"))?,
            icon: row.opt_text("icon")?,
            model: row.opt_text("model")?,
            decoding: self.or_default(row, column::json(row, "decoding"))?,
            groups: self.groups(row)?,
            limits: Limits {
                expiration_date: self.or_default(row, column::opt_parsed::<Date>(row, "expiration_date"))?,
                daily: self.or_default(row, limits::read(row))?,
                critical_reserve: row.int("critical_reserve")?,
            },
            expected_interval_s: row.opt_int("expected_interval_s")?,
            retention_days: row.opt_int("retention_days")?,
        })
    }

    /// The value of a column, or the default if it cannot be read, so that one device does not fail a list of others.
    fn or_default<T: Default>(&self, row: &Row, read: Result<T>) -> Result<T> {
        let id = DeviceId::from_i64(row.i64("id")?);
        Ok(read.unwrap_or_else(|error| {
            self.damage.note(&Damaged::new(Table::Device, describe(&error)).of(self.account(), Some(id)));
            T::default()
        }))
    }

    /// The groups that the reader can see.
    fn groups(&self, row: &Row) -> Result<Vec<GroupId>> {
        let mut groups = ids::listed(row, "group_ids", GroupId::from_i64)?;
        groups.retain(|group| scope::sees_group(self.scope, *group));
        Ok(groups)
    }

    fn counters(&self, row: &Row) -> Result<Counters> {
        Ok(Counters {
            date: self.day.date,
            time_zone: self.zone.clone(),
            sent: limits::sent(row)?,
            resets_at: self.day.ends,
        })
    }
}
