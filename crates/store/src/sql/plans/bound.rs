//! How many plans may run for one device: each text of it has them examined, in the transaction of its message.

use perigee_core::error::StoreError;
use perigee_core::plans::{Plan, PlanSettings, PlanState, RefusedAction};
use perigee_core::store::Result;

use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Whether it runs, or starts by itself.
pub(super) fn is_expected(plan: &Plan) -> bool {
    let state = plan.progress.state;
    state.is_running()
        || (state == PlanState::Draft && plan.settings.starts_itself && !plan.settings.is_template)
}

/// Refuses a plan that runs or will start by itself, if as many others as permitted do for one of its devices. The
/// caller has locked the account, so that two requests cannot both take the last place.
pub(super) async fn require_few(tx: &Tx, plan: &Plan) -> Result<()> {
    let most = PlanSettings::RUNNING_PER_DEVICE_MAX;
    let devices: Vec<i64> = plan.settings.devices.iter().map(|device| device.as_i64()).collect();
    let sql = "SELECT d.device_id FROM float_plan_device d \
                   JOIN float_plan p ON p.account_id = d.account_id AND p.id = d.plan_id \
               WHERE d.account_id = ?1 AND d.plan_id <> ?2 AND d.device_id IN ({ids}) \
                   AND (p.state IN ('active', 'overdue', 'paused') OR (p.state = 'draft' AND p.evaluate_at IS NOT NULL)) \
               GROUP BY d.device_id HAVING COUNT(*) >= ?3 LIMIT 1";
    let full = for_ids(tx, sql, params![plan.account, plan.id, i64::from(most)], &devices).await?;
    if full.is_empty() { Ok(()) } else { Err(StoreError::PlanRefused(RefusedAction::TooManyOfDevice(most))) }
}
