//! Finding and listing devices.

use std::collections::HashMap;

use perigee_core::access::actor::Scope;
use perigee_core::accounts::account::Account;
use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::{Device, DeviceFilter, DeviceRef};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{NamedDevice, Result};

use super::super::query::{Query, for_ids, for_texts};
use super::super::{scope, search};
use super::checksum;
use super::row::{self, Frame};
use crate::{Row, Tx, params};

/// Finds a device that the scope may see.
pub(crate) async fn find(
    tx: &Tx,
    account: &Account,
    scope: Scope,
    device: &DeviceRef,
) -> Result<Option<Device>> {
    let frame = Frame::new(tx, account, scope);
    let mut query = select(tx, &frame);
    narrow_to(&mut query, device);
    query.row(tx).await?.map(|row| frame.device(&row)).transpose()
}

/// The id of one visible device.
pub(crate) async fn find_id(tx: &Tx, scope: Scope, device: &DeviceRef) -> Result<Option<DeviceId>> {
    let mut query = Query::new("SELECT d.id FROM device d WHERE d.account_id = ?1", params![scope.account]);
    scope::keep_devices(&mut query, scope, "d.id");
    narrow_to(&mut query, device);
    Ok(query.row(tx).await?.map(|row| row.i64("id")).transpose()?.map(DeviceId::from_i64))
}

/// Visible devices with one of these identifiers or names.
pub(super) async fn find_named(tx: &Tx, scope: Scope, texts: &[String]) -> Result<Vec<NamedDevice>> {
    let mut query = Query::new("SELECT d.* FROM device d WHERE d.account_id = ?1", params![scope.account]);
    scope::keep_devices(&mut query, scope, "d.id");
    let rows =
        for_texts(tx, &query, " AND (d.identifier IN ({texts}) OR d.name IN ({texts}))", texts).await?;
    rows.iter().map(|row| named(tx, scope.account, row)).collect()
}

/// The names of these devices.
pub(crate) async fn names(
    tx: &Tx,
    account: AccountId,
    ids: &[i64],
) -> Result<HashMap<DeviceId, NamedDevice>> {
    let sql = "SELECT * FROM device WHERE account_id = ?1 AND id IN ({ids})";
    let rows = for_ids(tx, sql, params![account], ids).await?;
    let named = |row: &Row| named(tx, account, row).map(|device| (device.id, device));
    rows.iter().map(named).collect()
}

/// The names in a row, which must have all columns of a device.
fn named(tx: &Tx, account: AccountId, row: &Row) -> Result<NamedDevice> {
    let id = DeviceId::from_i64(row.i64("id")?);
    let row = checksum::checked(tx.damage(), account, id, row);
    Ok(NamedDevice { id, identifier: row.opt_text("identifier")?, name: row.text("name")? })
}

fn narrow_to(query: &mut Query, device: &DeviceRef) {
    match device {
        DeviceRef::Id(id) => query.push_with(" AND d.id = {}", *id),
        DeviceRef::Identifier(identifier) => query.push_if_storable(" AND d.identifier = {}", identifier),
    }
}

/// Visible devices that pass the filter, by id.
pub(crate) async fn list(
    tx: &Tx,
    account: &Account,
    scope: Scope,
    filter: &DeviceFilter,
    page: PageRequest,
) -> Result<Page<Device>> {
    let frame = Frame::new(tx, account, scope);
    let mut query = select(tx, &frame);
    narrow(&mut query, &frame, filter);
    query.push_with(" AND d.id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY d.id LIMIT {}", i64::from(page.limit) + 1);
    let rows = query.rows(tx).await?;
    let devices = rows.iter().map(|row| frame.device(row)).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(devices, page.limit, |device| device.id.as_i64()))
}

/// The visible devices among these.
pub(crate) async fn find_many(tx: &Tx, account: &Account, scope: Scope, ids: &[i64]) -> Result<Vec<Device>> {
    let frame = Frame::new(tx, account, scope);
    let visible = scope::visible_devices(tx, scope, ids.iter().copied().map(DeviceId::from_i64).collect());
    let ids: Vec<i64> = visible.await?.into_iter().map(DeviceId::as_i64).collect();
    let sql = format!("{} AND d.id IN ({{ids}})", row::select(tx.engine()));
    let rows = for_ids(tx, &sql, params![frame.account(), frame.date()], &ids).await?;
    rows.iter().map(|row| frame.device(row)).collect()
}

/// A page of a group's devices, by id.
pub(crate) async fn of_group(
    tx: &Tx,
    account: &Account,
    group: GroupId,
    page: PageRequest,
) -> Result<Page<Device>> {
    let frame = Frame::new(tx, account, Scope::for_store_check(account.id));
    let mut query = select(tx, &frame);
    keep_members(&mut query, group);
    query.push_with(" AND d.id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY d.id LIMIT {}", i64::from(page.limit) + 1);
    let rows = query.rows(tx).await?;
    let devices = rows.iter().map(|row| frame.device(row)).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(devices, page.limit, |device| device.id.as_i64()))
}

fn select(tx: &Tx, frame: &Frame) -> Query {
    let mut query = Query::new(row::select(tx.engine()), params![frame.account(), frame.date()]);
    scope::keep_devices(&mut query, frame.scope, "d.id");
    query
}

fn narrow(query: &mut Query, frame: &Frame, filter: &DeviceFilter) {
    if let Some(text) = &filter.text {
        query.push_if_storable(" AND strpos(d.search, {}) > 0", &search::lowercase(text));
    }
    match filter.group {
        Some(group) if scope::sees_group(frame.scope, group) => keep_members(query, group),
        Some(_hidden) => query.push(" AND FALSE"),
        None => {}
    }
    match filter.state {
        Some(DeviceState::Active) => {
            query.push_with(" AND d.licensed = TRUE AND (d.expires IS NULL OR d.expires > {})", frame.now);
        }
        Some(DeviceState::Expired) => {
            query.push_with(" AND (d.licensed = FALSE OR d.expires <= {})", frame.now);
        }
        None => {}
    }
    if let Some(tag) = &filter.tag {
        let tag = search::tag_text(tag);
        query.push_with(" AND (strpos(d.tags, {}) > 0", format!("{{{tag}"));
        query.push_with(" OR strpos(d.tags, {}) > 0)", format!(",{tag}"));
    }
}

fn keep_members(query: &mut Query, group: GroupId) {
    query.push_with(
        " AND d.id IN (SELECT f.device_id FROM group_member f WHERE f.account_id = ?1 AND f.group_id = {})",
        group,
    );
}
