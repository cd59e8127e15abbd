//! Finding and listing rules.

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::id::{AccountId, DeviceId, GroupId, RuleId};
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::rules::rule::{Rule, RuleSettings, RuleTarget};
use perigee_core::store::Result;

use super::super::query::Query;
use super::super::{column, ids, scope, search};
use crate::{Row, Tx, params};

const SELECT: &str = "\
    SELECT r.id, r.revision, r.generation, r.since, r.all_devices, r.settings, r.creation, r.last_modified, \
        (SELECT string_agg(CAST(t.device_id AS TEXT), ',' ORDER BY t.device_id) FROM rule_device t \
         WHERE t.account_id = ?1 AND t.rule_id = r.id) AS device_ids, \
        (SELECT string_agg(CAST(t.group_id AS TEXT), ',' ORDER BY t.group_id) FROM rule_group t \
         WHERE t.account_id = ?1 AND t.rule_id = r.id) AS group_ids \
    FROM rule r WHERE r.account_id = ?1";

/// Restricts a query over rules `r` to those that apply to a visible device.
pub(in crate::sql) fn keep_rules(query: &mut Query, scope: Scope) {
    let (own, groups) = match scope.reach {
        Reach::Account => return,
        Reach::Group(group) => (
            format!(
                "SELECT m.device_id FROM group_member m WHERE m.account_id = ?1 AND m.group_id = {}",
                group.as_i64()
            ),
            format!("SELECT {}", group.as_i64()),
        ),
        Reach::Device(device) => (
            format!("SELECT {}", device.as_i64()),
            format!(
                "SELECT m.group_id FROM group_member m WHERE m.account_id = ?1 AND m.device_id = {}",
                device.as_i64()
            ),
        ),
    };
    query.push(&format!(
        " AND (r.all_devices = TRUE \
         OR r.id IN (SELECT t.rule_id FROM rule_device t WHERE t.account_id = ?1 AND t.device_id IN ({own})) \
         OR r.id IN (SELECT t.rule_id FROM rule_group t WHERE t.account_id = ?1 AND t.group_id IN ({groups})))"
    ));
}

fn from_row(account: AccountId, row: &Row) -> Result<Rule> {
    let mut settings: RuleSettings = column::json(row, "settings")?;
    settings.target = RuleTarget {
        all: row.bool("all_devices")?,
        devices: ids::listed(row, "device_ids", DeviceId::from_i64)?,
        groups: ids::listed(row, "group_ids", GroupId::from_i64)?,
    };
    Ok(Rule {
        id: RuleId::from_i64(row.i64("id")?),
        account,
        revision: Revision(row.i64("revision")?),
        settings,
        generation: row.i64("generation")?,
        since: row.timestamp("since")?,
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

/// Removes devices and groups from a rule's target that the scope cannot see.
async fn narrow(tx: &Tx, scope: Scope, rule: &mut Rule) -> Result<()> {
    if scope.is_whole() {
        return Ok(());
    }
    let target = &mut rule.settings.target;
    let visible = scope::visible_devices(tx, scope, target.devices.iter().copied().collect()).await?;
    let named = target.devices.len() + target.groups.len();
    target.devices.retain(|device| visible.contains(device));
    target.groups.retain(|group| scope::sees_group(scope, *group));
    // A reader who cannot see all these devices must not see who is notified of their alerts.
    if target.all || target.devices.len() + target.groups.len() < named {
        rule.settings.routing = AlertRouting::default();
    }
    Ok(())
}

/// Every rule of an account, by id.
pub(in crate::sql) async fn all(tx: &Tx, account: AccountId) -> Result<Vec<Rule>> {
    let rows = tx.query(&format!("{SELECT} ORDER BY r.id"), params![account]).await?;
    rows.iter().map(|row| from_row(account, row)).collect()
}

/// The enabled rules of an account about trips, by id.
pub(super) async fn about_trips(tx: &Tx, account: AccountId) -> Result<Vec<Rule>> {
    let sql = format!("{SELECT} AND r.watches_trips = TRUE ORDER BY r.id");
    let rows = tx.query(&sql, params![account]).await?;
    let mut rules = rows.iter().map(|row| from_row(account, row)).collect::<Result<Vec<_>>>()?;
    rules.retain(|rule| rule.settings.enabled);
    Ok(rules)
}

/// One visible rule, with its complete target.
pub(super) async fn find_whole(tx: &Tx, scope: Scope, id: RuleId) -> Result<Option<Rule>> {
    let mut query = Query::new(SELECT, params![scope.account]);
    keep_rules(&mut query, scope);
    query.push_with(" AND r.id = {}", id);
    query.row(tx).await?.map(|row| from_row(scope.account, &row)).transpose()
}

/// Finds a rule that the scope may see.
pub(in crate::sql) async fn find(tx: &Tx, scope: Scope, id: RuleId) -> Result<Option<Rule>> {
    let mut found = find_whole(tx, scope, id).await?;
    if let Some(rule) = &mut found {
        narrow(tx, scope, rule).await?;
    }
    Ok(found)
}

/// Visible rules, by id.
pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    text: Option<String>,
    page: PageRequest,
) -> Result<Page<Rule>> {
    let mut query = Query::new(SELECT, params![scope.account]);
    keep_rules(&mut query, scope);
    if let Some(text) = &text {
        query.push_if_storable(" AND strpos(r.search, {}) > 0", &search::lowercase(text));
    }
    query.push_with(" AND r.id > {}", page.after.unwrap_or(i64::MIN));
    query.push_with(" ORDER BY r.id LIMIT {}", i64::from(page.limit) + 1);
    let mut rules = Vec::new();
    for row in query.rows(tx).await? {
        let mut rule = from_row(scope.account, &row)?;
        narrow(tx, scope, &mut rule).await?;
        rules.push(rule);
    }
    Ok(Page::cut(rules, page.limit, |rule| rule.id.as_i64()))
}
