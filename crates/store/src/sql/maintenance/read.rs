//! Reading plans with the usage of their devices.

use perigee_core::access::actor::Scope;
use perigee_core::id::MaintenancePlanId;
use perigee_core::maintenance::{MaintenanceFilter, MaintenanceStatus, Usage};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result;

use super::row::{COLUMNS, PlanRow};
use super::usage;
use crate::sql::query::Query;
use crate::sql::scope::{keep_devices, keep_members};
use crate::{Tx, params};

/// A plan of a visible device.
pub(super) async fn find(tx: &Tx, scope: Scope, id: MaintenancePlanId) -> Result<Option<PlanRow>> {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM maintenance_plan p WHERE p.account_id = ?1 AND p.id = ?2"),
        params![scope.account, id],
    );
    keep_devices(&mut query, scope, "p.device_id");
    query.row(tx).await?.as_ref().map(PlanRow::read).transpose()
}

pub(super) async fn find_status(
    tx: &Tx,
    scope: Scope,
    id: MaintenancePlanId,
) -> Result<Option<MaintenanceStatus>> {
    let Some(row) = find(tx, scope, id).await? else { return Ok(None) };
    Ok(statuses(tx, scope, vec![row]).await?.pop())
}

pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    filter: MaintenanceFilter,
    page: PageRequest,
) -> Result<Page<MaintenanceStatus>> {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM maintenance_plan p WHERE p.account_id = ?1 AND p.id > ?2"),
        params![scope.account, page.after.unwrap_or(i64::MIN)],
    );
    keep_devices(&mut query, scope, "p.device_id");
    if let Some(device) = filter.device {
        query.push_with(" AND p.device_id = {}", device);
    }
    if let Some(group) = filter.group {
        keep_members(&mut query, scope, group, "p.device_id");
    }
    query.push_with(" ORDER BY p.id LIMIT {}", i64::from(page.limit) + 1);
    let rows = query.rows(tx).await?.iter().map(PlanRow::read).collect::<Result<Vec<_>>>()?;
    let rows = Page::cut(rows, page.limit, |row| row.plan.id.as_i64());
    Ok(Page { items: statuses(tx, scope, rows.items).await?, next: rows.next })
}

/// Adds the usage of the devices. It is partial where too many segments would have to be read.
pub(super) async fn statuses(tx: &Tx, scope: Scope, rows: Vec<PlanRow>) -> Result<Vec<MaintenanceStatus>> {
    let added = usage::add_up(tx, scope.account, &rows).await?;
    let status = |row: PlanRow| {
        let usage: Usage = match added.get(&row.plan.id) {
            Some(added) => added.usage,
            None => row.summed.usage(true),
        };
        row.status(usage)
    };
    Ok(rows.into_iter().map(status).collect())
}
