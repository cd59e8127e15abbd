//! Message templates that an account has customised, one per kind.

use std::collections::BTreeMap;

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::AccountId;
use perigee_core::notifications::notification::StoredTemplate;
use perigee_core::revision::Revision;
use perigee_core::store::{Result, Templates};

use crate::forward::forward;
use crate::sql::{access::audit, accounts};
use crate::{Tx, params};

async fn all(tx: &Tx, account: AccountId) -> Result<BTreeMap<String, StoredTemplate>> {
    let sql = "SELECT kind, revision, source, last_modified FROM template WHERE account_id = ?1";
    let mut found = BTreeMap::new();
    for row in tx.query(sql, params![account]).await? {
        let template = StoredTemplate {
            revision: Revision(row.i64("revision")?),
            source: row.opt_str("source")?.map(str::to_owned),
            last_modified: Some(row.timestamp("last_modified")?),
        };
        found.insert(row.str("kind")?.to_owned(), template);
    }
    Ok(found)
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    kind: String,
    seen: Revision,
    source: Option<String>,
) -> Result<StoredTemplate> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = all(tx, account).await?.remove(&kind).unwrap_or(StoredTemplate::UNSET);
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Template));
    }
    if before.source == source {
        return Ok(before);
    }
    let revision = before.revision.next();
    let sql = "INSERT INTO template (account_id, kind, revision, source, last_modified) \
               VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (account_id, kind) DO UPDATE SET revision = excluded.revision, \
                   source = excluded.source, last_modified = excluded.last_modified";
    tx.execute(sql, params![account, kind.as_str(), revision.0, source.as_deref(), tx.now()]).await?;
    let action = if source.is_some() { "template.update" } else { "template.delete" };
    audit::record(tx, account, &actor.origin, action, Some(kind)).await?;
    Ok(StoredTemplate { revision, source, last_modified: Some(tx.now()) })
}

forward! {
    impl Templates for Database {
        read templates(&self, scope: Scope) -> BTreeMap<String, StoredTemplate> = all(scope.account);
        write replace_template(&self, &actor: Actor, &kind: str, seen: Revision, source: Option<String>)
            -> StoredTemplate = replace;
    }
}
