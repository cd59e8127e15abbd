//! Generates load from many connections and measures it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::machine::Usage;
use perigee_bench::server::Server;
use perigee_core::time::Timestamp;
use perigee_simulator::latency::Latencies;
use tokio::task::JoinSet;

use crate::body::{Body, INTERVAL_MS};

/// Bodies per connection, shared by its devices to save memory.
pub(crate) const BODIES: usize = 8;

/// The work of each connection of a load.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Posts batches of this many locations to the devices in turn, with a pause after each.
    Post { points: usize, first_round: usize, pause: Duration },
    /// Posts single locations to devices that are named by their identifiers.
    PostByIdentifier { first_round: usize },
    /// Posts single locations with current times: a second later each time, from this instant on.
    PostLive { from: Timestamp },
    /// The same to the floor endpoint, which stores nothing.
    PostFloor { points: usize },
    /// Gets a path in which `{device}` is replaced by the first devices in turn, with a pause after each.
    Get { path: String, devices: usize, pause: Duration },
}

impl Work {
    /// Posts without a pause.
    pub(crate) fn post(points: usize, first_round: usize) -> Self {
        Self::Post { points, first_round, pause: Duration::ZERO }
    }

    /// The bodies that a connection sends to these devices. Made before the load begins.
    fn bodies(&self, devices: &[(u32, String)]) -> Vec<Body> {
        let points = match self {
            Self::Post { points, .. } | Self::PostFloor { points } => *points,
            Self::PostLive { .. } | Self::PostByIdentifier { .. } => 1,
            Self::Get { .. } => return Vec::new(),
        };
        devices.iter().take(BODIES).map(|(device, _)| Body::new(*device, points, INTERVAL_MS)).collect()
    }

    /// Gets without a pause.
    pub(crate) fn get(path: &str) -> Self {
        Self::Get { path: path.to_owned(), devices: usize::MAX, pause: Duration::ZERO }
    }
}

/// Measurements of a load.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    pub(crate) seconds: f64,
    pub(crate) latencies: Latencies,
    /// CPU seconds that the server used.
    pub(crate) cpu_s: f64,
    /// Bytes of the bodies sent.
    pub(crate) sent: u64,
}

impl Load {
    /// Requests a second.
    pub(crate) fn rate(&self) -> f64 {
        number(self.requests) / self.seconds
    }

    /// The latency quantile in parts per thousand, in milliseconds.
    pub(crate) fn per_mille_ms(&self, per_mille: u64) -> f64 {
        self.latencies.per_mille(per_mille).as_secs_f64() * 1000.0
    }

    /// The longest latency in milliseconds.
    pub(crate) fn longest_ms(&self) -> f64 {
        self.latencies.most().as_secs_f64() * 1000.0
    }
}

/// A count as a float; the counts here are small enough to be exact.
#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// Runs the work on this many connections for this long, spread over the servers. Devices are divided among the
/// connections; if there are fewer devices than connections, some share one.
pub(crate) async fn run(
    servers: &[&Server],
    connections: usize,
    duration: Duration,
    work: &Work,
) -> Result<Load> {
    prepare(servers, connections, work).await?.run(duration).await
}

/// Opens the connections of a load and makes the bodies, so that loads that run together begin together.
pub(crate) async fn prepare<'s>(
    servers: &[&'s Server],
    connections: usize,
    work: &Work,
) -> Result<Prepared<'s>> {
    let mut workers = Vec::new();
    for index in 0..connections {
        let server = servers[index % servers.len()];
        let named = match work {
            Work::PostByIdentifier { .. } => &server.identifiers,
            _ => &server.devices,
        };
        let mine: Vec<_> = (0..).zip(named.iter().cloned()).skip(index).step_by(connections).collect();
        workers.push(Worker {
            connection: Connection::open(&server.address).await?,
            token: server.token.as_str().into(),
            bodies: work.bodies(&mine),
            devices: mine,
            until: Instant::now(),
        });
    }
    Ok(Prepared { servers: servers.to_vec(), workers, work: work.clone() })
}

/// A load that can begin.
pub(crate) struct Prepared<'s> {
    servers: Vec<&'s Server>,
    workers: Vec<Worker>,
    work: Work,
}

