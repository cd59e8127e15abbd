//! How many licences an account has and how many of them are used.

use perigee_core::account::{Account, LicenseUse};
use perigee_core::actor::Origin;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::AccountId;
use perigee_core::store::{AccountOverview, Result};

use super::{accounts, audit};
use crate::params;
use crate::row::Row;
use crate::tx::Tx;

/// Devices of account `a` that are active at `?1`, or at the latest instant a licence was decided at if the clock
/// went back behind it.
const USED: &str = "(SELECT COUNT(*) FROM device d
     WHERE d.account_id = a.id AND d.licensed
       AND (d.expires IS NULL OR d.expires > CASE WHEN a.decided_at > ?1 THEN a.decided_at ELSE ?1 END))";

/// Licences and how many are used now.
pub(super) async fn in_use(tx: &Tx, account: AccountId) -> Result<LicenseUse> {
    let sql = format!("SELECT a.licenses, {USED} AS used FROM account a WHERE a.id = ?2");
    let row = tx.query_opt(&sql, params![tx.now(), account]).await?;
    row.as_ref().map(from_row).transpose()?.ok_or(StoreError::NotFound(Kind::Account))
}

/// Sets the number of licences.
pub(super) async fn set(tx: &Tx, origin: Origin, id: AccountId, licenses: u32) -> Result<Account> {
    let account = accounts::lock(tx, id).await?;
    let used = in_use(tx, id).await?.used;
    if licenses < used {
        return Err(StoreError::LicensesInUse { used });
    }
    if licenses == account.licenses {
        return Ok(account);
    }
    tx.execute(
        "UPDATE account SET licenses = ?2, decided_at = CASE WHEN decided_at > ?3 THEN decided_at ELSE ?3 END
         WHERE id = ?1",
        params![id, licenses, tx.now()],
    )
    .await?;
    let detail = format!("licenses {} -> {licenses}", account.licenses);
    audit::record_with(tx, id, &origin, "account.licenses", Some(id.to_string()), Some(detail)).await?;
    Ok(Account { licenses, ..account })
}

/// Every account with its licences and its users, oldest first.
pub(super) async fn overviews(tx: &Tx) -> Result<Vec<AccountOverview>> {
    let columns = accounts::COLUMNS;
    let sql = format!(
        "SELECT {columns}, {USED} AS used,
             (SELECT COUNT(*) FROM account_user u WHERE u.account_id = a.id) AS users
         FROM account a ORDER BY creation, id"
    );
    let overview = |row: &Row| {
        Ok(AccountOverview {
            account: accounts::from_row(row)?,
            licenses: from_row(row)?,
            users: row.int("users")?,
        })
    };
    tx.query(&sql, params![tx.now()]).await?.iter().map(overview).collect()
}

fn from_row(row: &Row) -> Result<LicenseUse> {
    Ok(LicenseUse { total: row.int("licenses")?, used: row.int("used")? })
}
