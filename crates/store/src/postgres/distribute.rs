//! Distributing the tables by account over the servers of a Citus cluster.
//!
//! Every table with an account column is distributed by it, so that the data of an account is on one server and
//! references stay within that server. Tables that are read without an account exist completely on every server.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::{Client, Error, Transaction};

use super::migrate::LOCK;
use crate::error::{OpenError, describe};

/// Small tables that exist completely on every server: they map keys to accounts.
pub const REFERENCE_TABLES: &[&str] =
    &["identifier_claim", "link", "session", "share_directory", "user_directory"];

/// Tables that stay on the coordinator, to which all nodes connect: their rows belong to no account, or their account
/// may be unknown.
pub const LOCAL_TABLES: &[&str] =
    &["push_key", "quarantine", "readiness", "schema_migration", "service_key", "signing_key", "store_clock"];

/// The column by which all other tables are distributed.
fn distributed_by(table: &str) -> &'static str {
    if table == "account" { "id" } else { "account_id" }
}

/// Objects that a cluster does not support: triggers, and references from a replicated table to a distributed one. The
/// store deletes the rows that they would delete.
const DROPPED: &[&str] = &[
    "DROP TRIGGER IF EXISTS device_forget_location_log ON device",
    "ALTER TABLE user_directory DROP CONSTRAINT IF EXISTS user_directory_account_id_fkey",
    "ALTER TABLE session DROP CONSTRAINT IF EXISTS session_account_id_user_id_fkey",
    "ALTER TABLE link DROP CONSTRAINT IF EXISTS link_account_id_user_id_fkey",
    "ALTER TABLE identifier_claim DROP CONSTRAINT IF EXISTS identifier_claim_account_id_device_id_fkey",
];

/// Tables whose layout was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distributed {
    /// Tables that now exist completely on every server.
    pub reference: Vec<String>,
    /// Tables that are distributed by account now.
    pub distributed: Vec<String>,
}

const IS_DISTRIBUTED: &str =
    "SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('device'))";

/// Whether the tables of this schema are distributed.
pub(crate) async fn is_distributed(client: &Client) -> Result<bool, Error> {
    if !exists(client, "SELECT to_regclass('pg_dist_partition') IS NOT NULL").await? {
        return Ok(false);
    }
    exists(client, IS_DISTRIBUTED).await
}

async fn exists(client: &Client, sql: &str) -> Result<bool, Error> {
    client.query_typed_one(sql, &[]).await?.try_get(0)
}

/// Distributes every table that is not distributed yet, all in one transaction. Refuses a database without Citus.
pub(crate) async fn distribute(client: &mut Client) -> Result<Distributed, OpenError> {
    let has_citus = "SELECT COUNT(DISTINCT proname) = 2 FROM pg_proc \
                     WHERE proname IN ('create_distributed_table', 'create_reference_table') \
                     AND pg_function_is_visible(oid)";
    if !exists(client, has_citus).await.map_err(|error| failed(&error))? {
        return Err(OpenError::NoCitus);
    }
    let tx = client.transaction().await.map_err(|error| failed(&error))?;
    let done = in_transaction(&tx).await.map_err(|error| failed(&error))?;
    tx.commit().await.map_err(|error| failed(&error))?;
    Ok(done)
}

fn failed(error: &Error) -> OpenError {
    OpenError::Distribute(describe(error))
}

async fn in_transaction(tx: &Transaction<'_>) -> Result<Distributed, Error> {
    tx.batch_execute(LOCK).await?;
    // A reference to a reference table is checked on all servers, which must not happen in parallel.
    tx.batch_execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'").await?;
    // They were dropped when the tables were distributed; Citus refuses any statement about triggers since then.
    if !tx.query_typed_one(IS_DISTRIBUTED, &[]).await?.try_get::<_, bool>(0)? {
        for sql in DROPPED {
            tx.batch_execute(sql).await?;
        }
    }
    let mut done = Distributed::default();
    for table in in_order(tx).await? {
        if LOCAL_TABLES.contains(&table.as_str()) {
            continue;
        }
        if REFERENCE_TABLES.contains(&table.as_str()) {
            tx.execute("SELECT create_reference_table(CAST($1 AS TEXT)::regclass)", &[&table]).await?;
            done.reference.push(table);
        } else {
            let sql = "SELECT create_distributed_table(CAST($1 AS TEXT)::regclass, CAST($2 AS TEXT))";
            tx.execute(sql, &[&table, &distributed_by(&table)]).await?;
            done.distributed.push(table);
        }
    }
    Ok(done)
}

/// The tables that are not distributed yet, each after the tables that it refers to; reference tables come first.
async fn in_order(tx: &Transaction<'_>) -> Result<Vec<String>, Error> {
    let sql = "SELECT CAST(c.relname AS TEXT), CAST(f.relname AS TEXT) FROM pg_class c \
               LEFT JOIN pg_constraint r ON r.conrelid = c.oid AND r.contype = 'f' \
               LEFT JOIN pg_class f ON f.oid = r.confrelid AND f.oid <> c.oid \
               WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition \
               AND c.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = current_schema()) \
               AND c.relname NOT LIKE 'pg\\_dist\\_%' \
               AND NOT EXISTS (SELECT 1 FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)";
    let mut wanted: BTreeMap<(bool, String), BTreeSet<String>> = BTreeMap::new();
    for row in tx.query(sql, &[]).await? {
        let (table, other): (String, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
        let is_later = !REFERENCE_TABLES.contains(&table.as_str());
        wanted.entry((is_later, table)).or_default().extend(other);
    }
    let mut ordered = Vec::with_capacity(wanted.len());
    while !wanted.is_empty() {
        let waiting: BTreeSet<String> = wanted.keys().map(|(_, table)| table.clone()).collect();
        let is_ready = |others: &BTreeSet<String>| others.is_disjoint(&waiting);
        let next = wanted.iter().find(|(_, others)| is_ready(others)).or_else(|| wanted.first_key_value());
        let Some(next) = next.map(|(key, _)| key.clone()) else { break };
        wanted.remove(&next);
        ordered.push(next.1);
    }
    Ok(ordered)
}
