//! Occurrences: episodes for which an alert was raised, updated as more becomes known.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, AlertId, DeviceId, RuleId};
use perigee_core::rules::rule::{Episode, Occurrence};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::query::{for_ids, insert_many};
use crate::{Row, Tx, Value, params};

/// An occurrence as stored: its id, its alert and its time span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sql::rules) struct Key {
    id: i64,
    alert: AlertId,
    begin: Timestamp,
    met: Timestamp,
    end: Option<Timestamp>,
}

/// A rule at one of its generations.
pub(in crate::sql::rules) type Version = (RuleId, i64);

fn from_row(row: &Row) -> Result<(Version, Occurrence<Key>)> {
    let (begin, met, end) = (row.timestamp("begins")?, row.timestamp("met")?, row.opt_timestamp("ends")?);
    let key = Key { id: row.i64("id")?, alert: AlertId::from_i64(row.i64("alert_id")?), begin, met, end };
    let version = (RuleId::from_i64(row.i64("rule_id")?), row.i64("generation")?);
    Ok((version, Occurrence { key, begin, met, end }))
}

/// The occurrences of each of these devices that had not ended by its instant.
pub(in crate::sql::rules) async fn of_devices(
    tx: &Tx,
    account: AccountId,
    since: &BTreeMap<DeviceId, Timestamp>,
) -> Result<HashMap<DeviceId, Vec<(Version, Occurrence<Key>)>>> {
    let mut found: HashMap<DeviceId, Vec<(Version, Occurrence<Key>)>> = HashMap::new();
    let Some(earliest) = since.values().min() else { return Ok(found) };
    let sql = "SELECT device_id, id, rule_id, generation, alert_id, begins, met, ends FROM rule_occurrence \
               WHERE account_id = ?1 AND withdrawn = FALSE AND (ends IS NULL OR ends > ?2) \
               AND device_id IN ({ids})";
    let ids: Vec<i64> = since.keys().map(|device| device.as_i64()).collect();
    for row in for_ids(tx, sql, params![account, *earliest], &ids).await? {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        let (version, occurrence) = from_row(&row)?;
        if since.get(&device).is_some_and(|since| occurrence.end.is_none_or(|end| end > *since)) {
            found.entry(device).or_default().push((version, occurrence));
        }
    }
    Ok(found)
}

/// Changed occurrences, and the ends of their alerts.
pub(in crate::sql::rules) struct Changes {
    account: AccountId,
    rows: Vec<Vec<Value>>,
    endings: BTreeMap<Ending, Vec<(DeviceId, AlertId)>>,
}

/// The previous and the new end of an alert.
type Ending = (Option<Timestamp>, Option<Timestamp>);

impl Changes {
    pub(in crate::sql::rules) const fn new(account: AccountId) -> Self {
        Self { account, rows: Vec::new(), endings: BTreeMap::new() }
    }

    /// Adds the occurrence of an episode for which an alert was raised.
    pub(in crate::sql::rules) fn add(
        &mut self,
        whose: (Version, DeviceId),
        id: i64,
        alert: AlertId,
        episode: &Episode,
    ) {
        let Episode { begin, met, end, .. } = *episode;
        self.put(whose, Key { id, alert, begin, met, end }, None, false);
    }

    /// Changes the time span of an occurrence.
    pub(in crate::sql::rules) fn shift(&mut self, whose: (Version, DeviceId), key: Key, episode: &Episode) {
        let Episode { begin, met, end, .. } = *episode;
        self.put(whose, Key { begin, met, end, ..key }, key.end, false);
    }

    /// Withdraws an occurrence. Its alert, which may have been sent, stays and ends.
    pub(in crate::sql::rules) fn withdraw(&mut self, whose: (Version, DeviceId), key: Key, now: Timestamp) {
        self.put(whose, Key { end: key.end.or(Some(now)), ..key }, key.end, true);
    }

    fn put(
        &mut self,
        ((rule, generation), device): (Version, DeviceId),
        Key { id, alert, begin, met, end }: Key,
        was: Option<Timestamp>,
        withdrawn: bool,
    ) {
        let account = self.account;
        self.rows
            .push(params![account, id, rule, generation, device, alert, begin, met, end, withdrawn].to_vec());
        self.endings.entry((was, end)).or_default().push((device, alert));
    }

