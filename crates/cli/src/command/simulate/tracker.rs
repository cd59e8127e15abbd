//! `perigee simulate --protocol`: one tracker over a real socket, as the hardware would do it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use perigee_core::time::{Clock, SystemClock};
use perigee_simulator::tracker::{PROTOCOLS, Plan, Step, Summary, protocol_client, run as run_tracker};
use serde::Serialize;

use crate::args::{Common, Simulate};
use crate::output::{Answer, print};

/// How long a tracker waits for an acknowledgement, as real ones do.
const ACK_TIMEOUT: Duration = Duration::from_secs(20);
/// How long it waits before it connects again.
const PAUSE: Duration = Duration::from_secs(5);

/// Runs the tracker until its records are delivered, or until interrupted.
pub(crate) async fn run(common: &Common, options: &Simulate, protocol: &str) -> Result<()> {
    let name = options.identifier.as_str();
    ensure!(
        (1..=15).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_digit()),
        "--identifier must have 1 to 15 decimal digits"
    );
    let Some(mut client) = protocol_client(protocol, name) else {
        let known: Vec<&str> = PROTOCOLS.iter().map(|(known, _)| *known).collect();
        bail!("the protocol {protocol:?} cannot be simulated; choose one of {}", known.join(", "));
    };
    let to = options.to.as_deref().unwrap_or_default();
    let mut found = tokio::net::lookup_host(to)
        .await
        .with_context(|| format!("cannot find {to:?}; give --to as HOST:PORT"))?;
    let server =
        found.next().with_context(|| format!("the host in --to {to:?} has no IP address; check its name"))?;
    let plan = Plan {
        server,
        start_s: SystemClock.now().as_millis() / 1000,
        records: (options.seconds / options.every).max(1),
        every: Duration::from_secs(options.every.into()),
        ack_timeout: ACK_TIMEOUT,
        pause: PAUSE,
        outage: Duration::from_secs(options.outage.into()),
    };
    eprintln!(
        "simulating the {protocol} tracker {name}, which reports to {server} every {} s for {} s; Ctrl-C ends it",
        options.every, options.seconds
    );
    let mut acknowledged = 0;
    let mut watch = |step: Step<'_>| match step {
        Step::Acknowledged(records) => acknowledged += records.len(),
        Step::Failed(error) => eprintln!("{}", explain(error, server, name)),
    };
    let done = tokio::select! {
        done = run_tracker(plan, &mut *client, &mut watch) => Some(done),
        _interrupted = tokio::signal::ctrl_c() => None,
    };
    let summary = done.unwrap_or_else(|| Summary {
        acknowledged: u32::try_from(acknowledged).unwrap_or(u32::MAX),
        ..Summary::default()
    });
    print(&Shown { protocol: protocol.to_owned(), identifier: name.to_owned(), summary }, common.json)
}

/// Why the tracker waits, and what to do about it.
fn explain(error: &io::Error, server: SocketAddr, name: &str) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::UnexpectedEof => format!(
            "{server} does not acknowledge: create a device with the identifier {name}, or claim it under \
             GET /api/heardDevices; trying again"
        ),
        _ => format!("cannot send to {server}: {error}; trying again"),
    }
}

#[derive(Serialize)]
struct Shown {
    protocol: String,
    identifier: String,
    #[serde(flatten)]
    summary: Summary,
}

impl Answer for Shown {
    fn in_words(&self) -> String {
        let Summary { recorded, acknowledged, resent, connections, commands } = self.summary;
        format!(
            "{} {} recorded {recorded}, acknowledged {acknowledged}, sent again {resent}, connections {connections}, \
             commands {commands}",
            self.protocol, self.identifier
        )
    }
}
