//! Share links: created, listed, revoked, opened and counted.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::device::DeviceRef;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId, GroupId, ShareId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::shares::share::{NewShare, Share, ShareTarget};
use perigee_core::store::{Result, SharedView, Shares, ViewReport};

use super::devices::read;
use super::query::Query;
use crate::forward::forward;
use crate::sql::{access::audit, accounts, column, idempotency, ids, locations, scope};
use crate::{Row, Tx, params};

const COLUMNS: &str = "account_id, id, device_id, group_id, name, starts, ends, show_account, show_trips, show_conversation, conversation_delay, secret, views, last_viewed, \
                       created_by, creation";

fn from_row(row: &Row) -> Result<Share> {
    let device = row.opt_i64("device_id")?.map(|id| ShareTarget::Device(DeviceId::from_i64(id)));
    let group = row.opt_i64("group_id")?.map(|id| ShareTarget::Group(GroupId::from_i64(id)));
    Ok(Share {
        id: ShareId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        link: NewShare {
            target: device.or(group).ok_or_else(|| column::unreadable("device_id", "no target"))?,
            name: row.opt_text("name")?,
            from: row.timestamp("starts")?,
            until: row.timestamp("ends")?,
            show_account: row.bool("show_account")?,
            show_trips: row.bool("show_trips")?,
            conversation_delay_min: if row.bool("show_conversation")? {
                Some(row.int("conversation_delay")?)
            } else {
                None
            },
            secret: row.text("secret")?,
        },
        views: row.int("views")?,
        last_viewed: row.opt_timestamp("last_viewed")?,
        created_by: row.opt_i64("created_by")?.map(UserId::from_i64),
        creation: row.timestamp("creation")?,
    })
}

/// Starts a query over the links to visible devices and groups.
fn select(scope: Scope) -> Query {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM share WHERE account_id = ?1 AND ((device_id IS NOT NULL"),
        params![scope.account],
    );
    scope::keep_devices(&mut query, scope, "device_id");
    query.push(") OR (group_id IS NOT NULL");
    scope::keep_groups(&mut query, scope, "group_id");
    query.push("))");
    query
}

async fn create(
    tx: &Tx,
    actor: Actor,
    new: NewShare,
    once: Option<IdempotencyKey>,
) -> Result<Created<Share>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let (device, group) = match new.target {
        ShareTarget::Device(device) => {
            scope::require_devices(tx, actor.scope, &[device]).await?;
            (Some(device), None)
        }
        ShareTarget::Group(group) => {
            scope::require_groups(tx, actor.scope, &[group]).await?;
            (None, Some(group))
        }
    };
    let id = ids::fresh_id(tx, "share", account).await?;
    let sql = format!(
        "INSERT INTO share (account_id, id, device_id, group_id, name, starts, ends, secret, created_by, creation, \
             show_account, show_trips, show_conversation, conversation_delay) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) RETURNING {COLUMNS}"
    );
    let by = actor.origin.user;
    let values = params![
        account,
        id,
        device,
        group,
        new.name,
        new.from,
        new.until,
        new.secret,
        by,
        tx.now(),
        new.show_account,
        new.show_trips,
        new.conversation_delay_min.is_some(),
        new.conversation_delay_min.unwrap_or(0)
    ];
    let share = from_row(&tx.query_one(&sql, values).await?)?;
    let sql = "INSERT INTO share_directory (secret, account_id, ends) VALUES (?1, ?2, ?3)";
    tx.execute(sql, params![&share.link.secret, account, share.link.until]).await?;
    audit::record(tx, account, &actor.origin, "share.create", Some(share.id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &share).await?;
    Ok(Created::Now(share))
}

async fn list(tx: &Tx, scope: Scope, page: PageRequest) -> Result<Page<Share>> {
    let mut query = select(scope);
    query.push_with(" AND id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY id LIMIT {}", i64::from(page.limit) + 1);
    let shares = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(shares, page.limit, |share| share.id.as_i64()))
}

