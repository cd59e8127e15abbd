//! Reads the data of a user that a sign-in or an authenticated request needs.

use perigee_core::access::credential::{Identity, Login, Totp};
use perigee_core::access::user::User;
use perigee_core::accounts::account::Account;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::UserId;
use perigee_core::store::Result;
use perigee_core::text::Email;

use crate::params;
use crate::row::Row;
use crate::sql::access::user_rows::{self, COLUMNS};
use crate::sql::{access::api_keys, access::directory, accounts};
use crate::tx::Tx;

/// The sign-in data of the user with this e-mail address.
pub(in crate::sql) async fn find_by_email(tx: &Tx, email: Email) -> Result<Option<Login>> {
    match directory::find(tx, &email).await? {
        Some(user) => find(tx, user).await,
        None => Ok(None),
    }
}

/// The sign-in data of the user with this id.
pub(in crate::sql) async fn find(tx: &Tx, id: UserId) -> Result<Option<Login>> {
    let Some((user, row)) = find_row(tx, id).await? else { return Ok(None) };
    let totp = match row.opt_bytes("totp_secret")? {
        Some(secret) => Some(Totp {
            secret,
            confirmed: row.bool("totp_confirmed")?,
            last_step: row.i64("totp_last_step")?,
        }),
        None => None,
    };
    Ok(Some(Login {
        account: account_of(tx, &user).await?,
        api_key: api_keys::find(tx, &user).await?,
        password_hash: row.opt_text("password_hash")?,
        preferences: user_rows::preferences(&row)?,
        totp,
        user,
    }))
}

/// The user and account of a request.
pub(in crate::sql) async fn identify(tx: &Tx, id: UserId) -> Result<Option<Identity>> {
    let Some((user, _row)) = find_row(tx, id).await? else { return Ok(None) };
    let api_key = api_keys::find(tx, &user).await?.map(|key| key.id);
    Ok(Some(Identity { account: account_of(tx, &user).await?, api_key, user }))
}

async fn find_row(tx: &Tx, id: UserId) -> Result<Option<(User, Row)>> {
    let sql = format!(
        "SELECT {COLUMNS}, password_hash, totp_secret, totp_confirmed, totp_last_step FROM account_user
         WHERE account_id = {{account}} AND id = ?1"
    );
    match directory::naming_account(tx, id, &sql, params![id]).await?.row(tx).await? {
        Some(row) => Ok(Some((user_rows::from_row(&row)?, row))),
        None => Ok(None),
    }
}

async fn account_of(tx: &Tx, user: &User) -> Result<Account> {
    accounts::find(tx, user.account).await?.ok_or(StoreError::NotFound(Kind::Account))
}