impl Prepared<'_> {
    /// Runs it for this long.
    pub(crate) async fn run(self, duration: Duration) -> Result<Load> {
        let used = || -> Result<Vec<Usage>> { self.servers.iter().map(|server| server.usage()).collect() };
        let before = used()?;
        let mut tasks = JoinSet::new();
        let began = Instant::now();
        for mut worker in self.workers {
            worker.until = began + duration;
            tasks.spawn(worker.run(self.work.clone()));
        }
        let (mut latencies, mut sent) = (Latencies::default(), 0);
        while let Some(done) = tasks.join_next().await {
            let (counted, bytes) = done??;
            latencies.merge(&counted);
            sent += bytes;
        }
        let seconds = began.elapsed().as_secs_f64();
        let sum = |of: fn(&Usage) -> f64, all: &[Usage]| all.iter().map(of).sum::<f64>();
        let after = used()?;
        Ok(Load {
            requests: latencies.count(),
            seconds,
            latencies,
            cpu_s: sum(|one| one.cpu_s, &after) - sum(|one| one.cpu_s, &before),
            sent,
        })
    }
}

/// How the locations of a load are dated.
#[derive(Clone, Copy, Debug)]
enum Dates {
    /// By rounds that no other load uses, starting at this one.
    Rounds(usize),
    /// Each round is a second later than the one before.
    Seconds(Timestamp),
}

impl Dates {
    fn set(self, body: &mut Body, round: usize) {
        match self {
            Self::Rounds(first) => body.set_round(first + round),
            Self::Seconds(from) => {
                let time = from.plus_seconds(i64::try_from(round).unwrap_or(i64::MAX)).to_string();
                body.set_text(time.get(.."2019-01-01T00:00:00".len()).unwrap_or_default());
            }
        }
    }
}

struct Worker {
    connection: Connection,
    token: Arc<str>,
    devices: Vec<(u32, String)>,
    bodies: Vec<Body>,
    until: Instant,
}

impl Worker {
    async fn run(mut self, work: Work) -> Result<(Latencies, u64)> {
        match work {
            Work::Post { first_round, pause, .. } => {
                let paths = self.paths();
                self.post(paths, Dates::Rounds(first_round), pause).await
            }
            Work::PostByIdentifier { first_round } => {
                let paths = self.paths();
                self.post(paths, Dates::Rounds(first_round), Duration::ZERO).await
            }
            Work::PostLive { from } => {
                let paths = self.paths();
                self.post(paths, Dates::Seconds(from), Duration::ZERO).await
            }
            Work::PostFloor { .. } => {
                let paths = vec!["POST /api/bench/noop".to_owned(); self.devices.len()];
                self.post(paths, Dates::Rounds(0), Duration::ZERO).await
            }
            Work::Get { path, devices, pause } => {
                self.devices.retain(|(index, _)| usize::try_from(*index).is_ok_and(|index| index < devices));
                self.get(&path, pause).await
            }
        }
    }

    fn paths(&self) -> Vec<String> {
        self.devices.iter().map(|(_, device)| format!("POST /api/devices/{device}/locations")).collect()
    }

    async fn post(&mut self, lines: Vec<String>, dates: Dates, pause: Duration) -> Result<(Latencies, u64)> {
        let bodies = &mut self.bodies;
        let (mut latencies, mut sent, mut round) = (Latencies::default(), 0, 0);
        while !lines.is_empty() && Instant::now() < self.until {
            for (index, line) in lines.iter().enumerate() {
                let chosen = index % bodies.len();
                let body = &mut bodies[chosen];
                dates.set(body, round);
                let began = Instant::now();
                if began >= self.until {
                    break;
                }
                let answer = self.connection.call(line, &self.token, &body.bytes).await?;
                if answer.status != 201 {
                    bail!("{line}: {}", answer.text());
                }
                latencies.add(began.elapsed());
                sent += body.bytes.len() as u64;
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
            }
            round += 1;
        }
        Ok((latencies, sent))
    }

    async fn get(&mut self, path: &str, pause: Duration) -> Result<(Latencies, u64)> {
        let mut latencies = Latencies::default();
        let line = |device: &String| format!("GET {}", path.replace("{device}", device));
        let lines: Vec<String> = self.devices.iter().map(|(_, device)| line(device)).collect();
        for line in lines.iter().cycle() {
            let began = Instant::now();
            if began >= self.until {
                break;
            }
            let answer = self.connection.call(line, &self.token, b"").await?;
            if answer.status != 200 {
                bail!("{line}: {}", answer.text());
            }
            latencies.add(began.elapsed());
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
        Ok((latencies, 0))
    }
}