async fn delete(tx: &Tx, actor: Actor, id: ShareId) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let mut query = select(actor.scope);
    query.push_with(" AND id = {}", id);
    let row = query.row(tx).await?.ok_or(StoreError::NotFound(Kind::Share))?;
    let secret = from_row(&row)?.link.secret;
    tx.execute("DELETE FROM share_directory WHERE secret = ?1", params![secret]).await?;
    tx.execute("DELETE FROM share WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    audit::record(tx, account, &actor.origin, "share.delete", Some(id.to_string())).await
}

async fn find_open(tx: &Tx, secret: String) -> Result<Option<Share>> {
    if secret.contains('\0') {
        return Ok(None);
    }
    let sql = "SELECT account_id FROM share_directory WHERE secret = ?1";
    let Some(row) = tx.query_opt(sql, params![&secret]).await? else { return Ok(None) };
    let account = AccountId::from_i64(row.i64("account_id")?);
    let sql = format!(
        "SELECT {COLUMNS} FROM share WHERE account_id = ?1 AND secret = ?2 AND starts <= ?3 AND ends > ?3"
    );
    tx.query_opt(&sql, params![account, secret, tx.now()]).await?.as_ref().map(from_row).transpose()
}

async fn open(tx: &Tx, secret: String, page: PageRequest) -> Result<Option<SharedView>> {
    let Some(share) = find_open(tx, secret).await? else { return Ok(None) };
    let Some(account) = accounts::find(tx, share.account).await? else { return Ok(None) };
    let (device_count, Page { items, next }) = match share.link.target {
        ShareTarget::Device(device) => {
            let whole = Scope::for_store_check(account.id);
            let shown = read::find(tx, &account, whole, &DeviceRef::Id(device)).await?;
            (1, Page { items: Vec::from_iter(shown), next: None })
        }
        ShareTarget::Group(group) => {
            (count_members(tx, account.id, group).await?, read::of_group(tx, &account, group, page).await?)
        }
    };
    let ids = items.iter().map(|device| device.id);
    let mut last = locations::last_of_devices(tx, account.id, ids).await?;
    last.retain(|_, last| last.location.time >= share.link.from);
    let devices = items.into_iter().map(|device| {
        let last = last.remove(&device.id);
        (device, last)
    });
    let account_name = share.link.show_account.then(|| account.shown_name().to_owned());
    let devices = Page { items: devices.collect(), next };
    Ok(Some(SharedView { account_name, device_count, devices, share }))
}

async fn count_members(tx: &Tx, account: AccountId, group: GroupId) -> Result<usize> {
    let sql = "SELECT count(*) AS members FROM group_member WHERE account_id = ?1 AND group_id = ?2";
    let members = tx.query_one(sql, params![account, group]).await?.i64("members")?;
    Ok(usize::try_from(members).unwrap_or_default())
}

/// Adds view counts, with one statement per link and no account lock: a popular link must not block other writes.
async fn add_views(tx: &Tx, mut reports: Vec<ViewReport>) -> Result<()> {
    // Every node locks the links in the same order, which prevents deadlocks.
    reports.sort_unstable_by_key(|report| (report.account, report.share));
    let sql = "UPDATE share SET views = views + ?3, \
                   last_viewed = CASE WHEN last_viewed > ?4 THEN last_viewed ELSE ?4 END \
               WHERE account_id = ?1 AND id = ?2";
    for report in reports {
        let views = i64::try_from(report.views).unwrap_or(i64::MAX);
        tx.execute(sql, params![report.account, report.share, views, report.last_viewed]).await?;
    }
    Ok(())
}

forward! {
    impl Shares for Database {
        write create_share(&self, &actor: Actor, new: NewShare, once: Option<IdempotencyKey>)
            -> Created<Share> = create;
        read list_shares(&self, scope: Scope, page: PageRequest) -> Page<Share> = list;
        write delete_share(&self, &actor: Actor, id: ShareId) -> () = delete;
        read find_created_share(&self, scope: Scope, &once: IdempotencyKey)
            -> Option<Share> = idempotency::find(scope.account, Some(&once));
        read find_open_share(&self, &secret: str) -> Option<Share> = find_open;
        read open_share(&self, &secret: str, page: PageRequest) -> Option<SharedView> = open;
        write add_share_views(&self, &reports: [ViewReport]) -> () = add_views;
    }
}
