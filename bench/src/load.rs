//! Many connections that call without pause for a time, and what came of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use perigee_cli::latency::Latencies;
use tokio::task::JoinSet;

use crate::body::Body;
use crate::http::Connection;
use crate::machine::Usage;
use crate::server::Server;

/// What every connection of a load does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Posts so many locations at once: to the devices in turn, or to the floor.
    Post { points: usize, is_floor: bool },
    /// Gets a path in which `{device}` stands for each device in turn.
    Get(&'static str),
}

/// What a load did.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    pub(crate) requests: u64,
    pub(crate) seconds: f64,
    pub(crate) latencies: Latencies,
    /// Seconds of processor time the server used.
    pub(crate) cpu_s: f64,
    /// Bytes the server sent to disk.
    pub(crate) written: f64,
    /// Bytes of the bodies sent.
    pub(crate) sent: u64,
    /// Bytes of memory the server held at the end.
    pub(crate) resident: f64,
}

impl Load {
    /// Requests a second.
    pub(crate) fn rate(&self) -> f64 {
        number(self.requests) / self.seconds
    }
}

/// A count as the number it is; counts here are far from where that loses something.
#[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// Runs the work on so many connections for this long. `first_day` keeps loads on one store from repeating each
/// other's locations.
pub(crate) async fn run(
    server: &Server,
    connections: usize,
    duration: Duration,
    work: Work,
    first_day: usize,
) -> Result<Load> {
    let before: Usage = server.usage()?;
    let token: Arc<str> = server.token.as_str().into();
    let mut tasks = JoinSet::new();
    let began = Instant::now();
    for index in 0..connections {
        let mine: Vec<(u32, String)> =
            (0..).zip(server.devices.iter().cloned()).skip(index).step_by(connections).collect();
        let worker = Worker {
            connection: Connection::open(&server.address).await?,
            token: Arc::clone(&token),
            devices: mine,
            until: began + duration,
            first_day,
        };
        let work = work.clone();
        tasks.spawn(worker.run(work));
    }
    let (mut latencies, mut sent) = (Latencies::default(), 0);
    while let Some(done) = tasks.join_next().await {
        let (counted, bytes) = done??;
        latencies.merge(&counted);
        sent += bytes;
    }
    let seconds = began.elapsed().as_secs_f64();
    let after = server.usage()?;
    Ok(Load {
        connections,
        requests: latencies.count(),
        seconds,
        latencies,
        cpu_s: after.cpu_s - before.cpu_s,
        written: after.written - before.written,
        sent,
        resident: after.resident,
    })
}

struct Worker {
    connection: Connection,
    token: Arc<str>,
    devices: Vec<(u32, String)>,
    until: Instant,
    first_day: usize,
}

impl Worker {
    async fn run(mut self, work: Work) -> Result<(Latencies, u64)> {
        match work {
            Work::Post { points, is_floor } => self.post(points, is_floor).await,
            Work::Get(path) => self.get(path).await,
        }
    }

    async fn post(&mut self, points: usize, is_floor: bool) -> Result<(Latencies, u64)> {
        let line = |device: &str| {
            if is_floor {
                "POST /api/bench/noop".to_owned()
            } else {
                format!("POST /api/devices/{device}/locations")
            }
        };
        // A few bodies for many devices: large ones would fill the memory.
        let mut bodies: Vec<Body> =
            self.devices.iter().take(8).map(|(device, _)| Body::new(*device, points)).collect();
        let lines: Vec<String> = self.devices.iter().map(|(_, device)| line(device)).collect();
        let (mut latencies, mut sent, mut round) = (Latencies::default(), 0, self.first_day);
        while !lines.is_empty() && Instant::now() < self.until {
            for (index, line) in lines.iter().enumerate() {
                let chosen = index % bodies.len();
                let body = &mut bodies[chosen];
                body.set_day(round);
                let began = Instant::now();
                if began >= self.until {
                    break;
                }
                let answer = self.connection.call(line, &self.token, &body.bytes).await?;
                if answer.status != 201 {
                    bail!("{line}: {}", String::from_utf8_lossy(answer.body));
                }
                latencies.add(began.elapsed());
                sent += body.bytes.len() as u64;
            }
            round += 1;
        }
        Ok((latencies, sent))
    }

    async fn get(&mut self, path: &str) -> Result<(Latencies, u64)> {
        let mut latencies = Latencies::default();
        let lines: Vec<String> = self
            .devices
            .iter()
            .map(|(_, device)| format!("GET {}", path.replace("{device}", device)))
            .collect();
        for line in lines.iter().cycle() {
            let began = Instant::now();
            if began >= self.until {
                break;
            }
            let answer = self.connection.call(line, &self.token, b"").await?;
            if answer.status != 200 {
                bail!("{line}: {}", String::from_utf8_lossy(answer.body));
            }
            latencies.add(began.elapsed());
        }
        Ok((latencies, 0))
    }
}
