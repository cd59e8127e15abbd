//! Sessions of the console, found by the hash of their secret.

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{NewSession, SecretHash, Session, SignInAddress};
use perigee_core::access::user::User;
use perigee_core::id::{AccountId, SessionId, UserId};
use perigee_core::store::Result;

use crate::params;
use crate::sql::{access::audit, access::users, notifications::push};
use crate::tx::Tx;

/// Creates a session and records the sign-in.
pub(in crate::sql) async fn create(tx: &Tx, origin: Origin, new: NewSession) -> Result<Session> {
    let user = users::lock(tx, new.user).await?;
    let address = origin.address.map(|address| address.to_string());
    let session = Session { id: SessionId::new(tx.ids(), tx.now()), user: user.id, expires: new.expires };
    tx.execute(
        "INSERT INTO session (hash, id, account_id, user_id, creation, expires, address)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![new.hash, session.id, user.account, user.id, tx.now(), session.expires, address],
    )
    .await?;
    tx.execute(
        "UPDATE account_user SET last_login = ?3 WHERE account_id = ?1 AND id = ?2",
        params![user.account, user.id, tx.now()],
    )
    .await?;
    audit::record(tx, user.account, &origin, "session.create", Some(user.id.to_string())).await?;
    Ok(session)
}

/// The session with this secret, unless it has expired.
pub(in crate::sql) async fn find(tx: &Tx, hash: SecretHash) -> Result<Option<Session>> {
    let row = tx
        .query_opt(
            "SELECT id, user_id, expires FROM session WHERE hash = ?1 AND expires > ?2",
            params![hash, tx.now()],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Session {
        id: SessionId::from_i64(row.i64("id")?),
        user: UserId::from_i64(row.i64("user_id")?),
        expires: row.timestamp("expires")?,
    }))
}

/// The addresses from which users with a session signed in, latest first. IDs of sessions are in the order of
/// creation.
pub(in crate::sql) async fn list_addresses(tx: &Tx, limit: u32) -> Result<Vec<SignInAddress>> {
    let sql = "SELECT s.account_id, s.address, u.email_folded FROM session s
               JOIN user_directory u ON u.user_id = s.user_id
               WHERE s.address IS NOT NULL AND s.expires > ?1 ORDER BY s.id DESC LIMIT ?2";
    let mut found = Vec::new();
    for row in tx.query(sql, params![tx.now(), i64::from(limit)]).await? {
        let Ok(address) = row.str("address")?.parse() else { continue };
        let account = AccountId::from_i64(row.i64("account_id")?);
        found.push(SignInAddress { email: row.text("email_folded")?, account, address });
    }
    Ok(found)
}

/// Ends a session, if it has not ended.
pub(in crate::sql) async fn delete(tx: &Tx, origin: Origin, id: SessionId) -> Result<()> {
    let row = tx.query_opt("SELECT account_id, user_id FROM session WHERE id = ?1", params![id]).await?;
    let Some(row) = row else { return Ok(()) };
    let account = AccountId::from_i64(row.i64("account_id")?);
    let user = UserId::from_i64(row.i64("user_id")?);
    tx.lock_account(account).await?;
    if tx.execute("DELETE FROM session WHERE id = ?1", params![id]).await? > 0 {
        push::delete_of_session(tx, account, id).await?;
        audit::record(tx, account, &origin, "session.delete", Some(user.to_string())).await?;
    }
    Ok(())
}

/// Ends every session of the user but the one to keep, and the notifications of their browsers.
pub(in crate::sql) async fn end_all(tx: &Tx, user: &User, keep: Option<SessionId>) -> Result<()> {
    tx.execute(
        "DELETE FROM session
         WHERE account_id = ?1 AND user_id = ?2 AND (CAST(?3 AS BIGINT) IS NULL OR id <> ?3)",
        params![user.account, user.id, keep],
    )
    .await?;
    push::delete_of_user(tx, user, keep).await
}
