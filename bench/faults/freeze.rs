//! Stops a second node for some seconds while it stores locations. The first node must continue, even while a change of
//! the account waits for the second.
//!
//! A control commits to the same database meanwhile, without the service. It waits as long as the machine, the database
//! and this program need for a commit, so that the service is blamed only for what it waits in addition.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::postgres::connect;
use perigee_bench::server::Server;
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::{Shared, locked};

/// How long the node is stopped: less than the time after which PostgreSQL ends its transaction.
const STOPPED_FOR: Duration = Duration::from_secs(4);
/// The longest time in which the first node may acknowledge nothing, beyond the longest wait of the control. PostgreSQL
/// ends a change of an account in which the second node was stopped after 1.5 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// Pause between two looks at the acknowledgements, and between two commits of the control.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A commit that takes no lock of the service and flushes the log.
const CONTROL: &str = "SELECT pg_logical_emit_message(true, 'perigee-faults', 'control')";
/// The sessions that hold locks in a transaction without a statement, for the report of a stall.
const HOLDERS: &str = "SELECT format('%s, idle for %s: %s; last statement: %s', a.state, \
    clock_timestamp() - a.state_change, \
    string_agg(format('%s %s %s', l.locktype, l.mode, COALESCE(CAST(l.objid AS TEXT), CAST(CAST(l.relation AS REGCLASS) AS TEXT))), ', '), \
    left(a.query, 200)) \
    FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND l.granted AND l.locktype <> 'virtualxid' \
    WHERE a.datname = current_database() AND a.state LIKE 'idle in transaction%' \
    GROUP BY a.pid, a.state, a.state_change, a.query";
/// Connections that write to the node, so that it is most likely in the middle of a commit.
const WRITERS: usize = 8;

/// The longest times without progress while a node was stopped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    /// Without an acknowledgement of the first node.
    pub(crate) service: Duration,
    /// Without a commit of the control.
    pub(crate) control: Duration,
}

impl Silence {
    /// Whether the first node waited for the stopped one though it did not have to, and not only for the machine.
    pub(crate) fn is_stall(self) -> bool {
        self.service > SILENCE_MAX + self.control
    }

    /// The longer of both times.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { service: self.service.max(other.service), control: self.control.max(other.control) }
    }
}

/// Runs a second node with a device of its own under load, stops it for a while, and watches the acknowledgements of
/// the first.
pub(crate) async fn freeze(server: &Server, shared: &Shared, database: &str, name: &str) -> Result<Silence> {
    let mut node = server.start_beside()?;
    node.make_named_devices(vec![name.to_owned()]).await?;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        writers.spawn(write(node.address.clone(), node.token.clone(), name.to_owned(), writer));
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    signal(&node, "STOP")?;
    let change = tokio::spawn(change(server.address.clone(), server.token.clone(), format!("{name}-change")));
    let (service, control) = tokio::join!(longest_silence(shared, database), longest_control(database));
    let silence = Silence { service: service?, control: control? };
    signal(&node, "CONT")?;
    writers.abort_all();
    node.kill()?;
    change.await??;
    Ok(silence)
}

fn signal(node: &Server, name: &str) -> Result<()> {
    let status = Command::new("kill").args([&format!("-{name}"), &node.id().to_string()]).status()?;
    if !status.success() {
        bail!("the node could not be signalled");
    }
    Ok(())
}

/// The longest time without an acknowledgement of the first node while the other one is stopped.
async fn longest_silence(shared: &Shared, database: &str) -> Result<Duration> {
    let begun = Instant::now();
    let (mut last, mut since) = (locked(&shared.ledger).counts.acknowledged, Instant::now());
    let (mut longest, mut is_reported) = (Duration::ZERO, false);
    while begun.elapsed() < STOPPED_FOR {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = locked(&shared.ledger).counts.acknowledged;
        longest = longest.max(since.elapsed());
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() > SILENCE_MAX && !is_reported {
            is_reported = true;
            report_holders(database).await?;
        }
    }
    Ok(longest)
}

/// Prints who holds locks of the database without doing anything.
async fn report_holders(database: &str) -> Result<()> {
    let client = connect(database).await?;
    let holders = client.query(HOLDERS, &[]).await?;
    eprintln!(
        "  the first node has acknowledged nothing for {SILENCE_MAX:?}; {} sessions hold locks",
        holders.len()
    );
    for holder in holders {
        eprintln!("    {}", holder.get::<_, String>(0));
    }
    Ok(())
}

/// The longest time between two commits of the control during the same time.
async fn longest_control(database: &str) -> Result<Duration> {
    let client = connect(database).await?;
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    let mut since = begun;
    while begun.elapsed() < STOPPED_FOR {
        tokio::time::sleep(LOOK_EVERY).await;
        client.execute(CONTROL, &[]).await?;
        longest = longest.max(since.elapsed());
        since = Instant::now();
    }
    Ok(longest)
}

/// Sends locations of a device that is in no ledger until the connection breaks.
async fn write(address: String, token: String, device: String, writer: usize) {
    let Ok(mut connection) = Connection::open(&address).await else { return };
    let line = format!("POST /api/devices/{device}/locations");
    for second in 0.. {
        let time = format!("2021-01-{:02}T00:{:02}:{:02}Z", writer + 1, second / 60 % 60, second % 60);
        let body = json!([{"dateTime": time, "latitude": 1, "longitude": 2}]).to_string();
        if connection.call(&line, &token, body.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Creates a device, which needs a lock of the account. The server must create it or answer 503.
async fn change(address: String, token: String, name: String) -> Result<()> {
    let mut connection = Connection::open(&address).await?;
    let body = json!({"name": name}).to_string();
    let answer = connection.call("POST /api/devices", &token, body.as_bytes()).await?;
    if !answer.is_success() && answer.status != 503 {
        bail!("a change was answered with {}: {}", answer.status, answer.text());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_is_blamed_only_for_what_it_waits_beyond_the_control() {
        let silence = |service, control| Silence {
            service: Duration::from_millis(service),
            control: Duration::from_millis(control),
        };
        assert!(!silence(1_900, 10).is_stall());
        assert!(silence(2_100, 10).is_stall());
        assert!(!silence(2_900, 1_000).is_stall());
        assert!(silence(3_900, 1_000).is_stall());
    }
}
