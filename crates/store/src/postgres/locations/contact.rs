//! Recording that a device made contact without a location.

use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use crate::Tx;
use crate::sql::locations::state_row;

/// Records that a device made contact now. The account is locked.
pub(super) async fn record_contact(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let Some(mut state) = state_row::lock(tx, account, device).await? else { return Ok(()) };
    let mut interval = ReportingInterval::from_bytes(&state.interval);
    interval.hear(tx.now());
    state.interval = interval.to_bytes();
    state.last_seen = state.last_seen.max(Some(tx.now()));
    state.save(tx).await
}
