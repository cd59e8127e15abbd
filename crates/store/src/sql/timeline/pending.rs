//! Marked devices, with the anchors before and after the marked range.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::{PendingTimeline, Result};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Anchor, TimelineSettings};

use super::{edits, settings};
use crate::sql::column;
use crate::{Row, Tx, params};

/// Maximum number of anchors after the marked range that are read. If the derivation finds none of them again, it goes
/// on.
const LATER: i64 = 50;

/// The next marked devices of an account.
pub(super) async fn list(
    tx: &Tx,
    account: AccountId,
    after: Option<DeviceId>,
    limit: u32,
) -> Result<Vec<PendingTimeline>> {
    let is_any_set = settings::is_any_set(tx, account).await?;
    let sql = "SELECT device_id, dirty_from, dirty_to, marks, settings FROM timeline_device \
               WHERE account_id = ?1 AND device_id > ?2 AND dirty_from IS NOT NULL ORDER BY device_id LIMIT ?3";
    let after = after.map_or(i64::MIN, DeviceId::as_i64);
    let mut found = Vec::new();
    for row in tx.query(sql, params![account, after, limit]).await? {
        let device = DeviceId::from_i64(row.i64("device_id")?);
        let settings = if is_any_set {
            settings::of_device(tx, account, device).await?
        } else {
            TimelineSettings::default()
        };
        let mut range = TimeRange { from: row.timestamp("dirty_from")?, to: row.timestamp("dirty_to")? };
        // Nothing that was derived with other settings can be continued or joined.
        if settings::kept(&settings)? != row.opt_text("settings")? {
            range = settings::WHOLE;
        }
        let resume = before(tx, account, device, range.from).await?;
        let later = later(tx, account, device, range.to, resume.as_ref()).await?;
        let edits = edits::for_derivation(tx, account, device).await?;
        let marks = row.i64("marks")?;
        found.push(PendingTimeline { device, range, marks, resume, later, settings, edits });
    }
    Ok(found)
}

fn anchor(row: &Row) -> Result<Anchor> {
    column::json(row, "state")
}

/// The newest anchor that was settled before an instant.
async fn before(tx: &Tx, account: AccountId, device: DeviceId, instant: Timestamp) -> Result<Option<Anchor>> {
    // An anchor is settled after its own instant, so that only the newest ones before the instant can fail the condition.
    let sql = "SELECT state FROM timeline_anchor \
               WHERE account_id = ?1 AND device_id = ?2 AND at < ?3 AND settled < ?3 ORDER BY at DESC LIMIT 1";
    tx.query_opt(sql, params![account, device, instant]).await?.as_ref().map(anchor).transpose()
}

async fn later(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    marked_to: Timestamp,
    resume: Option<&Anchor>,
) -> Result<Vec<Anchor>> {
    let after = resume.map_or(marked_to, |resume| marked_to.max(resume.at));
    let sql = "SELECT state FROM timeline_anchor \
               WHERE account_id = ?1 AND device_id = ?2 AND at > ?3 ORDER BY at LIMIT ?4";
    let rows = tx.query(sql, params![account, device, after, LATER]).await?;
    rows.iter().map(anchor).collect()
}
