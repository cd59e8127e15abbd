//! Second factors (TOTP): enrolled, confirmed, used and removed.

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::VerifiedTotp;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{SessionId, UserId};
use perigee_core::store::Result;

use crate::params;
use crate::sql::{access::audit, access::directory, access::sessions, access::users};
use crate::tx::Tx;

/// Stores a factor to be confirmed; fails if one was confirmed meanwhile.
pub(in crate::sql) async fn begin(tx: &Tx, user: UserId, secret: Vec<u8>) -> Result<()> {
    let user = users::lock(tx, user).await?;
    let kept = tx
        .execute(
            "UPDATE account_user SET totp_secret = ?3, totp_last_step = 0
             WHERE account_id = ?1 AND id = ?2 AND NOT totp_confirmed",
            params![user.account, user.id, secret],
        )
        .await?;
    if kept == 0 { Err(StoreError::RevisionMismatch(Kind::Credential)) } else { Ok(()) }
}

/// Confirms the factor that was proved, unless another was begun since, and ends all sessions except the one to keep.
pub(in crate::sql) async fn confirm(
    tx: &Tx,
    origin: Origin,
    user: UserId,
    proved: VerifiedTotp,
    keep: Option<SessionId>,
) -> Result<()> {
    let user = users::lock(tx, user).await?;
    let confirmed = tx
        .execute(
            "UPDATE account_user SET totp_confirmed = TRUE, totp_last_step = ?3
             WHERE account_id = ?1 AND id = ?2 AND totp_secret = ?4 AND NOT totp_confirmed",
            params![user.account, user.id, proved.step, proved.secret],
        )
        .await?;
    if confirmed == 0 {
        return Err(StoreError::NotFound(Kind::Credential));
    }
    sessions::end_all(tx, &user, keep).await?;
    audit::record(tx, user.account, &origin, "totp.create", Some(user.id.to_string())).await
}

/// Removes the factor, if there is one.
pub(in crate::sql) async fn delete(tx: &Tx, origin: Origin, user: UserId) -> Result<()> {
    let user = users::lock(tx, user).await?;
    let removed = tx
        .execute(
            "UPDATE account_user SET totp_secret = NULL, totp_confirmed = FALSE, totp_last_step = 0
             WHERE account_id = ?1 AND id = ?2 AND totp_secret IS NOT NULL",
            params![user.account, user.id],
        )
        .await?;
    if removed > 0 {
        audit::record(tx, user.account, &origin, "totp.delete", Some(user.id.to_string())).await?;
    }
    Ok(())
}

/// Marks a time step as used in one statement, so that of two concurrent requests with one code only one succeeds.
pub(in crate::sql) async fn use_step(tx: &Tx, user: UserId, step: i64) -> Result<bool> {
    let sql = "UPDATE account_user SET totp_last_step = ?2
               WHERE account_id = {account} AND id = ?1 AND totp_confirmed AND totp_last_step < ?2";
    let update = directory::naming_account(tx, user, sql, params![user, step]).await?;
    Ok(update.execute(tx).await? > 0)
}
