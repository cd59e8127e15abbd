//! Rows of plans. The devices of a plan are in a table of their own, from which deleted ones disappear.

use std::collections::BTreeMap;

use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, PlanId};
use perigee_core::plans::{Plan, PlanSettings, Progress};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde::Serialize;

use crate::sql::column;
use crate::sql::query::{for_ids, insert_many};
use crate::{Row, Tx, Value, params};

/// The columns of [`PlanRow`] in a statement over `float_plan p`.
pub(super) const COLUMNS: &str = "p.account_id, p.id, p.revision, p.settings, p.progress, p.base_at, p.not_before, \
     p.paused_until, p.step_at, p.last_text_id, p.creation, p.last_modified";

/// A plan with what the store keeps to examine it.
#[derive(Clone, Debug)]
pub(super) struct PlanRow {
    pub(super) plan: Plan,
    /// The last text of its devices that was read.
    pub(super) last_text: i64,
}

impl PlanRow {
    fn read(row: &Row) -> Result<Self> {
        let progress: Progress = column::json(row, "progress")?;
        Ok(Self {
            plan: Plan {
                id: PlanId::from_i64(row.i64("id")?),
                account: AccountId::from_i64(row.i64("account_id")?),
                revision: Revision(row.i64("revision")?),
                settings: column::json(row, "settings")?,
                // The columns follow the clock.
                progress: Progress {
                    base: row.opt_timestamp("base_at")?,
                    not_before: row.opt_timestamp("not_before")?,
                    paused_until: row.opt_timestamp("paused_until")?,
                    step_at: row.opt_timestamp("step_at")?,
                    ..progress
                },
                creation: row.timestamp("creation")?,
                last_modified: row.timestamp("last_modified")?,
            },
            last_text: row.i64("last_text_id")?,
        })
    }
}

/// Reads rows of plans of an account with their devices.
pub(super) async fn with_devices(tx: &Tx, account: AccountId, rows: &[Row]) -> Result<Vec<PlanRow>> {
    let mut plans = rows.iter().map(PlanRow::read).collect::<Result<Vec<_>>>()?;
    let ids: Vec<i64> = plans.iter().map(|row| row.plan.id.as_i64()).collect();
    let sql = "SELECT plan_id, device_id FROM float_plan_device WHERE account_id = ?1 AND plan_id IN ({ids}) \
               ORDER BY plan_id, ordinal";
    let mut devices: BTreeMap<i64, Vec<DeviceId>> = BTreeMap::new();
    for row in for_ids(tx, sql, params![account], &ids).await? {
        devices.entry(row.i64("plan_id")?).or_default().push(DeviceId::from_i64(row.i64("device_id")?));
    }
    for row in &mut plans {
        row.plan.settings.devices = devices.remove(&row.plan.id.as_i64()).unwrap_or_default();
    }
    Ok(plans)
}

pub(super) fn text(document: &impl Serialize) -> Result<String> {
    serde_json::to_string(document).map_err(|cause| StoreError::Internal(cause.into()))
}

/// The settings as the column holds them.
pub(super) fn settings_text(settings: &PlanSettings) -> Result<String> {
    text(&PlanSettings { devices: Vec::new(), ..settings.clone() })
}

/// Replaces the devices of a plan.
pub(super) async fn write_devices(
    tx: &Tx,
    account: AccountId,
    id: PlanId,
    devices: &[DeviceId],
) -> Result<()> {
    tx.execute("DELETE FROM float_plan_device WHERE account_id = ?1 AND plan_id = ?2", params![account, id])
        .await?;
    let row = |(device, ordinal): (&DeviceId, i64)| {
        vec![Value::from(account), Value::from(id), Value::from(ordinal), Value::from(*device)]
    };
    let rows: Vec<Vec<Value>> = devices.iter().zip(1_i64..).map(row).collect();
    let head = "INSERT INTO float_plan_device (account_id, plan_id, ordinal, device_id)";
    insert_many(tx, head, &rows, "").await?;
    Ok(())
}

/// Writes settings and progress of a plan, and when it is examined next.
pub(super) async fn save(tx: &Tx, row: &PlanRow, zone: &Zone) -> Result<()> {
    let PlanRow { plan, last_text } = row;
    let progress = &plan.progress;
    let evaluate_at: Option<Timestamp> = plan.next_due(tx.now(), zone);
    let sql = "UPDATE float_plan SET revision = ?3, settings = ?4, progress = ?5, state = ?6, is_template = ?7, \
                   base_at = ?8, not_before = ?9, paused_until = ?10, step_at = ?11, last_text_id = ?12, \
                   evaluate_at = ?13, last_modified = ?14 WHERE account_id = ?1 AND id = ?2";
    let values = params![
        plan.account,
        plan.id,
        plan.revision.0,
        settings_text(&plan.settings)?,
        text(progress)?,
        progress.state.name(),
        plan.settings.is_template,
        progress.base,
        progress.not_before,
        progress.paused_until,
        progress.step_at,
        *last_text,
        evaluate_at,
        plan.last_modified
    ];
    tx.execute(sql, values).await?;
    Ok(())
}
