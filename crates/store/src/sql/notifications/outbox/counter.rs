//! The counters of messages that devices and their account have sent on a day, while a transaction reserves more.

use std::collections::HashMap;

use perigee_core::day::Date;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::notifications::notification::{Channel, Quota};
use perigee_core::store::Result;

use crate::sql::query::{for_ids, insert_many};
use crate::{Row, Tx, Value, params};

/// The counters of some devices of an account, and of the account itself. The account is locked.
pub(super) struct Counters {
    account: AccountId,
    date: String,
    devices: HashMap<DeviceId, DeviceCount>,
    /// SMS segments of the day and of the calendar month.
    pub(super) segments: (u32, u32),
    segments_taken: u32,
}

struct DeviceCount {
    emails: Quota,
    sms: Quota,
    emails_told: bool,
    sms_told: bool,
    taken: Taken,
}

/// What the transaction adds to a device's counters.
#[derive(Default)]
struct Taken {
    emails: u32,
    sms: u32,
    segments: u32,
    emails_told: bool,
    sms_told: bool,
}

impl Taken {
    fn is_nothing(&self) -> bool {
        self.emails == 0 && self.sms == 0 && !self.emails_told && !self.sms_told
    }
}

impl Counters {
    /// Reads the counters of this day.
    pub(super) async fn load(tx: &Tx, account: AccountId, date: Date, devices: &[DeviceId]) -> Result<Self> {
        let date = date.to_string();
        let sql = "SELECT d.id, d.daily_emails, d.daily_sms, d.critical_reserve, c.emails_sent, c.sms_sent, \
                       c.emails_told, c.sms_told \
                   FROM device d LEFT JOIN device_counter c \
                       ON c.account_id = d.account_id AND c.device_id = d.id AND c.date = ?2 \
                   WHERE d.account_id = ?1 AND d.id IN ({ids})";
        let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
        let mut counts = HashMap::new();
        for row in for_ids(tx, sql, params![account, &date], &ids).await? {
            counts.insert(DeviceId::from_i64(row.i64("id")?), count(&row)?);
        }
        let segments = segments(tx, account, &date).await?;
        Ok(Self { account, date, devices: counts, segments, segments_taken: 0 })
    }

    /// The quota of a device on a channel.
    pub(super) fn quota(&self, device: DeviceId, channel: Channel) -> Option<Quota> {
        let count = self.devices.get(&device)?;
        Some(match channel {
            Channel::Email => count.emails,
            Channel::Sms => count.sms,
        })
    }

    /// Counts a message of a device.
    pub(super) fn take(&mut self, device: DeviceId, channel: Channel, segments: u32) {
        let Some(count) = self.devices.get_mut(&device) else { return };
        match channel {
            Channel::Email => {
                count.emails.used += 1;
                count.taken.emails += 1;
            }
            Channel::Sms => {
                count.sms.used += 1;
                count.taken.sms += 1;
                count.taken.segments += segments;
                self.take_segments(segments);
            }
        }
    }

    /// Counts segments of the account: of an SMS of a device, or of one that counts against none.
    pub(super) fn take_segments(&mut self, segments: u32) {
        self.segments_taken += segments;
        self.segments = (self.segments.0 + segments, self.segments.1 + segments);
    }

    /// Marks a reached limit as announced; says whether it was the first time on this day.
    pub(super) fn mark_announced(&mut self, device: DeviceId, channel: Channel) -> bool {
        let Some(count) = self.devices.get_mut(&device) else { return false };
        let (told, taken) = match channel {
            Channel::Email => (&mut count.emails_told, &mut count.taken.emails_told),
            Channel::Sms => (&mut count.sms_told, &mut count.taken.sms_told),
        };
        let first = !*told;
        (*told, *taken) = (true, *taken || first);
        first
    }

