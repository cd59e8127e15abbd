//! Reading plans. A plan is visible if none of its devices is hidden; one without devices is seen by whoever sees the whole
//! account.

use perigee_core::access::actor::Scope;
use perigee_core::id::{PlanEventId, PlanId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::plans::{Plan, PlanEvent, PlanFilter};
use perigee_core::store::Result;

use super::change::MISSING;
use super::row::{COLUMNS, PlanRow, with_devices};
use crate::sql::column;
use crate::sql::query::Query;
use crate::sql::scope::keep_devices;
use crate::{Tx, params};

/// Restricts a query over plans to the visible ones.
fn keep_plans(query: &mut Query, scope: Scope) {
    if scope.is_whole() {
        return;
    }
    query
        .push(" AND EXISTS (SELECT 1 FROM float_plan_device o WHERE o.account_id = ?1 AND o.plan_id = p.id)");
    query.push(
        " AND NOT EXISTS (SELECT 1 FROM float_plan_device o WHERE o.account_id = ?1 AND o.plan_id = p.id \
         AND o.device_id NOT IN (SELECT v.id FROM device v WHERE v.account_id = ?1",
    );
    keep_devices(query, scope, "v.id");
    query.push("))");
}

/// A visible plan.
pub(super) async fn find_row(tx: &Tx, scope: Scope, id: PlanId) -> Result<Option<PlanRow>> {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM float_plan p WHERE p.account_id = ?1 AND p.id = ?2"),
        params![scope.account, id],
    );
    keep_plans(&mut query, scope);
    let rows = query.rows(tx).await?;
    Ok(with_devices(tx, scope.account, &rows).await?.pop())
}

pub(super) async fn find(tx: &Tx, scope: Scope, id: PlanId) -> Result<Option<Plan>> {
    Ok(find_row(tx, scope, id).await?.map(|row| row.plan))
}

pub(super) async fn list(tx: &Tx, scope: Scope, filter: PlanFilter, page: PageRequest) -> Result<Page<Plan>> {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM float_plan p WHERE p.account_id = ?1 AND p.id > ?2"),
        params![scope.account, page.after.unwrap_or(i64::MIN)],
    );
    query.push_with(" AND p.is_template = {}", filter.templates);
    keep_plans(&mut query, scope);
    if let Some(state) = filter.state {
        query.push_with(" AND p.state = {}", state.name());
    }
    if let Some(device) = filter.device {
        query.push_with(
            " AND EXISTS (SELECT 1 FROM float_plan_device f WHERE f.account_id = ?1 AND f.plan_id = p.id \
             AND f.device_id = {})",
            device,
        );
    }
    query.push_with(" ORDER BY p.id LIMIT {}", i64::from(page.limit) + 1);
    let rows = query.rows(tx).await?;
    let rows = with_devices(tx, scope.account, &rows).await?;
    let plans = rows.into_iter().map(|row| row.plan).collect();
    Ok(Page::cut(plans, page.limit, |plan: &Plan| plan.id.as_i64()))
}

pub(super) async fn list_events(
    tx: &Tx,
    scope: Scope,
    id: PlanId,
    page: PageRequest,
) -> Result<Page<PlanEvent>> {
    find_row(tx, scope, id).await?.ok_or(MISSING)?;
    let sql = "SELECT id, document FROM float_plan_event WHERE account_id = ?1 AND plan_id = ?2 AND id > ?3 \
               ORDER BY id LIMIT ?4";
    let values = params![scope.account, id, page.after.unwrap_or(i64::MIN), i64::from(page.limit) + 1];
    let event = |row: &crate::Row| {
        let event: PlanEvent = column::json(row, "document")?;
        Ok(PlanEvent { id: PlanEventId::from_i64(row.i64("id")?), ..event })
    };
    let events = tx.query(sql, values).await?.iter().map(event).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(events, page.limit, |event: &PlanEvent| event.id.as_i64()))
}
