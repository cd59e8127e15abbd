//! Scratch databases on a Citus cluster: a database of the same name on the coordinator and on each worker, copied from
//! a template whose tables are distributed. Shards and their servers are in catalogs of these databases, so that a copy
//! is a cluster of its own.

use std::sync::Arc;

use perigee_core::time::MockClock;
use tokio::sync::OnceCell;

use super::{START, on_server, template_name, with_database};
use crate::{Database, OpenOptions};

/// The environment variable with the `postgres://` addresses of the workers of the cluster whose coordinator is named
/// by [`super::SERVER`], with spaces between them.
pub const WORKERS: &str = "PERIGEE_TEST_CITUS";

/// The workers to test with; none without a cluster.
pub(super) fn workers() -> Vec<String> {
    let named = std::env::var(WORKERS).unwrap_or_default();
    named.split_whitespace().map(str::to_owned).collect()
}

/// Creates a database with this name on all servers, as a copy of the template.
pub(super) async fn create(coordinator: &str, name: &str) {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let template = TEMPLATE.get_or_init(|| make_template(coordinator)).await;
    on_all(coordinator, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
}

/// Drops a database on all servers.
pub(super) async fn drop(coordinator: &str, name: &str) {
    on_all(coordinator, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
}

async fn on_all(coordinator: &str, sql: &str) {
    on_server(coordinator, sql).await;
    for worker in workers() {
        on_server(&worker, sql).await;
    }
}

/// The SQL expressions of host and port of an address.
fn host_and_port(address: &str) -> String {
    let host = address.rsplit_once('@').map_or(address, |(_, host)| host);
    let host = host.split('/').next().unwrap_or_default();
    let (host, port) = host.rsplit_once(':').expect("the address has a port");
    format!("'{host}', {port}")
}

/// Makes an empty database with this name on all servers, with the extension, and adds the workers to it.
pub(super) async fn create_empty(coordinator: &str, name: &str) {
    on_all(coordinator, &format!("CREATE DATABASE {name}")).await;
    let address = with_database(coordinator, name);
    on_server(&address, "CREATE EXTENSION citus").await;
    on_server(&address, &format!("SELECT citus_set_coordinator_host({})", host_and_port(coordinator))).await;
    for worker in workers() {
        on_server(&with_database(&worker, name), "CREATE EXTENSION citus").await;
        on_server(&address, &format!("SELECT citus_add_node({})", host_and_port(&worker))).await;
    }
}

/// Makes a database with distributed tables unless an earlier process did.
async fn make_template(coordinator: &str) -> String {
    let name = format!("{}_distributed", template_name());
    let lock = super::TemplateLock::take(coordinator).await;
    if !lock.exists(&name).await {
        let unfinished = format!("{name}_unfinished");
        drop(coordinator, &unfinished).await;
        create_empty(coordinator, &unfinished).await;
        let url =
            with_database(coordinator, &unfinished).parse().expect("the coordinator's address is valid");
        let options = OpenOptions { use_given_clock: true, ..OpenOptions::serve() };
        let opened = Database::open(&url, options, Arc::new(MockClock::at(START))).await;
        opened.expect("the template opens").close().await;
        Database::distribute(&url).await.expect("the tables are distributed");
        // Only a database without connections can be copied; Citus has some of its own.
        on_all(coordinator, &format!("ALTER DATABASE {unfinished} ALLOW_CONNECTIONS FALSE")).await;
        let end = format!(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{unfinished}'"
        );
        on_all(coordinator, &end).await;
        on_all(coordinator, &format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
    }
    lock.release().await;
    name
}