    /// Writes what the transaction added.
    pub(super) async fn save(self, tx: &Tx) -> Result<()> {
        let (account, date) = (self.account, self.date);
        let changed = self.devices.into_iter().filter(|(_, count)| !count.taken.is_nothing());
        let row = |(device, count): (DeviceId, DeviceCount)| {
            let Taken { emails, sms, segments, emails_told, sms_told } = count.taken;
            params![account, device, &date, emails, sms, segments, emails_told, sms_told].to_vec()
        };
        let rows: Vec<Vec<Value>> = changed.map(row).collect();
        let head = "INSERT INTO device_counter \
                    (account_id, device_id, date, emails_sent, sms_sent, sms_segments, emails_told, sms_told)";
        let tail = "ON CONFLICT (account_id, device_id, date) DO UPDATE SET \
                        emails_sent = device_counter.emails_sent + excluded.emails_sent, \
                        sms_sent = device_counter.sms_sent + excluded.sms_sent, \
                        sms_segments = device_counter.sms_segments + excluded.sms_segments, \
                        emails_told = device_counter.emails_told OR excluded.emails_told, \
                        sms_told = device_counter.sms_told OR excluded.sms_told";
        insert_many(tx, head, &rows, tail).await?;
        if self.segments_taken > 0 {
            let sql = "INSERT INTO account_counter (account_id, date, sms_segments) VALUES (?1, ?2, ?3) \
                       ON CONFLICT (account_id, date) DO UPDATE SET \
                           sms_segments = account_counter.sms_segments + excluded.sms_segments";
            tx.execute(sql, params![account, &date, self.segments_taken]).await?;
        }
        Ok(())
    }
}

fn count(row: &Row) -> Result<DeviceCount> {
    let reserve = row.int("critical_reserve")?;
    let quota = |limit: &str, used: &str| -> Result<Quota> {
        let (limit, used) = (row.opt_int(limit)?, row.opt_int(used)?.unwrap_or_default());
        Ok(Quota { limit, reserve, used })
    };
    Ok(DeviceCount {
        emails: quota("daily_emails", "emails_sent")?,
        sms: quota("daily_sms", "sms_sent")?,
        emails_told: row.opt_bool("emails_told")?.unwrap_or_default(),
        sms_told: row.opt_bool("sms_told")?.unwrap_or_default(),
        taken: Taken::default(),
    })
}

/// SMS segments that an account used on this day and in its calendar month.
async fn segments(tx: &Tx, account: AccountId, date: &str) -> Result<(u32, u32)> {
    let month = date.get(..7).unwrap_or(date);
    let sql = "SELECT CAST(COALESCE(SUM(CASE WHEN date = ?2 THEN sms_segments ELSE 0 END), 0) AS BIGINT) AS today, \
                   CAST(COALESCE(SUM(sms_segments), 0) AS BIGINT) AS month \
               FROM account_counter WHERE account_id = ?1 AND date >= ?3 AND date <= ?4";
    let values = params![account, date, format!("{month}-01"), format!("{month}-31")];
    let row = tx.query_one(sql, values).await?;
    Ok((row.int("today")?, row.int("month")?))
}

/// Uncounts a message that was counted on this date, if the date is still today.
pub(super) async fn give_back(
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
    let sql = match channel {
        Channel::Email => {
            "UPDATE device_counter SET emails_sent = emails_sent - 1, sms_segments = sms_segments - ?4 \
             WHERE account_id = ?1 AND device_id = ?2 AND date = ?3 AND emails_sent > 0"
        }
        Channel::Sms => {
            "UPDATE device_counter SET sms_sent = sms_sent - 1, sms_segments = sms_segments - ?4 \
             WHERE account_id = ?1 AND device_id = ?2 AND date = ?3 AND sms_sent > 0"
        }
    };
    tx.execute(sql, params![account, device, counted_on, segments]).await?;
    if segments > 0 {
        let sql = "UPDATE account_counter SET sms_segments = sms_segments - ?3 \
                   WHERE account_id = ?1 AND date = ?2";
        tx.execute(sql, params![account, counted_on, segments]).await?;
    }
    Ok(())
}
