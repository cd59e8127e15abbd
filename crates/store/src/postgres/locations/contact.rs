//! Recording that a device made contact without a location.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::reporting_interval::ReportingInterval;
use perigee_core::store::Result;

use crate::{Tx, params};

/// Records that a device made contact now. The account is locked.
pub(super) async fn record_contact(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = "SELECT rhythm FROM device_live WHERE account_id = ?1 AND device_id = ?2";
    let before = tx.query_opt(sql, params![account, device]).await?;
    let mut rhythm = match &before {
        Some(row) => ReportingInterval::from_bytes(row.bytes_ref("rhythm")?),
        None => ReportingInterval::default(),
    };
    rhythm.hear(tx.now());
    let sql = "INSERT INTO device_live (account_id, device_id, last_seen, rhythm) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (account_id, device_id) DO UPDATE SET rhythm = excluded.rhythm, \
               last_seen = GREATEST(excluded.last_seen, device_live.last_seen)";
    tx.execute(sql, params![account, device, tx.now(), rhythm.to_bytes()]).await?;
    Ok(())
}
