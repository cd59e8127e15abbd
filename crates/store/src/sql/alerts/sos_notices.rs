//! Notifying people of an SOS of a device that is not registered or has expired, at a limited rate.

use perigee_core::alerts::sos_notice::SosNotice;
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use serde_json::json;

use crate::sql::{devices, events, notifications::outbox};
use crate::{Tx, params};

/// The account number of notices to operators.
pub(super) const OPERATORS: i64 = 0;

/// Notifies the people of an account, unless they were notified of this identifier or of many others recently. Returns
/// whether they are notified. `device` is the expired device.
pub(in crate::sql) async fn announce(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    notice: &SosNotice,
) -> Result<bool> {
    if !admit(tx, account.as_i64(), SosNotice::PER_ACCOUNT_A_DAY, notice).await? {
        return Ok(false);
    }
    let (latitude, longitude) = notice.position.unzip();
    let data = json!({
        "reason": notice.reason.name(),
        "identifier": notice.identifier,
        "source": notice.source,
        "peer": notice.peer,
        "dateTime": notice.time.to_string(),
        "latitude": latitude.map(Latitude::as_degrees),
        "longitude": longitude.map(Longitude::as_degrees),
    });
    events::append(tx, account, EventKind::SosUnregistered, account.to_string(), device, data).await?;
    outbox::write_sos(tx, account, device, notice).await?;
    Ok(true)
}

/// Like [`announce`], for the operators of the server, in their own accounts.
pub(in crate::sql) async fn announce_to_operators(tx: &Tx, notice: &SosNotice) -> Result<bool> {
    if !admit(tx, OPERATORS, SosNotice::TO_OPERATORS_A_DAY, notice).await? {
        return Ok(false);
    }
    outbox::write_sos_to_operators(tx, notice).await?;
    Ok(true)
}

/// Records an SOS, and decides whether people are notified of it.
async fn admit(tx: &Tx, key: i64, most: i64, notice: &SosNotice) -> Result<bool> {
    if !devices::storable(&notice.identifier) {
        return Ok(false);
    }
    tx.lock_account_beside(AccountId::from_i64(key)).await?;
    let sql = "SELECT notified_at FROM sos_notice WHERE account_id = ?1 AND identifier = ?2";
    let row = tx.query_opt(sql, params![key, &notice.identifier]).await?;
    let last = row.map(|row| row.opt_timestamp("notified_at")).transpose()?.flatten();
    // A time from a clock that was ahead is ignored.
    let is_recent = |at: Timestamp| at.plus_millis(SosNotice::AGAIN_MS) > tx.now() && at <= tx.now();
    let sql = "SELECT CAST(COUNT(*) AS BIGINT) AS count FROM sos_notice \
               WHERE account_id = ?1 AND notified_at > ?2 AND notified_at <= ?3";
    let day = params![key, tx.now().plus_seconds(-86_400), tx.now()];
    let is_admitted = !last.is_some_and(is_recent) && tx.query_one(sql, day).await?.i64("count")? < most;
    let (latitude, longitude) = notice.position.unzip();
    let sql = "INSERT INTO sos_notice (account_id, identifier, reason, source, peer, time, latitude, longitude, \
                   received_at, messages, notified_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1, ?10) \
               ON CONFLICT (account_id, identifier) DO UPDATE SET reason = excluded.reason, source = excluded.source, \
                   peer = excluded.peer, time = excluded.time, latitude = excluded.latitude, \
                   longitude = excluded.longitude, received_at = excluded.received_at, \
                   messages = sos_notice.messages + 1, \
                   notified_at = COALESCE(excluded.notified_at, sos_notice.notified_at)";
    let values = params![
        key,
        &notice.identifier,
        notice.reason.name(),
        &notice.source,
        &notice.peer,
        notice.time,
        latitude.map(Latitude::as_e7),
        longitude.map(Longitude::as_e7),
        tx.now(),
        is_admitted.then(|| tx.now()),
    ];
    tx.execute(sql, values).await?;
    let sql = "DELETE FROM sos_notice WHERE account_id = ?1 AND identifier IN ( \
               SELECT identifier FROM sos_notice WHERE account_id = ?1 ORDER BY received_at DESC, identifier \
               LIMIT ?2 OFFSET ?2)";
    tx.execute(sql, params![key, SosNotice::KEPT_MAX]).await?;
    Ok(is_admitted)
}
