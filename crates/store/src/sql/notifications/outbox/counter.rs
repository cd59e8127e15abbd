//! The daily message counters of devices and their account, while a transaction reserves messages.

use std::collections::{BTreeSet, HashMap};

use perigee_core::day::Date;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::notifications::notification::{Channel, Quota};
use perigee_core::store::Result;

use crate::sql::column;
use crate::sql::devices::limits;
use crate::sql::query::{for_ids, insert_many};
use crate::{Tx, Value, params};

/// The counters of some devices of an account, and of the account itself. The account is locked.
pub(super) struct Counters {
    account: AccountId,
    date: String,
    devices: HashMap<(DeviceId, Channel), DeviceCount>,
    channels: HashMap<Channel, AccountCount>,
}

/// What a device sent by one channel, and how much it may.
struct DeviceCount {
    quota: Quota,
    is_announced: bool,
    taken: Taken,
}

/// The increments of a device's counters in the transaction.
#[derive(Default)]
struct Taken {
    messages: u32,
    segments: u32,
    is_announced: bool,
}

/// The units that the account sent by one channel.
#[derive(Clone, Copy, Default)]
struct AccountCount {
    today: u32,
    this_month: u32,
    taken: u32,
}

impl Taken {
    fn is_nothing(&self) -> bool {
        self.messages == 0 && !self.is_announced
    }
}

impl Counters {
    /// Reads the counters of this day, of these devices and channels.
    pub(super) async fn load(
        tx: &Tx,
        account: AccountId,
        date: Date,
        devices: &[DeviceId],
        channels: &BTreeSet<Channel>,
    ) -> Result<Self> {
        let date = date.to_string();
        let mut counts = HashMap::new();
        let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
        let sql =
            "SELECT id, daily_limits, critical_reserve FROM device WHERE account_id = ?1 AND id IN ({ids})";
        for row in for_ids(tx, sql, params![account], &ids).await? {
            let (device, reserve) = (DeviceId::from_i64(row.i64("id")?), row.int("critical_reserve")?);
            // As for readers of the device, limits that cannot be read are none: an alert must not be lost by damage.
            let limits = limits::read(&row).unwrap_or_default();
            for channel in channels {
                let limit = limits.get(channel).copied().filter(|_| channel.kind().has_device_limit);
                let quota = Quota { limit, reserve, used: 0 };
                let count = DeviceCount { quota, is_announced: false, taken: Taken::default() };
                counts.insert((device, *channel), count);
            }
        }
        let sql = "SELECT device_id, channel, messages, announced FROM device_message_counter \
                   WHERE account_id = ?1 AND date = ?2 AND device_id IN ({ids})";
        for row in for_ids(tx, sql, params![account, &date], &ids).await? {
            let key = (DeviceId::from_i64(row.i64("device_id")?), column::parsed(&row, "channel")?);
            if let Some(count) = counts.get_mut(&key) {
                count.quota.used = row.int("messages")?;
                count.is_announced = row.bool("announced")?;
            }
        }
        let mut of_account = HashMap::new();
        for channel in channels {
            of_account.insert(*channel, account_count(tx, account, *channel, &date).await?);
        }
        Ok(Self { account, date, devices: counts, channels: of_account })
    }

    /// The quota of a device on a channel.
    pub(super) fn quota(&self, device: DeviceId, channel: Channel) -> Option<Quota> {
        Some(self.devices.get(&(device, channel))?.quota)
    }

    /// Units that the account used by a channel, on this day and in its calendar month.
    pub(super) fn units(&self, channel: Channel) -> (u32, u32) {
        self.channels.get(&channel).map_or((0, 0), |count| (count.today, count.this_month))
    }

    /// Counts a message of a device.
    pub(super) fn take(&mut self, device: DeviceId, channel: Channel, segments: u32) {
        if let Some(count) = self.devices.get_mut(&(device, channel)) {
            count.quota.used += 1;
            count.taken.messages += 1;
            count.taken.segments += segments;
        }
        self.take_units(channel, segments);
    }

