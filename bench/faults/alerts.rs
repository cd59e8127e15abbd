//! A run with alerts: devices with limits raise alerts, nodes are killed, and a simulated provider counts messages.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use perigee_bench::http::{Answer, Connection};
use perigee_bench::server::{Limits, Server, Setup};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Options;
use crate::client::locked;
use crate::outcome::{Outcome, examine, is_drained};
use crate::sink::{REQUEST, Sink};

/// SMS that the alerts of one device may cause per day.
const LIMIT: u32 = 10;
/// Connections that raise alerts.
const WRITERS: usize = 8;
/// Alerts in one request.
const BATCH: usize = 25;
/// The longest that the outbox may take to empty after the last alert.
const DRAIN_WITHIN: Duration = Duration::from_hours(1);

/// Runs each engine and prints the results.
pub(crate) async fn run(
    options: &Options,
    alerts: usize,
    engines: Vec<(&'static str, Option<String>)>,
) -> Result<ExitCode> {
    let mut ok = true;
    for (engine, database) in engines {
        eprintln!("{engine}");
        let sink = Sink::default();
        let setup = Setup {
            perigee: options.perigee.clone(),
            scratch: options.scratch.clone(),
            database,
            environment: environment(&sink.listen().await?, options.broken),
            limits: Limits::Lifted,
        };
        let (outcome, kills) = AlertRun::start(setup, sink, options, alerts).await?.finish().await?;
        println!("{}", outcome.describe(engine, kills));
        ok &= outcome.is_clean() != options.broken;
    }
    println!(
        "{}",
        match (options.broken, ok) {
            (false, true) =>
                "no limit exceeded, nothing sent that is not counted, every message accounted for",
            (false, false) => "FAILED: the server broke its promise",
            (true, true) => "caught: the server that counts after it sends exceeded its limits",
            (true, false) => "FAILED: a server that counts after it sends was not caught",
        }
    );
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn environment(sink: &str, broken: bool) -> Vec<(String, String)> {
    let mut environment = vec![
        ("PERIGEE_SMS__GATEWAY", "http"),
        ("PERIGEE_SMS__HTTP_URL", sink),
        ("PERIGEE_SMS__HTTP_ALLOW_PLAIN", "true"),
        ("PERIGEE_SMS__HTTP_JSON", REQUEST),
        ("PERIGEE_NOTIFICATIONS__SMS_DAILY_SEGMENTS", "0"),
        ("PERIGEE_NOTIFICATIONS__SMS_MONTHLY_SEGMENTS", "0"),
        ("PERIGEE_NOTIFICATIONS__CONCURRENCY", "32"),
    ];
    if broken {
        environment.push(("PERIGEE_UNSAFE_LATE_LIMIT", "1"));
    }
    environment.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Requests not acknowledged yet: a device, and the number of its first alert.
type Pending = Arc<Mutex<VecDeque<(usize, usize)>>>;

/// The nodes, devices and simulated provider of one run.
struct AlertRun {
    nodes: Vec<Server>,
    sink: Sink,
    /// The devices, each with the telephone number of its recipient.
    devices: Arc<Vec<(String, String)>>,
    alerts_each: usize,
    random: StdRng,
    kills: u32,
    max_kills: u32,
}

impl AlertRun {
    /// Starts a server (two on PostgreSQL) and creates the devices.
    async fn start(setup: Setup, sink: Sink, options: &Options, alerts: usize) -> Result<Self> {
        let count = usize::try_from(options.devices)?;
        let is_shared = setup.database.is_some();
        let mut first = Server::start(setup).await?;
        first.make_devices("storm", count).await?;
        let number = |index: usize| format!("+346{index:08}");
        let devices: Vec<(String, String)> =
            first.devices.iter().enumerate().map(|(index, id)| (id.clone(), number(index))).collect();
        let mut connection = Connection::open(&first.address).await?;
        for (device, number) in &devices {
            let limits = json!({"limits": {"expires": false, "dailySmsLimit": LIMIT}}).to_string();
            let routing = json!({"recipients": [{"channel": "sms", "address": number}]}).to_string();
            for (line, body) in [
                (format!("PATCH /api/devices/{device}"), limits),
                (format!("PUT /api/devices/{device}/alertRouting"), routing),
            ] {
                let answer = connection.call(&line, &first.token, body.as_bytes()).await?;
                if !answer.is_success() {
                    bail!("{line}: {}", answer.text());
                }
            }
        }
        let mut nodes = vec![first];
        if is_shared {
            nodes.push(nodes[0].start_beside()?);
        }
        Ok(Self {
            nodes,
            sink,
            devices: Arc::new(devices),
            alerts_each: (alerts / count).max(1),
            random: StdRng::seed_from_u64(options.seed),
            kills: 0,
            max_kills: options.cycles,
        })
    }

    /// Raises every alert while nodes are killed, waits until the outbox is empty, and checks.
    async fn finish(mut self) -> Result<(Outcome, u32)> {
        let batches = (0..self.alerts_each).step_by(BATCH);
        let work: VecDeque<(usize, usize)> =
            batches.flat_map(|first| (0..self.devices.len()).map(move |device| (device, first))).collect();
        let work = Arc::new(Mutex::new(work));
        while !locked(&work).is_empty() || self.kills < self.max_kills.min(3) {
            let mut writers = self.write(&work);
            self.pause_and_kill().await?;
            while writers.join_next().await.is_some() {}
            eprintln!("  {} kills, {} requests left", self.kills, locked(&work).len());
        }
        timeout(DRAIN_WITHIN, self.drain()).await.context("the outbox does not empty")??;
        let (node, messages) = (&self.nodes[0], self.devices.len() * self.alerts_each);
        let mut connection = Connection::open(&node.address).await?;
        let outcome =
            examine(&mut connection, &node.token, &self.sink, &self.devices, (LIMIT, messages)).await?;
        for node in &mut self.nodes {
            node.end()?;
        }
        Ok((outcome, self.kills))
    }

    fn write(&self, work: &Pending) -> JoinSet<()> {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let node = &self.nodes[writer % self.nodes.len()];
            let (address, token) = (node.address.clone(), node.token.clone());
            let (work, devices) = (Arc::clone(work), Arc::clone(&self.devices));
            let each = self.alerts_each;
            writers.spawn(async move {
                let Ok(mut connection) = Connection::open(&address).await else { return };
                loop {
                    let Some((device, first)) = locked(&work).pop_front() else { return };
                    let line = format!("POST /api/devices/{}/alerts", devices[device].0);
                    let body = alerts(first, (first + BATCH).min(each));
                    let answer = connection.call(&line, &token, body.as_bytes()).await;
                    let is_done = answer.as_ref().is_ok_and(Answer::is_success);
                    if !is_done {
                        // Sent again: duplicates are recognised.
                        locked(&work).push_back((device, first));
                    }
                    if answer.is_err() {
                        return;
                    }
                }
            });
        }
        writers
    }

    /// Waits a while, then kills one node and starts it again.
    async fn pause_and_kill(&mut self) -> Result<()> {
        tokio::time::sleep(Duration::from_millis(self.random.random_range(500..4_000))).await;
        let index = self.random.random_range(0..self.nodes.len());
        let node = &mut self.nodes[index];
        node.kill()?;
        self.kills += 1;
        node.start_again()
    }

    /// Keeps killing nodes until the outbox is empty or enough were killed, and then waits.
    async fn drain(&mut self) -> Result<()> {
        loop {
            let node = &self.nodes[0];
            let mut connection = Connection::open(&node.address).await?;
            if is_drained(&mut connection, &node.token).await? {
                return Ok(());
            }
            if self.kills < self.max_kills {
                self.pause_and_kill().await?;
            } else {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Alerts with these numbers, each with its own name so that none counts as a repetition.
fn alerts(first: usize, end: usize) -> String {
    let alert =
        |index: usize| json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": format!("storm {index}")});
    json!({ "alerts": (first..end).map(alert).collect::<Vec<_>>() }).to_string()
}
