//! Unknown devices that have reported: limited in number, messages and time.

use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::{HeardDevice, HeardMessage, HeardReport, Reporter};
use perigee_core::id::AccountId;
use perigee_core::store::Result;

use crate::sql::query::insert_many;
use crate::sql::{devices, gateways::claims, ids};
use crate::{Row, Tx, params};

/// The account number of unknown devices on shared listeners.
const SHARED: i64 = 0;

fn key(account: Option<AccountId>) -> i64 {
    account.map_or(SHARED, AccountId::as_i64)
}

/// Adds the unknown devices that have reported since the last save.
pub(in crate::sql) async fn save(tx: &Tx, reports: &[HeardReport]) -> Result<()> {
    let mut reports: Vec<&HeardReport> =
        reports.iter().filter(|report| devices::storable(&report.identifier)).collect();
    // Every node writes them in the same order, which prevents deadlocks.
    reports.sort_by(|a, b| (a.account, &a.identifier).cmp(&(b.account, &b.identifier)));
    for report in reports {
        save_one(tx, report).await?;
        if report.account.is_none() {
            claims::heard(tx, &report.identifier, report.last_heard, &report.peer).await?;
        }
    }
    let sql = "DELETE FROM heard_device WHERE last_heard < ?1";
    tx.execute(sql, params![tx.now().plus_millis(-HeardDevice::REMEMBERED_MS)]).await?;
    let sql = "DELETE FROM heard_device WHERE (account_id, identifier) IN ( \
               SELECT account_id, identifier FROM heard_device ORDER BY last_heard DESC, identifier LIMIT ?1 OFFSET ?1)";
    tx.execute(sql, params![HeardDevice::COUNT_MAX]).await?;
    Ok(())
}

async fn save_one(tx: &Tx, report: &HeardReport) -> Result<()> {
    let (account, identifier) = (key(report.account), &report.identifier);
    let sql = "INSERT INTO heard_device (account_id, identifier, source, peer, first_heard, last_heard, messages) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6) \
               ON CONFLICT (account_id, identifier) DO UPDATE SET source = excluded.source, peer = excluded.peer, \
                   last_heard = excluded.last_heard, messages = heard_device.messages + excluded.messages";
    let messages = i64::try_from(report.messages).unwrap_or(i64::MAX);
    let values = params![account, identifier, report.source, &report.peer, report.last_heard, messages];
    tx.execute(sql, values).await?;
    // The newest messages, by id, are kept.
    let sql = "SELECT MAX(id) AS last FROM heard_message WHERE account_id = ?1 AND identifier = ?2";
    let last = tx.query_one(sql, params![account, identifier]).await?.opt_i64("last")?;
    let first = ids::first_above(tx, last, report.kept.len());
    let row = |(id, message): (i64, &HeardMessage)| {
        params![
            account,
            identifier,
            id,
            message.received_at,
            &message.source,
            &message.peer,
            message.datagram,
            &message.bytes,
        ]
        .to_vec()
    };
    let rows: Vec<_> = (first..).zip(&report.kept).map(row).collect();
    let head =
        "INSERT INTO heard_message (account_id, identifier, id, received_at, source, peer, datagram, bytes)";
    insert_many(tx, head, &rows, "").await?;
    let most = u32::try_from(HeardDevice::KEPT_MAX).unwrap_or(u32::MAX);
    let sql = "DELETE FROM heard_message WHERE account_id = ?1 AND identifier = ?2 AND id NOT IN ( \
               SELECT id FROM heard_message WHERE account_id = ?1 AND identifier = ?2 ORDER BY id DESC LIMIT ?3)";
    tx.execute(sql, params![account, identifier, most]).await?;
    Ok(())
}

/// The unknown devices, newest first. Those that were claimed since, by a claim that is proven, are no longer unknown.
pub(in crate::sql) async fn list(tx: &Tx, account: Option<AccountId>) -> Result<Vec<HeardDevice>> {
    let sql = "SELECT h.account_id, h.identifier, h.source, h.peer, h.first_heard, h.last_heard, h.messages, \
                   (SELECT m.bytes FROM heard_message m WHERE m.account_id = ?1 \
                        AND m.identifier = h.identifier ORDER BY m.id DESC LIMIT 1) AS last_message \
               FROM heard_device h \
               WHERE h.account_id = ?1 \
                   AND NOT EXISTS (SELECT 1 FROM identifier_claim c WHERE c.identifier = h.identifier \
                       AND c.proven_at IS NOT NULL AND ?1 = 0) \
                   AND NOT EXISTS (SELECT 1 FROM device_identifier i WHERE i.account_id = ?1 \
                       AND i.identifier = h.identifier) \
               ORDER BY h.last_heard DESC, h.identifier";
    let rows = tx.query(sql, params![key(account)]).await?;
    rows.iter().map(|row| from_row(row, account)).collect()
}

fn from_row(row: &Row, account: Option<AccountId>) -> Result<HeardDevice> {
    Ok(HeardDevice {
        account,
        identifier: row.text("identifier")?,
        source: row.text("source")?,
        peer: row.text("peer")?,
        first_heard: row.timestamp("first_heard")?,
        last_heard: row.timestamp("last_heard")?,
        messages: row.int("messages")?,
        last_message: row.opt_bytes("last_message")?,
    })
}