    /// Writes all changes with few statements.
    pub(in crate::sql::rules) async fn save(self, tx: &Tx) -> Result<()> {
        let head = "INSERT INTO rule_occurrence \
                    (account_id, id, rule_id, generation, device_id, alert_id, begins, met, ends, withdrawn)";
        let tail = "ON CONFLICT (account_id, id) DO UPDATE SET begins = excluded.begins, met = excluded.met, \
                    ends = excluded.ends, withdrawn = excluded.withdrawn";
        insert_many(tx, head, &self.rows, tail).await?;
        for ((was, is), alerts) in &self.endings {
            end_alerts(tx, self.account, (*was, *is), alerts).await?;
        }
        Ok(())
    }
}

/// Ends the open occurrences of these rules now. The caller holds the account's lock.
pub(in crate::sql) async fn end_occurrences(tx: &Tx, account: AccountId, rules: &[RuleId]) -> Result<()> {
    let sql = "UPDATE rule_occurrence SET ends = ?2 WHERE account_id = ?1 AND ends IS NULL \
               AND rule_id IN ({ids}) RETURNING device_id, alert_id";
    let ids: Vec<i64> = rules.iter().map(|rule| rule.as_i64()).collect();
    ended_now(tx, account, for_ids(tx, sql, params![account, tx.now()], &ids).await?).await
}

/// Ends the open occurrences of a rule for these devices now. The caller holds the account's lock.
pub(super) async fn end_of_devices(
    tx: &Tx,
    account: AccountId,
    rule: RuleId,
    devices: &[DeviceId],
) -> Result<()> {
    let sql = "UPDATE rule_occurrence SET ends = ?2 WHERE account_id = ?1 AND ends IS NULL AND rule_id = ?3 \
               AND device_id IN ({ids}) RETURNING device_id, alert_id";
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    ended_now(tx, account, for_ids(tx, sql, params![account, tx.now(), rule], &ids).await?).await
}

async fn ended_now(tx: &Tx, account: AccountId, rows: Vec<Row>) -> Result<()> {
    let alert = |row: &Row| -> Result<(DeviceId, AlertId)> {
        Ok((DeviceId::from_i64(row.i64("device_id")?), AlertId::from_i64(row.i64("alert_id")?)))
    };
    let alerts = rows.iter().map(alert).collect::<Result<Vec<_>>>()?;
    end_alerts(tx, account, (None, Some(tx.now())), &alerts).await
}

/// Sets the end of alerts to that of their episodes; alerts that a user ended stay as they are.
pub(in crate::sql) async fn end_alerts(
    tx: &Tx,
    account: AccountId,
    (was, is): Ending,
    alerts: &[(DeviceId, AlertId)],
) -> Result<()> {
    let ids: Vec<i64> = alerts.iter().map(|(_, alert)| alert.as_i64()).collect();
    if was == is || ids.is_empty() {
        return Ok(());
    }
    if let Some(was) = was {
        let sql = "UPDATE alert SET ended_at = ?2, checksum = checksum + ?4 \
                   WHERE account_id = ?1 AND ended_at = ?3 AND id IN ({ids})";
        let added = is.map_or(0, Timestamp::as_millis) - was.as_millis();
        for_ids(tx, sql, params![account, is, was, added], &ids).await?;
        return Ok(());
    }
    let sql = "UPDATE alert SET ended_at = ?2, checksum = checksum + CAST(?2 AS BIGINT) \
               WHERE account_id = ?1 AND ended_at IS NULL AND id IN ({ids}) RETURNING id";
    let mut ended = BTreeSet::new();
    for row in for_ids(tx, sql, params![account, is], &ids).await? {
        ended.insert(row.i64("id")?);
    }
    let changed = alerts.iter().filter(|(_, alert)| ended.contains(&alert.as_i64()));
    let events = changed.map(|(device, alert)| NewEvent {
        subject: alert.to_string(),
        device: Some(*device),
        data: "{}".to_owned(),
    });
    append_events(tx, account, EventKind::AlertEnded, events.collect()).await
}
