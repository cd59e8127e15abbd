//! The directory of users across all accounts, by id and by e-mail address.

use perigee_core::access::user::User;
use perigee_core::error::{StoreError, Unique};
use perigee_core::id::{AccountId, UserId};
use perigee_core::store::Result;
use perigee_core::text::Email;

use crate::error::DbError;
use crate::sql::query::Query;
use crate::tx::Tx;
use crate::{Value, params};

/// The account of a user.
pub(in crate::sql) async fn account_of(tx: &Tx, user: UserId) -> Result<Option<AccountId>> {
    let row = tx.query_opt("SELECT account_id FROM user_directory WHERE user_id = ?1", params![user]).await?;
    Ok(row.map(|row| row.i64("account_id")).transpose()?.map(AccountId::from_i64))
}

/// A statement about this user, whose account `{account}` stands for. Where tables are distributed, the account is read
/// first, because only a statement that names it goes to one server.
pub(in crate::sql) async fn naming_account(
    tx: &Tx,
    user: UserId,
    sql: &str,
    values: &[Value],
) -> Result<Query> {
    if !tx.is_distributed() {
        let account = "(SELECT account_id FROM user_directory WHERE user_id = ?1)";
        return Ok(Query::new(sql.replace("{account}", account), values));
    }
    // No account has this number.
    let account = account_of(tx, user).await?.map_or(-1, AccountId::as_i64);
    let values = [values, params![account]].concat();
    Ok(Query::new(sql.replace("{account}", &format!("?{}", values.len())), &values))
}

/// The user with this address.
pub(in crate::sql) async fn find(tx: &Tx, email: &Email) -> Result<Option<UserId>> {
    let sql = "SELECT user_id FROM user_directory WHERE email_folded = ?1";
    let row = tx.query_opt(sql, params![email.folded()]).await?;
    Ok(row.map(|row| row.i64("user_id")).transpose()?.map(UserId::from_i64))
}

/// Adds a new user, unless the address is taken.
pub(in crate::sql) async fn add(tx: &Tx, user: &User) -> Result<()> {
    let sql = "INSERT INTO user_directory (user_id, account_id, email_folded) VALUES (?1, ?2, ?3)";
    let values = params![user.id, user.account, user.profile.email.folded()];
    tx.execute(sql, values).await.map(drop).map_err(taken)
}

/// Changes the user's address, unless it is taken.
pub(in crate::sql) async fn set_email(tx: &Tx, user: &User) -> Result<()> {
    let sql = "UPDATE user_directory SET email_folded = ?2 WHERE user_id = ?1";
    let values = params![user.id, user.profile.email.folded()];
    tx.execute(sql, values).await.map(drop).map_err(taken)
}

/// Removes a user from the directory.
pub(in crate::sql) async fn remove(tx: &Tx, user: UserId) -> Result<()> {
    tx.execute("DELETE FROM user_directory WHERE user_id = ?1", params![user]).await?;
    Ok(())
}

fn taken(error: DbError) -> StoreError {
    if error.violates("user_directory.email_folded") {
        StoreError::Taken(Unique::Email)
    } else {
        error.into()
    }
}
