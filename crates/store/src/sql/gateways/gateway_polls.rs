//! Polls of gateways: leased to one node at a time, settled together with their answer.

use perigee_core::gateways::feed_health::GatewayReport;
use perigee_core::id::{AccountId, GatewayId};
use perigee_core::store::{FAILING_POLLS, LeasedPoll, POLLS_PER_ACCOUNT, PollSettlement, Result};

use crate::sql::gateways::account_gateways::find_by_id;
use crate::sql::{gateways::gateway_reports, gateways::messages};
use crate::{Tx, Value, params};

/// Whether a poll of any feed is due.
pub(in crate::sql) async fn is_one_due(tx: &Tx) -> Result<bool> {
    let sql = "SELECT gateway_id FROM gateway_state WHERE next_poll <= ?1 \
               AND (lease_until IS NULL OR lease_until <= ?1) ORDER BY next_poll LIMIT 1";
    Ok(tx.query_opt(sql, params![tx.now()]).await?.is_some())
}

/// The polls that are under way.
#[derive(Default)]
struct Running {
    /// Accounts with at least one running poll.
    busy: Vec<i64>,
    /// Accounts with the maximum number of running polls.
    full: Vec<i64>,
    /// Number of running polls of gateways whose last poll failed.
    failing: i64,
}

impl Running {
    async fn load(tx: &Tx) -> Result<Self> {
        let sql = "SELECT account_id, CAST(COUNT(*) AS BIGINT) AS polls, \
                       CAST(SUM(CASE WHEN failures > 0 THEN 1 ELSE 0 END) AS BIGINT) AS failing \
                   FROM gateway_state WHERE lease_until > ?1 GROUP BY account_id";
        let mut running = Self::default();
        for row in tx.query(sql, params![tx.now()]).await? {
            let account = row.i64("account_id")?;
            running.busy.push(account);
            if row.i64("polls")? >= POLLS_PER_ACCOUNT {
                running.full.push(account);
            }
            running.failing += row.i64("failing")?;
        }
        Ok(running)
    }

    /// The conditions to try in turn. One poll of a failing gateway goes first, so that it is not postponed forever.
    fn choices(&self) -> Vec<String> {
        let listed = |accounts: &[i64]| match accounts {
            [] => String::new(),
            some => {
                let ids: Vec<String> = some.iter().map(i64::to_string).collect();
                format!(" AND s.account_id NOT IN ({})", ids.join(", "))
            }
        };
        let answering = format!("s.failures = 0{}", listed(&self.full));
        let failing = format!("s.failures > 0{}", listed(&self.busy));
        match self.failing {
            0 => vec![failing, answering],
            some if some < FAILING_POLLS => vec![answering, failing],
            _ => vec![answering],
        }
    }
}

/// Leases a gateway of these feeds whose poll is due, of the account whose turn it is.
pub(in crate::sql) async fn lease(
    tx: &Tx,
    feeds: Vec<&'static str>,
    lease_ms: i64,
    after: AccountId,
) -> Result<Option<LeasedPoll>> {
    for choice in Running::load(tx).await?.choices() {
        for turn in [">", "<="] {
            let condition = format!("{choice} AND s.account_id {turn} ?2");
            if let Some(poll) = lease_one(tx, &feeds, lease_ms, &condition, after).await? {
                return Ok(Some(poll));
            }
        }
    }
    Ok(None)
}

async fn lease_one(
    tx: &Tx,
    feeds: &[&'static str],
    lease_ms: i64,
    condition: &str,
    after: AccountId,
) -> Result<Option<LeasedPoll>> {
    let marks: Vec<String> = (0..feeds.len()).map(|index| format!("?{}", index + 3)).collect();
    let due = format!(
        "SELECT s.account_id, s.gateway_id, s.fence FROM gateway_state s \
         JOIN gateway g ON g.account_id = s.account_id AND g.id = s.gateway_id \
         WHERE s.next_poll <= ?1 AND (s.lease_until IS NULL OR s.lease_until <= ?1) AND g.feed IN ({}) \
             AND {condition} \
         ORDER BY s.account_id, s.next_poll LIMIT 1",
        marks.join(", "),
    );
    let mut values: Vec<Value> = params![tx.now(), after].to_vec();
    values.extend(feeds.iter().map(|feed| Value::from(*feed)));
    let sql = "UPDATE gateway_state SET lease_until = ?4, fence = fence + 1 \
               WHERE account_id = ?1 AND gateway_id = ?2 AND fence = ?3 RETURNING fence";
    // Rows are not locked across accounts: a gateway that another node has leased meanwhile is skipped.
    while let Some(row) = tx.query_opt(&due, &values).await? {
        let account = AccountId::from_i64(row.i64("account_id")?);
        let id = GatewayId::from_i64(row.i64("gateway_id")?);
        let until = tx.now().plus_millis(lease_ms);
        if let Some(leased) = tx.query_opt(sql, params![account, id, row.i64("fence")?, until]).await? {
            let fence = leased.i64("fence")?;
            let found = find_by_id(tx, account, id).await?;
            return Ok(found.map(|(gateway, _)| LeasedPoll { gateway, at: tx.now(), fence }));
        }
    }
    Ok(None)
}

/// Stores answer and cursor of a poll, and ends its lease.
pub(in crate::sql) async fn settle(tx: &Tx, poll: &LeasedPoll, settled: PollSettlement) -> Result<bool> {
    let (account, gateway) = (poll.gateway.account, poll.gateway.id);
    tx.lock_account_beside(account).await?;
    let failed = settled.error.is_some();
    let sql = "UPDATE gateway_state SET cursor = COALESCE(?4, cursor), complete_to = COALESCE(?5, complete_to), \
               next_poll = ?6, lease_until = NULL, fence = fence + 1, \
               failures = CASE WHEN CAST(?7 AS BIGINT) = 1 THEN failures + 1 ELSE 0 END \
               WHERE account_id = ?1 AND gateway_id = ?2 AND fence = ?3";
    let values = params![
        account,
        gateway,
        poll.fence,
        settled.cursor,
        settled.complete_to,
        settled.next,
        i64::from(failed),
    ];
    if tx.execute(sql, values).await? == 0 {
        return Ok(false);
    }
    let is_unreadable = settled.page.as_ref().is_some_and(|page| page.message.error.is_some());
    if let Some(page) = &settled.page {
        messages::add(tx, account, page).await?;
    }
    let report = GatewayReport {
        account,
        gateway,
        heard: (settled.messages > 0).then(|| (tx.now(), tx.now())),
        messages: settled.messages,
        errors: u64::from(failed || is_unreadable),
        refused: u64::from(settled.refused),
        last_error: settled.error.or_else(|| settled.page.and_then(|page| page.message.error)),
    };
    gateway_reports::add(tx, &report).await?;
    Ok(true)
}