    /// Counts a message against the caps of the account, whether or not it also counts against a device. E-mail has
    /// counters of its own for that.
    pub(super) fn take_units(&mut self, channel: Channel, segments: u32) {
        let units = channel.kind().units(segments);
        if let Some(count) = self.channels.get_mut(&channel).filter(|_| channel != Channel::EMAIL) {
            count.today += units;
            count.this_month += units;
            count.taken += units;
        }
    }

    /// Marks a reached limit as announced; returns whether it was the first time on this day.
    pub(super) fn mark_announced(&mut self, device: DeviceId, channel: Channel) -> bool {
        let Some(count) = self.devices.get_mut(&(device, channel)) else { return false };
        let first = !count.is_announced;
        count.is_announced = true;
        count.taken.is_announced |= first;
        first
    }

    /// Writes what the transaction added.
    pub(super) async fn save(self, tx: &Tx) -> Result<()> {
        let (account, date) = (self.account, self.date);
        let changed = self.devices.into_iter().filter(|(_, count)| !count.taken.is_nothing());
        let row = |((device, channel), count): ((DeviceId, Channel), DeviceCount)| {
            let Taken { messages, segments, is_announced } = count.taken;
            params![account, device, &date, channel.name(), messages, segments, is_announced].to_vec()
        };
        let rows: Vec<Vec<Value>> = changed.map(row).collect();
        let head = "INSERT INTO device_message_counter \
                    (account_id, device_id, date, channel, messages, segments, announced)";
        let tail = "ON CONFLICT (account_id, device_id, date, channel) DO UPDATE SET \
                        messages = device_message_counter.messages + excluded.messages, \
                        segments = device_message_counter.segments + excluded.segments, \
                        announced = device_message_counter.announced OR excluded.announced";
        insert_many(tx, head, &rows, tail).await?;
        for (channel, count) in self.channels.into_iter().filter(|(_, count)| count.taken > 0) {
            let sql = "INSERT INTO account_message_counter (account_id, date, channel, units) \
                       VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT (account_id, date, channel) DO UPDATE SET \
                           units = account_message_counter.units + excluded.units";
            tx.execute(sql, params![account, &date, channel.name(), count.taken]).await?;
        }
        Ok(())
    }
}

/// Units that an account used by a channel on this day and in its calendar month.
async fn account_count(tx: &Tx, account: AccountId, channel: Channel, date: &str) -> Result<AccountCount> {
    let month = date.get(..7).unwrap_or(date);
    let sql = "SELECT CAST(COALESCE(SUM(CASE WHEN date = ?2 THEN units ELSE 0 END), 0) AS BIGINT) AS today, \
                   CAST(COALESCE(SUM(units), 0) AS BIGINT) AS month \
               FROM account_message_counter \
               WHERE account_id = ?1 AND date >= ?3 AND date <= ?4 AND channel = ?5";
    let values = params![account, date, format!("{month}-01"), format!("{month}-31"), channel.name()];
    let row = tx.query_one(sql, values).await?;
    Ok(AccountCount { today: row.int("today")?, this_month: row.int("month")?, taken: 0 })
}

/// Uncounts a message that was counted on this date, if the date is still today.
pub(super) async fn uncount(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    channel: Channel,
    (counted_on, today): (&str, Date),
    segments: u32,
) -> Result<()> {
    if counted_on != today.to_string() {
        return Ok(());
    }
    let sql = "UPDATE device_message_counter SET messages = messages - 1, segments = segments - ?5 \
               WHERE account_id = ?1 AND device_id = ?2 AND date = ?3 AND channel = ?4 AND messages > 0";
    tx.execute(sql, params![account, device, counted_on, channel.name(), segments]).await?;
    // E-mail counts against the caps of the account once, at its first attempt.
    let units = if channel == Channel::EMAIL { 0 } else { channel.kind().units(segments) };
    if units > 0 {
        let sql = "UPDATE account_message_counter SET units = units - ?4 \
                   WHERE account_id = ?1 AND date = ?2 AND channel = ?3 AND units >= ?4";
        tx.execute(sql, params![account, counted_on, channel.name(), units]).await?;
    }
    Ok(())
}
