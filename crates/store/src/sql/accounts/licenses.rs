//! The licences of accounts, how many are used, and overviews of accounts.

use perigee_core::access::actor::Origin;
use perigee_core::accounts::account::{Account, LicenseUse};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::AccountId;
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{AccountOrder, AccountOverview, Result};

use crate::params;
use crate::row::Row;
use crate::sql::query::Query;
use crate::sql::{access::audit, accounts, accounts::license_check};
use crate::tx::Tx;

/// SQL for the number of active devices of account `a` at `?1`, or at the instant of the latest decision if that is later:
/// the held licences, less those that have expired since they were counted. Each sub-select reads only the expired devices,
/// by an index.
const USED: &str = "(a.held_licenses
     - (SELECT COUNT(*) FROM device d WHERE d.account_id = a.id AND d.lapsed = TRUE)
     - (SELECT COUNT(*) FROM device d WHERE d.account_id = a.id AND d.licensed = TRUE
           AND d.expires <= CASE WHEN a.decided_at > ?1 THEN a.decided_at ELSE ?1 END))";

/// The licences of an account, and how many are in use now.
pub(in crate::sql) async fn in_use(tx: &Tx, account: AccountId) -> Result<LicenseUse> {
    let sql = format!("SELECT a.licenses, {USED} AS used FROM account a WHERE a.id = ?2");
    let row = tx.query_opt(&sql, params![tx.now(), account]).await?;
    row.as_ref().map(from_row).transpose()?.ok_or(StoreError::NotFound(Kind::Account))
}

/// Sets the number of licences, which must not be lower than the number in use. Recomputes the held licences, because
/// this is rare.
pub(in crate::sql) async fn set(tx: &Tx, origin: Origin, id: AccountId, licenses: u32) -> Result<Account> {
    let account = accounts::lock(tx, id).await?;
    license_check::recount(tx, id).await?;
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

/// Sets the ceiling of e-mails, under the lock under which e-mails are counted.
pub(in crate::sql) async fn set_email_ceiling(
    tx: &Tx,
    origin: Origin,
    id: AccountId,
    ceiling: Option<u32>,
) -> Result<()> {
    accounts::lock(tx, id).await?;
    tx.execute("UPDATE account SET email_ceiling = ?2 WHERE id = ?1", params![id, ceiling]).await?;
    let detail =
        Some(ceiling.map_or_else(|| "email ceiling default".into(), |most| format!("email ceiling {most}")));
    audit::record_with(tx, id, &origin, "account.emailCeiling", Some(id.to_string()), detail).await
}

/// Selects the overviews of accounts; `?1` is now.
fn select_overviews() -> String {
    let columns = accounts::COLUMNS;
    format!(
        "SELECT {columns}, email_ceiling, {USED} AS used,
             (SELECT COUNT(*) FROM account_user u WHERE u.account_id = a.id) AS users,
             (SELECT COUNT(*) FROM device d WHERE d.account_id = a.id) AS devices,
             (SELECT MAX(l.last_seen) FROM device_live l WHERE l.account_id = a.id) AS last_heard,
             (SELECT MAX(u.last_login) FROM account_user u WHERE u.account_id = a.id) AS last_login
         FROM account a"
    )
}

fn overview_of(row: &Row) -> Result<AccountOverview> {
    Ok(AccountOverview {
        account: accounts::from_row(row)?,
        licenses: from_row(row)?,
        users: row.int("users")?,
        devices: row.int("devices")?,
        email_ceiling: row.opt_int("email_ceiling")?,
        last_activity: row.opt_timestamp("last_heard")?.max(row.opt_timestamp("last_login")?),
    })
}

/// The overviews of all accounts, oldest first.
pub(in crate::sql) async fn overviews(tx: &Tx) -> Result<Vec<AccountOverview>> {
    let sql = format!("{} ORDER BY creation, id", select_overviews());
    tx.query(&sql, params![tx.now()]).await?.iter().map(overview_of).collect()
}

/// The last activity in an overview `o`.
const LAST_ACTIVITY: &str = "COALESCE(CASE WHEN o.last_heard > o.last_login THEN o.last_heard ELSE o.last_login END, \
                             o.last_heard, o.last_login)";

/// Sorts overviews `o`; `None` for the order of their ids, which is that of creation.
fn sorted_by(order: AccountOrder) -> Option<String> {
    Some(match order {
        AccountOrder::Creation => return None,
        AccountOrder::NewestFirst => "o.id DESC".to_owned(),
        AccountOrder::Name => "lower(o.name), o.id".to_owned(),
        AccountOrder::Licenses => "o.used DESC, o.id".to_owned(),
        AccountOrder::Devices => "o.devices DESC, o.id".to_owned(),
        AccountOrder::Users => "o.users DESC, o.id".to_owned(),
        AccountOrder::Activity => format!("{LAST_ACTIVITY} DESC NULLS LAST, o.id"),
        AccountOrder::Inactivity => format!("{LAST_ACTIVITY} ASC NULLS FIRST, o.id"),
    })
}

/// Accounts whose name contains this text.
pub(in crate::sql) async fn search(
    tx: &Tx,
    text: Option<String>,
    order: AccountOrder,
    page: PageRequest,
) -> Result<Page<AccountOverview>> {
    let sort = sorted_by(order);
    let overviews = select_overviews();
    let select = match &sort {
        Some(_) => format!("SELECT * FROM ({overviews}"),
        None => overviews,
    };
    let mut query = Query::new(select, params![tx.now()]);
    let after = page.after.filter(|_| sort.is_none());
    query.push_with(" WHERE a.id > {}", after.unwrap_or(i64::MIN));
    if let Some(text) = text {
        query.push_if_storable(" AND strpos(lower(a.name), {}) > 0", &text);
    }
    let Some(sort) = sort else {
        query.push_with(" ORDER BY a.id LIMIT {}", i64::from(page.limit) + 1);
        let found = query.rows(tx).await?.iter().map(overview_of).collect::<Result<Vec<_>>>()?;
        return Ok(Page::cut(found, page.limit, |overview| overview.account.id.as_i64()));
    };
    let before = page.after.unwrap_or(0).max(0);
    query.push(&format!(") AS o ORDER BY {sort}"));
    query.push_with(" LIMIT {}", i64::from(page.limit) + 1);
    query.push_with(" OFFSET {}", before);
    let found = query.rows(tx).await?.iter().map(overview_of).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(found, page.limit, |_| before.saturating_add(i64::from(page.limit))))
}

/// The overview of one account.
pub(in crate::sql) async fn overview(tx: &Tx, id: AccountId) -> Result<Option<AccountOverview>> {
    let sql = format!("{} WHERE a.id = ?2", select_overviews());
    tx.query_opt(&sql, params![tx.now(), id]).await?.as_ref().map(overview_of).transpose()
}

fn from_row(row: &Row) -> Result<LicenseUse> {
    Ok(LicenseUse { total: row.int("licenses")?, used: row.int("used")? })
}
