//! A node with nothing to do reads what is due, not all accounts. `scripts/idle` measures how often and how long.

use perigee_core::gateways::claim::CountedClaims;
use perigee_core::id::AccountId;
use perigee_core::locations::location::CompactionBudget;
use perigee_core::notifications::notification::Channel;
use perigee_core::store::{
    Commands as _, Credentials as _, Devices as _, Escalations as _, GatewayHealth as _,
    LocationMaintenance as _, Maintenance as _, Outbox as _, Overviews as _, Polls as _, Reporters as _,
    RuleEngineStore as _, WebhookWork as _,
};
use perigee_store::testing::Scratch;
use perigee_store::{Database, Engine, OpenOptions};

use crate::support::number;

const ACCOUNTS: u32 = 3_000;
/// Rows that a round of all looks may read: a hundred accounts and fifty webhooks with the ends of their logs.
const ROWS_MAX: i64 = 1_500;

/// Does once what background jobs do every few seconds.
async fn look(node: &Database) {
    let budget = CompactionBudget { devices: 64, everything: false };
    assert_eq!(node.compact(budget).await.unwrap().devices, 0);
    assert_eq!(node.accounts_with_work().await.unwrap(), []);
    assert_eq!(node.webhooks_behind().await.unwrap().len(), 0);
    assert_eq!(node.webhooks_due().await.unwrap(), []);
    for channel in Channel::all() {
        assert_eq!(node.due_notifications(*channel, 10).await.unwrap().len(), 0);
        assert_eq!(node.next_due(*channel).await.unwrap(), None);
    }
    assert_eq!(node.due_steps(10).await.unwrap().len(), 0);
    assert_eq!(node.next_step_due().await.unwrap(), None);
    assert_eq!(node.expire_commands(10).await.unwrap(), []);
    assert_eq!(node.devices_with_commands(10).await.unwrap(), []);
    assert_eq!(node.announce_late_gateways().await.unwrap(), 0);
    assert!(node.lease_poll(&["spot-feed"], 1_000, AccountId::from_i64(0)).await.unwrap().is_none());
    assert_eq!(node.take_claimed(10, CountedClaims::All).await.unwrap().len(), 0);
    assert!(node.announce_expiries().await.unwrap().is_empty());
    assert!(node.next_expiry().await.unwrap().is_some());
    assert!(node.claim_overview(1_000).await.unwrap().is_none());
    node.watch_clock().await.unwrap();
    node.list_signing_keys().await.unwrap();
}

/// Rows of all tables that were read so far.
async fn rows_read(node: &Database) -> i64 {
    number(node, "SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT pg_stat_force_next_flush()) f", &[]).await;
    let sql = "SELECT CAST(SUM(seq_tup_read + COALESCE(idx_tup_fetch, 0)) AS BIGINT) FROM pg_stat_user_tables \
               WHERE schemaname = current_schema()";
    number(node, sql, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_node_does_not_read_all_accounts() {
    let scratch = Scratch::new(Engine::Postgres).await;
    // One connection, whose counts are complete when it says so.
    let options = OpenOptions { connections: 1, ..scratch.options() };
    let clock = std::sync::Arc::new(scratch.clock().clone());
    let node = Database::open(scratch.url(), options, clock).await.unwrap();
    let seed = include_str!("../../../../scripts/lib/idle.sql").replace(":accounts", &ACCOUNTS.to_string());
    scratch.run(&seed).await;
    // The first looks see everything; then nothing is added for so long that all is committed.
    for _ in 0..3 {
        look(&node).await;
        scratch.clock().advance_seconds(15);
    }
    let before = rows_read(&node).await;
    look(&node).await;
    let read = rows_read(&node).await - before;
    assert!((1..=ROWS_MAX).contains(&read), "{read} rows");
}
