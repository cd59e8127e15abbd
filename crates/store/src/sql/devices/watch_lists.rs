//! Watch lists of users, and which users have a device on theirs.

use perigee_core::access::actor::{Actor, Reach, Scope};
use perigee_core::devices::watch_list::{StoredWatchList, WatchList};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId, GroupId, UserId};
use perigee_core::notifications::notification::Audience;
use perigee_core::revision::Revision;
use perigee_core::store::{Result, WatchLists};

use crate::forward::forward;
use crate::sql::notifications::{contact_groups, push};
use crate::sql::{access::audit, access::user_rows, accounts, column, scope};
use crate::{Tx, params};

/// The watch list of a user, without devices and groups that the user can no longer see.
async fn find(tx: &Tx, scope: Scope, user: UserId) -> Result<StoredWatchList> {
    let sql = "SELECT revision, document, last_modified FROM watch_list \
               WHERE account_id = ?1 AND user_id = ?2";
    let Some(row) = tx.query_opt(sql, params![scope.account, user]).await? else {
        return Ok(StoredWatchList {
            revision: Revision(0),
            list: WatchList::default(),
            last_modified: None,
        });
    };
    let mut list: WatchList = column::json(&row, "document")?;
    let visible = scope::visible_devices(tx, scope, list.devices.iter().copied().collect()).await?;
    list.devices.retain(|device| visible.contains(device));
    let mut groups = Vec::new();
    for group in list.groups {
        match scope::require_groups(tx, scope, &[group]).await {
            Ok(()) => groups.push(group),
            Err(StoreError::UnknownReference { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    list.groups = groups;
    let (revision, last_modified) = (Revision(row.i64("revision")?), Some(row.timestamp("last_modified")?));
    Ok(StoredWatchList { revision, list, last_modified })
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    user: UserId,
    seen: Revision,
    mut list: WatchList,
) -> Result<StoredWatchList> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = find(tx, actor.scope, user).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::WatchList));
    }
    list.devices.sort_unstable();
    list.groups.sort_unstable();
    scope::require_devices(tx, actor.scope, &list.devices).await?;
    scope::require_groups(tx, actor.scope, &list.groups).await?;
    if before.list == list {
        return Ok(before);
    }
    let document = serde_json::to_string(&list).map_err(|cause| StoreError::Internal(cause.into()))?;
    let sql = "INSERT INTO watch_list (account_id, user_id, revision, document, enabled, last_modified) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
               ON CONFLICT (account_id, user_id) DO UPDATE SET revision = excluded.revision, \
                   document = excluded.document, enabled = excluded.enabled, \
                   last_modified = excluded.last_modified";
    let revision = before.revision.next();
    tx.execute(sql, params![account, user, revision.0, document, list.enabled, tx.now()]).await?;
    audit::record(tx, account, &actor.origin, "watchList.update", Some(user.to_string())).await?;
    Ok(StoredWatchList { revision, list, last_modified: Some(tx.now()) })
}

/// Adds the active users whose watch list covers this device, as far as they can see it.
pub(in crate::sql) async fn add_watchers(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    audience: &mut Audience,
) -> Result<()> {
    let columns: Vec<String> =
        user_rows::COLUMNS.split(',').map(|column| format!("u.{}", column.trim())).collect();
    let sql = format!(
        "SELECT {}, w.document FROM watch_list w \
         JOIN account_user u ON u.account_id = w.account_id AND u.id = w.user_id \
         WHERE w.account_id = ?1 AND w.enabled = TRUE ORDER BY w.user_id",
        columns.join(", ")
    );
    let rows = tx.query(&sql, params![account]).await?;
    if rows.is_empty() {
        return Ok(());
    }
    let sql = "SELECT group_id FROM group_member WHERE account_id = ?1 AND device_id = ?2";
    let mut groups = Vec::new();
    for row in tx.query(sql, params![account, device]).await? {
        groups.push(GroupId::from_i64(row.i64("group_id")?));
    }
    let mut watchers = Vec::new();
    for row in rows {
        let list: WatchList = column::json(&row, "document")?;
        let user = user_rows::from_row(&row)?;
        let sees = match user.profile.reach() {
            Reach::Account => true,
            Reach::Group(group) => groups.contains(&group),
            Reach::Device(own) => own == device,
        };
        if sees
            && list.covers(device, &groups)
            && let Some(contact) = contact_groups::contact_of(tx, &row)?
        {
            watchers.push((user.id, contact, list));
        }
    }
    let preferences = watchers.iter().map(|(user, contact, _)| (*user, contact.preferences.clone()));
    let browsers = push::browsers(tx, account, &preferences.collect()).await?;
    for (user, contact, list) in watchers {
        let browsers = browsers.get(&user).map(Vec::as_slice).unwrap_or_default();
        audience.add_watcher(contact, browsers, &list);
    }
    Ok(())
}

forward! {
    impl WatchLists for Database {
        read get_watch_list(&self, scope: Scope, user: UserId) -> StoredWatchList = find;
        write replace_watch_list(&self, &actor: Actor, user: UserId, seen: Revision, list: WatchList)
            -> StoredWatchList = replace;
    }
}
