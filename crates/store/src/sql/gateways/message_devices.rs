//! The devices of raw messages that have reports of several devices.

use perigee_core::id::{AccountId, DeviceId, MessageId};
use perigee_core::store::Result;

use crate::sql::ids;
use crate::sql::query::{Query, insert_many};
use crate::{Row, Tx, Value, params};

/// Devices of a message that a list contains at most.
pub(super) const LISTED: u32 = 20;

/// Adds to the devices of a message, which is stored in this transaction or locked by it.
pub(super) async fn add(tx: &Tx, account: AccountId, message: MessageId, devices: &[DeviceId]) -> Result<()> {
    let row = |device: &DeviceId| params![account, message, *device].to_vec();
    let rows: Vec<Vec<Value>> = devices.iter().map(row).collect();
    let head = "INSERT INTO raw_message_device (account_id, message_id, device_id)";
    insert_many(tx, head, &rows, "ON CONFLICT (account_id, message_id, device_id) DO NOTHING").await?;
    Ok(())
}

/// The column `devices` of a message `r` of account `?1`: its devices that exist, at most this many if there is a limit.
pub(super) fn column(most: Option<u32>) -> String {
    let limit = most.map_or_else(String::new, |most| format!("LIMIT {most}"));
    format!(
        "(SELECT string_agg(CAST(s.device_id AS TEXT), ',') FROM (SELECT m.device_id FROM raw_message_device m \
             JOIN device d ON d.account_id = m.account_id AND d.id = m.device_id \
             WHERE m.account_id = ?1 AND m.message_id = r.id ORDER BY m.device_id {limit}) AS s) AS devices"
    )
}

pub(super) fn read(row: &Row) -> Result<Vec<DeviceId>> {
    let mut devices = ids::listed(row, "devices", DeviceId::from_i64)?;
    devices.sort_unstable();
    Ok(devices)
}

/// Keeps the messages `r` with ids in this range in which a device reports. `?1` is the account.
pub(super) fn keep(query: &mut Query, device: DeviceId, (lowest, before): (i64, i64)) {
    query.push_with(" AND (r.device_id = {}", device);
    query.push_with(
        " OR r.id IN (SELECT m.message_id FROM raw_message_device m WHERE m.account_id = ?1 AND m.device_id = {}",
        device,
    );
    query.push_with(" AND m.message_id >= {}", lowest);
    query.push_with(" AND m.message_id < {}))", before);
}
