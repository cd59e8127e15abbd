//! Counting the messages of a period, for reports.

use perigee_core::access::actor::Scope;
use perigee_core::id::{DeviceId, NotificationId};
use perigee_core::notifications::notification::{Channel, MessageCounts};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::query::for_ids;
use crate::sql::{column, scope};
use crate::{Row, Tx, params};

/// Failed messages that were accepted at first were paid for.
const COUNTS: &str = "channel, \
    CAST(SUM(CASE WHEN state IN ('sent', 'unclear') THEN 1 ELSE 0 END) AS BIGINT) AS sent, \
    CAST(SUM(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS BIGINT) AS failed, \
    CAST(SUM(CASE WHEN state = 'suppressed' THEN 1 ELSE 0 END) AS BIGINT) AS suppressed, \
    CAST(SUM(CASE WHEN state IN ('sent', 'unclear') OR sent_at IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT) AS messages, \
    CAST(SUM(CASE WHEN state IN ('sent', 'unclear') OR sent_at IS NOT NULL THEN segments ELSE 0 END) AS BIGINT) AS segments";
/// Ids follow the clock, so that they bound the scan.
const WITHIN: &str = "account_id = ?1 AND id >= ?4 AND created >= ?2 AND created < ?3";

fn from_row(row: &Row, device: Option<DeviceId>) -> Result<MessageCounts> {
    let channel: Channel = column::parsed(row, "channel")?;
    let is_counted_in_segments = channel.kind().units(0) == 0;
    Ok(MessageCounts {
        device,
        channel,
        sent: row.int("sent")?,
        failed: row.int("failed")?,
        suppressed: row.int("suppressed")?,
        units: row.int(if is_counted_in_segments { "segments" } else { "messages" })?,
    })
}

pub(super) async fn count(
    tx: &Tx,
    scope: Scope,
    devices: Option<Vec<DeviceId>>,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<MessageCounts>> {
    let values = params![scope.account, from, to, NotificationId::first_at(from)];
    let Some(devices) = devices else {
        if !scope.is_whole() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT {COUNTS} FROM notification WHERE {WITHIN} AND device_id IS NULL GROUP BY channel ORDER BY channel"
        );
        return tx.query(&sql, values).await?.iter().map(|row| from_row(row, None)).collect();
    };
    let visible = scope::visible_devices(tx, scope, devices.into_iter().collect()).await?;
    let mut ids: Vec<i64> = visible.into_iter().map(DeviceId::as_i64).collect();
    ids.sort_unstable();
    let sql = format!(
        "SELECT device_id, {COUNTS} FROM notification WHERE {WITHIN} AND device_id IN ({{ids}}) \
         GROUP BY device_id, channel ORDER BY device_id, channel"
    );
    let rows = for_ids(tx, &sql, values, &ids).await?;
    rows.iter().map(|row| from_row(row, Some(DeviceId::from_i64(row.i64("device_id")?)))).collect()
}
