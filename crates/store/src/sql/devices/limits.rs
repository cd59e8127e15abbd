//! The daily limits and the counters of a device, by channel.

use std::collections::BTreeMap;

use perigee_core::accounts::limits::Sent;
use perigee_core::error::StoreError;
use perigee_core::notifications::notification::Channel;
use perigee_core::store::Result;

use crate::Row;
use crate::sql::column;

/// The counters of a device on one day in one column, as `channel messages segments`, separated by commas; the row
/// joins the device as `d`, `?1` is the account and `?2` the date.
pub(super) const SENT: &str = "(SELECT string_agg(c.channel || ' ' || CAST(c.messages AS TEXT) || ' ' || \
         CAST(c.segments AS TEXT), ',' ORDER BY c.channel) FROM device_message_counter c \
     WHERE c.account_id = ?1 AND c.device_id = d.id AND c.date = ?2) AS sent";

/// The daily limits in a row of a device.
pub(in crate::sql) fn read(row: &Row) -> Result<BTreeMap<Channel, u32>> {
    column::json(row, "daily_limits")
}

/// The stored form of daily limits.
pub(super) fn to_text(limits: &BTreeMap<Channel, u32>) -> Result<String> {
    serde_json::to_string(limits).map_err(|cause| StoreError::Internal(cause.into()))
}

/// The counters in a row that was read with [`SENT`]. Those of channels that this program does not know are left out.
pub(super) fn sent(row: &Row) -> Result<BTreeMap<Channel, Sent>> {
    let text = row.opt_text("sent")?.unwrap_or_default();
    let read = |part: &str| {
        let mut words = part.split(' ');
        let channel = words.next()?.parse().ok()?;
        let (messages, segments) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((channel, Sent { messages, segments }))
    };
    Ok(text.split(',').filter_map(read).collect())
}