/// Unknown devices that were claimed after they had reported: on shared listeners by a claim, on gateways of an
/// account when the account has the identifier.
pub(in crate::sql) async fn claimed(
    tx: &Tx,
    limit: u32,
    counted: CountedClaims,
) -> Result<Vec<(i64, Reporter)>> {
    if tx.is_distributed() {
        return claimed_on_cluster(tx, limit, counted).await;
    }
    let sql = format!(
        "SELECT h.account_id AS heard_by, h.identifier, i.account_id, i.device_id, {} \
         FROM heard_device h \
         JOIN device_identifier i ON i.identifier = h.identifier \
         JOIN device d ON d.account_id = i.account_id AND d.id = i.device_id {} \
         WHERE h.account_id = i.account_id OR (h.account_id = ?1 AND EXISTS ( \
             SELECT 1 FROM identifier_claim c WHERE c.identifier = h.identifier \
                 AND c.account_id = i.account_id AND c.device_id = i.device_id{})) \
         ORDER BY h.account_id, h.identifier LIMIT ?2",
        devices::reporter_columns(tx),
        devices::REPORTER_LIVE,
        devices::counted_sql(counted)
    );
    let rows = tx.query(&sql, params![SHARED, limit]).await?;
    let claimed = |row: &Row| Ok((row.i64("heard_by")?, devices::reporter(tx, row, row.str("identifier")?)?));
    rows.iter().map(claimed).collect()
}

/// Like [`claimed`], where tables are distributed: account by account, because the device of a claim is on another
/// server than those that shared listeners have heard.
async fn claimed_on_cluster(tx: &Tx, limit: u32, counted: CountedClaims) -> Result<Vec<(i64, Reporter)>> {
    let (most, mut found) = (usize::try_from(limit).unwrap_or(usize::MAX), Vec::new());
    let sql = format!(
        "SELECT h.identifier, c.account_id, c.device_id FROM heard_device h \
         JOIN identifier_claim c ON c.identifier = h.identifier{} WHERE h.account_id = ?1 ORDER BY h.identifier",
        devices::counted_sql(counted)
    );
    for claim in tx.query(&sql, params![SHARED]).await? {
        if found.len() >= most {
            return Ok(found);
        }
        let sql = format!(
            "SELECT i.account_id, i.device_id, {} FROM device_identifier i \
             JOIN device d ON d.account_id = ?1 AND d.id = i.device_id {} \
             WHERE i.account_id = ?1 AND i.device_id = ?2 AND i.identifier = ?3",
            devices::reporter_columns(tx),
            devices::REPORTER_LIVE
        );
        let identifier = claim.str("identifier")?;
        let values = params![claim.i64("account_id")?, claim.i64("device_id")?, identifier];
        if let Some(row) = tx.query_opt(&sql, values).await? {
            found.push((SHARED, devices::reporter(tx, &row, identifier)?));
        }
    }
    let sql = format!(
        "SELECT h.account_id AS heard_by, h.identifier, i.account_id, i.device_id, {} \
         FROM heard_device h \
         JOIN device_identifier i ON i.account_id = h.account_id AND i.identifier = h.identifier \
         JOIN device d ON d.account_id = i.account_id AND d.id = i.device_id {} \
         WHERE h.account_id <> ?1 ORDER BY h.account_id, h.identifier LIMIT ?2",
        devices::reporter_columns(tx),
        devices::REPORTER_LIVE
    );
    for row in tx.query(&sql, params![SHARED, limit.saturating_sub(int(found.len()))]).await? {
        found.push((row.i64("heard_by")?, devices::reporter(tx, &row, row.str("identifier")?)?));
    }
    Ok(found)
}

fn int(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Removes claimed devices from the unknown ones, and returns their kept messages. Of two nodes, the one that deletes
/// the row gets them.
pub(in crate::sql) async fn take_claimed(
    tx: &Tx,
    limit: u32,
    counted: CountedClaims,
) -> Result<Vec<(Reporter, Vec<HeardMessage>)>> {
    let mut taken = Vec::new();
    for (heard_by, reporter) in claimed(tx, limit, counted).await? {
        let sql = "SELECT received_at, source, peer, datagram, bytes FROM heard_message \
                   WHERE account_id = ?1 AND identifier = ?2 ORDER BY id";
        let rows = tx.query(sql, params![heard_by, &reporter.identifier]).await?;
        let kept = rows.iter().map(message).collect::<Result<Vec<_>>>()?;
        let sql = "DELETE FROM heard_device WHERE account_id = ?1 AND identifier = ?2";
        if tx.execute(sql, params![heard_by, &reporter.identifier]).await? > 0 {
            taken.push((reporter, kept));
        }
    }
    Ok(taken)
}

fn message(row: &Row) -> Result<HeardMessage> {
    Ok(HeardMessage {
        received_at: row.timestamp("received_at")?,
        source: row.text("source")?,
        peer: row.text("peer")?,
        datagram: row.bool("datagram")?,
        bytes: row.bytes("bytes")?,
    })
}
