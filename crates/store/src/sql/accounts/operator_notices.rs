//! Notices to operators of the server.

use perigee_core::accounts::operator_notice::{NoticeKind, OperatorNotice};
use perigee_core::id::{AccountId, NoticeId};
use perigee_core::store::{OperatorNotices, Result};

use crate::forward::forward;
use crate::sql::{column, ids};
use crate::{Row, Tx, params};

/// Writes a notice, unless there was one with this subject. The account is locked.
pub(in crate::sql) async fn add(tx: &Tx, account: AccountId, kind: NoticeKind, subject: &str) -> Result<()> {
    let id = ids::fresh_id(tx, "operator_notice", account).await?;
    let sql = "INSERT INTO operator_notice (account_id, id, kind, subject, created) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (account_id, kind, subject) DO NOTHING";
    if tx.execute(sql, params![account, id, kind.name(), subject, tx.now()]).await? == 0 {
        return Ok(());
    }
    tracing::warn!(%account, kind = kind.name(), subject, "wrote a notice for the operators about this account");
    let sql = "DELETE FROM operator_notice WHERE account_id = ?1 AND id NOT IN ( \
                   SELECT id FROM operator_notice WHERE account_id = ?1 ORDER BY id DESC LIMIT ?2)";
    tx.execute(sql, params![account, OperatorNotice::KEPT]).await?;
    Ok(())
}

fn from_row(row: &Row) -> Result<OperatorNotice> {
    let kind = NoticeKind::named(row.str("kind")?);
    Ok(OperatorNotice {
        id: NoticeId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        account_name: row.text("account_name")?,
        kind: kind.ok_or_else(|| column::unreadable("kind", "not a kind of notice"))?,
        subject: row.text("subject")?,
        created: row.timestamp("created")?,
    })
}

async fn list(tx: &Tx) -> Result<Vec<OperatorNotice>> {
    let sql = "SELECT n.account_id, a.name AS account_name, n.id, n.kind, n.subject, n.created \
               FROM operator_notice n JOIN account a ON a.id = n.account_id \
               WHERE n.dismissed_at IS NULL ORDER BY n.created DESC, n.id DESC LIMIT 1000";
    tx.query(sql, &[]).await?.iter().map(from_row).collect()
}

async fn dismiss(tx: &Tx, id: NoticeId) -> Result<bool> {
    let sql = "UPDATE operator_notice SET dismissed_at = ?2 WHERE id = ?1 AND dismissed_at IS NULL";
    Ok(tx.execute(sql, params![id, tx.now()]).await? > 0)
}

forward! {
    impl OperatorNotices for Database {
        read list_notices(&self) -> Vec<OperatorNotice> = list;
        write dismiss_notice(&self, id: NoticeId) -> bool = dismiss;
    }
}
