//! Passwords, of which only hashes are stored, and the single-use links that set them.

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{LinkPurpose, NewLink, NewPassword, SecretHash};
use perigee_core::access::user::User;
use perigee_core::id::{AccountId, SessionId, UserId};
use perigee_core::store::Result;

use crate::params;
use crate::sql::{
    access::api_keys, access::audit, access::directory, access::sessions, access::user_rows, access::users,
    notifications::contact_groups, notifications::outbox,
};
use crate::tx::Tx;

/// Writes the password of a user whose account is locked, and ends the sessions and links that the old one allowed.
pub(in crate::sql) async fn put(tx: &Tx, user: &User, hash: String, keep: Option<SessionId>) -> Result<()> {
    tx.execute(
        "UPDATE account_user SET password_hash = ?3 WHERE account_id = ?1 AND id = ?2",
        params![user.account, user.id, hash],
    )
    .await?;
    let sql = "DELETE FROM link WHERE account_id = ?1 AND user_id = ?2";
    tx.execute(sql, params![user.account, user.id]).await?;
    sessions::end_all(tx, user, keep).await
}

/// Sets the password and ends every session but the one to keep.
pub(in crate::sql) async fn set(
    tx: &Tx,
    origin: Origin,
    user: UserId,
    new: NewPassword,
    keep: Option<SessionId>,
) -> Result<()> {
    let user = users::lock(tx, user).await?;
    put(tx, &user, new.hash, keep).await?;
    if new.end_api_key {
        api_keys::end(tx, &origin, &user).await?;
    }
    audit::record(tx, user.account, &origin, "password.set", Some(user.id.to_string())).await
}

/// Replaces the hash, if it is still this one.
pub(in crate::sql) async fn rehash(tx: &Tx, user: UserId, old: String, new: String) -> Result<()> {
    let sql = "UPDATE account_user SET password_hash = ?3
               WHERE account_id = {account} AND id = ?1 AND password_hash = ?2";
    directory::naming_account(tx, user, sql, params![user, old, new]).await?.execute(tx).await?;
    Ok(())
}

/// Stores a link, replacing earlier ones of the same purpose.
pub(in crate::sql) async fn create_link(tx: &Tx, origin: Origin, new: NewLink) -> Result<()> {
    let user = users::lock(tx, new.user).await?;
    tx.execute(
        "DELETE FROM link WHERE account_id = ?1 AND user_id = ?2 AND purpose = ?3",
        params![user.account, user.id, new.purpose.name()],
    )
    .await?;
    tx.execute(
        "INSERT INTO link (hash, account_id, user_id, purpose, expires) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![new.hash, user.account, user.id, new.purpose.name(), new.expires],
    )
    .await?;
    audit::record(tx, user.account, &origin, "link.create", Some(user.id.to_string())).await
}

/// Writes a mail with a link, unless the user cannot sign in or got several lately.
pub(in crate::sql) async fn mail_link(
    tx: &Tx,
    origin: Origin,
    id: UserId,
    purpose: LinkPurpose,
) -> Result<bool> {
    let user = users::lock(tx, id).await?;
    let sql = format!("SELECT {} FROM account_user WHERE account_id = ?1 AND id = ?2", user_rows::COLUMNS);
    let row = tx.query_one(&sql, params![user.account, user.id]).await?;
    let Some(contact) = contact_groups::contact_of(tx, &row)? else { return Ok(false) };
    if !outbox::write_password_link(tx, user.account, contact, purpose).await? {
        return Ok(false);
    }
    audit::record(tx, user.account, &origin, "link.mail", Some(user.id.to_string())).await?;
    Ok(true)
}

/// The user of a link, unless the link has expired.
pub(in crate::sql) async fn find_link(tx: &Tx, hash: SecretHash) -> Result<Option<User>> {
    let row = tx
        .query_opt(
            "SELECT account_id, user_id FROM link WHERE hash = ?1 AND expires > ?2",
            params![hash, tx.now()],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let account = AccountId::from_i64(row.i64("account_id")?);
    user_rows::find(tx, account, UserId::from_i64(row.i64("user_id")?)).await
}

/// Consumes a link and sets the password.
pub(in crate::sql) async fn redeem_link(
    tx: &Tx,
    origin: Origin,
    hash: SecretHash,
    new: NewPassword,
) -> Result<Option<UserId>> {
    let Some(user) = find_link(tx, hash).await? else { return Ok(None) };
    tx.lock_account(user.account).await?;
    // Another request may have used it while this job waited for the account's lock.
    if tx.execute("DELETE FROM link WHERE hash = ?1", params![hash]).await? == 0 {
        return Ok(None);
    }
    put(tx, &user, new.hash, None).await?;
    if new.end_api_key {
        api_keys::end(tx, &origin, &user).await?;
    }
    audit::record(tx, user.account, &origin, "link.redeem", Some(user.id.to_string())).await?;
    Ok(Some(user.id))
}
