//! The audit log: actions with user and way of access, and refusals.

use perigee_core::access::actor::{Origin, Scope};
use perigee_core::access::audit::{AuditEntry, AuditFilter, AuditOutcome, Refusals};
use perigee_core::id::{AccountId, AuditId, UserId};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Additions, Audits, Result};

use crate::forward::forward;
use crate::params;
use crate::row::Row;
use crate::sql::{accounts, column, ids, query::insert_many};
use crate::tx::Tx;

/// Records an action; the account must be locked.
pub(crate) async fn record(
    tx: &Tx,
    account: AccountId,
    origin: &Origin,
    action: &str,
    target: Option<String>,
) -> Result<()> {
    record_with(tx, account, origin, action, target, None).await
}

/// Records the same action for many targets, in this order; the account must be locked.
pub(crate) async fn record_many(
    tx: &Tx,
    account: AccountId,
    origin: &Origin,
    action: &str,
    targets: &[String],
) -> Result<()> {
    let first = ids::next_ids(tx, "audit", account, targets.len()).await?;
    let address = origin.address.map(|address| address.to_string());
    let row = |(id, target): (i64, &String)| {
        params![
            account,
            id,
            tx.now(),
            origin.via.name(),
            origin.user,
            address.as_deref(),
            origin.request.as_deref(),
            action,
            target,
            AuditOutcome::Done.name(),
        ]
        .to_vec()
    };
    let rows: Vec<_> = (first..).zip(targets).map(row).collect();
    let head =
        "INSERT INTO audit (account_id, id, at, via, user_id, address, request, action, target, outcome)";
    insert_many(tx, head, &rows, "").await?;
    tx.mark(Additions::to_account(account));
    Ok(())
}

/// Records an action with a detail text.
pub(crate) async fn record_with(
    tx: &Tx,
    account: AccountId,
    origin: &Origin,
    action: &str,
    target: Option<String>,
    detail: Option<String>,
) -> Result<()> {
    let id = ids::next_id(tx, "audit", account).await?;
    tx.execute(
        "INSERT INTO audit (account_id, id, at, via, user_id, address, request, action, target, outcome, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            account,
            id,
            tx.now(),
            origin.via.name(),
            origin.user,
            origin.address.map(|address| address.to_string()),
            origin.request.as_deref(),
            action,
            target,
            AuditOutcome::Done.name(),
            detail,
        ],
    )
    .await?;
    // Every change by a user is recorded here, also those without an event: retrying a delivery is one.
    tx.mark(Additions::to_account(account));
    Ok(())
}

async fn add_refusals(tx: &Tx, account: AccountId, refusals: Vec<Refusals>) -> Result<()> {
    accounts::lock(tx, account).await?;
    for each in refusals {
        let id = ids::next_id(tx, "audit", account).await?;
        let hour = Refusals::hour_of(each.first_at).as_millis();
        tx.execute(
            "INSERT INTO audit (account_id, id, at, via, user_id, address, request, action, target, outcome, detail,
                                count, last_at, refusal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (account_id, refusal) WHERE refusal IS NOT NULL DO UPDATE SET
                 count = audit.count + excluded.count,
                 last_at = CASE WHEN audit.last_at > ?15 THEN audit.last_at ELSE ?15 END",
            params![
                account,
                id,
                each.first_at,
                each.origin.via.name(),
                each.origin.user,
                each.origin.address.map(|address| address.to_string()),
                each.origin.request,
                each.action,
                each.target,
                AuditOutcome::Denied.name(),
                each.detail,
                i64::try_from(each.count).unwrap_or(i64::MAX),
                (each.count > 1).then_some(each.last_at),
                format!("{hour} {}", each.kind),
                each.last_at,
            ],
        )
        .await?;
    }
    Ok(())
}

async fn list(tx: &Tx, scope: Scope, filter: AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>> {
    if !scope.is_whole() {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let rows = tx
        .query(
            "SELECT id, at, via, user_id, address, request, action, target, outcome, detail, count, last_at
             FROM audit
             WHERE account_id = ?1 AND id < ?2
               AND (CAST(?3 AS BIGINT) IS NULL OR user_id = ?3)
               AND (CAST(?4 AS TEXT) IS NULL OR action = ?4)
               AND (CAST(?5 AS TEXT) IS NULL OR target = ?5)
             ORDER BY id DESC LIMIT ?6",
            params![
                scope.account,
                page.after.unwrap_or(i64::MAX),
                filter.user,
                filter.action,
                filter.target,
                i64::from(page.limit) + 1,
            ],
        )
        .await?;
    let entries = rows.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(entries, page.limit, |entry| entry.id.as_i64()))
}

fn from_row(row: &Row) -> Result<AuditEntry> {
    let outcome = row.str("outcome")?;
    let outcome = [AuditOutcome::Done, AuditOutcome::Denied]
        .into_iter()
        .find(|known| known.name() == outcome)
        .ok_or_else(|| column::unreadable("outcome", "not an outcome"))?;
    Ok(AuditEntry {
        id: AuditId::from_i64(row.i64("id")?),
        at: row.timestamp("at")?,
        via: row.text("via")?,
        user: row.opt_i64("user_id")?.map(UserId::from_i64),
        address: column::opt_parsed(row, "address")?,
        request: row.opt_text("request")?,
        action: row.text("action")?,
        target: row.opt_text("target")?,
        outcome,
        detail: row.opt_text("detail")?,
        count: row.int("count")?,
        last_at: row.opt_timestamp("last_at")?,
    })
}

forward! {
    impl Audits for Database {
        write add_refusals(&self, account: AccountId, refusals: Vec<Refusals>) -> () = add_refusals;
        read list_audits(&self, scope: Scope, &filter: AuditFilter, page: PageRequest)
            -> Page<AuditEntry> = list;
    }
}
