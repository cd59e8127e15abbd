//! Fills a database to a size, recording speed and memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::server::Server;
use tokio::task::JoinSet;

use crate::body::{Body, INTERVAL_MS};
use crate::load::{BODIES, number};

const CONNECTIONS: usize = 8;
const SAMPLE_EVERY: Duration = Duration::from_millis(50);
/// Connections that send each device its first location.
const FIRST_SENDERS: usize = 32;
/// A time before all times that the filling uses.
const FIRST_TIME: &str = "2018-01-01T00:00:00";

/// Parameters of a filling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    /// Locations to store, of all devices together.
    pub(crate) points: u64,
    /// Locations in each request.
    pub(crate) batch: usize,
    /// Milliseconds between two of them.
    pub(crate) interval_ms: i64,
    /// Time limit; after it the filling stops.
    pub(crate) longest: Duration,
}

/// One sample during the filling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) after_s: f64,
    pub(crate) points: f64,
    pub(crate) resident: f64,
}

/// The samples of a filling, in order.
#[derive(Clone, Debug)]
pub(crate) struct Filled(pub(crate) Vec<Sample>);

impl Filled {
    /// Points that were stored.
    pub(crate) fn points(&self) -> f64 {
        self.0.last().map_or(0.0, |last| last.points)
    }

    /// Locations per second between two sizes, if they were reached.
    pub(crate) fn rate(&self, from: f64, to: f64) -> Option<f64> {
        Some((to - from) / (self.reached_after_s(to)? - self.reached_after_s(from)?))
    }

    /// When the store reached this size, interpolated between samples.
    fn reached_after_s(&self, points: f64) -> Option<f64> {
        let index = self.0.iter().position(|sample| sample.points >= points)?;
        let (sample, Some(before)) = (self.0[index], index.checked_sub(1).map(|index| self.0[index])) else {
            return Some(self.0[index].after_s);
        };
        let share = (points - before.points) / (sample.points - before.points);
        Some(before.after_s + share * (sample.after_s - before.after_s))
    }

    /// Bytes of memory held when the store had this size.
    pub(crate) fn resident_at(&self, points: f64) -> Option<f64> {
        self.0.iter().find(|sample| sample.points >= points).map(|sample| sample.resident)
    }

    /// The most memory seen.
    pub(crate) fn most_resident(&self) -> f64 {
        self.0.iter().map(|sample| sample.resident).fold(0.0, f64::max)
    }
}

/// Fills the devices of a server as fast as it accepts.
pub(crate) async fn fill(server: &Server, devices: &[String], filling: Filling) -> Result<Filled> {
    let (claimed, stored) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    let is_shared = devices.len() < CONNECTIONS;
    for index in 0..CONNECTIONS {
        let filler = Filler {
            connection: Connection::open(&server.address).await?,
            token: server.token.clone(),
            // With few devices every connection fills all of them, each in its own rounds.
            devices: if is_shared {
                devices.to_vec()
            } else {
                devices.iter().skip(index).step_by(CONNECTIONS).cloned().collect()
            },
            first_round: if is_shared { index } else { 0 },
            round_step: if is_shared { CONNECTIONS } else { 1 },
            claimed: Arc::clone(&claimed),
            stored: Arc::clone(&stored),
            until: began + filling.longest,
        };
        tasks.spawn(filler.run(filling, u32::try_from(index * BODIES).unwrap_or(0)));
    }
    let mut samples = Vec::new();
    let mut sample = || -> Result<()> {
        let points = number(stored.load(Ordering::Relaxed));
        let resident = server.usage()?.resident;
        samples.push(Sample { after_s: began.elapsed().as_secs_f64(), points, resident });
        Ok(())
    };
    sample()?;
    let mut ticks = tokio::time::interval(SAMPLE_EVERY);
    loop {
        tokio::select! {
            done = tasks.join_next() => match done {
                Some(done) => done??,
                None => break,
            },
            _ = ticks.tick() => sample()?,
        }
    }
    sample()?;
    Ok(Filled(samples))
}

/// Sends every device one location, so that each has a last one.
pub(crate) async fn send_first_locations(server: &Server) -> Result<()> {
    let mut body = Body::new(0, 1, INTERVAL_MS);
    body.set_text(FIRST_TIME);
    let mut tasks = JoinSet::new();
    for devices in server.devices.chunks(server.devices.len().div_ceil(FIRST_SENDERS).max(1)) {
        let (devices, token, bytes) = (devices.to_vec(), server.token.clone(), body.bytes.clone());
        let mut connection = Connection::open(&server.address).await?;
        tasks.spawn(async move {
            for device in devices {
                let line = format!("POST /api/devices/{device}/locations");
                let answer = connection.call(&line, &token, &bytes).await?;
                if !answer.is_success() {
                    bail!("{line}: {}", answer.text());
                }
            }
            Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

struct Filler {
    connection: Connection,
    token: String,
    devices: Vec<String>,
    first_round: usize,
    round_step: usize,
    claimed: Arc<AtomicU64>,
    stored: Arc<AtomicU64>,
    until: Instant,
}

impl Filler {
    async fn run(mut self, filling: Filling, first_track: u32) -> Result<()> {
        let tracks = first_track..first_track + u32::try_from(BODIES).unwrap_or(1);
        let mut bodies: Vec<Body> =
            tracks.map(|track| Body::new(track, filling.batch, filling.interval_ms)).collect();
        let batch = filling.batch as u64;
        let mut round = self.first_round;
        loop {
            for (index, device) in self.devices.iter().enumerate() {
                let is_enough = self.claimed.fetch_add(batch, Ordering::Relaxed) >= filling.points;
                if is_enough || Instant::now() >= self.until {
                    return Ok(());
                }
                let chosen = index % bodies.len();
                let body = &mut bodies[chosen];
                body.set_round(round);
                let line = format!("POST /api/devices/{device}/locations");
                let answer = self.connection.call(&line, &self.token, &body.bytes).await?;
                match answer.status {
                    201 => self.stored.fetch_add(batch, Ordering::Relaxed),
                    // Queue full: send the same again, as any client does.
                    503 => {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        let again = self.connection.call(&line, &self.token, &body.bytes).await?;
                        if !again.is_success() {
                            bail!("{line}: {}", again.text());
                        }
                        self.stored.fetch_add(batch, Ordering::Relaxed)
                    }
                    _ => bail!("{line}: {}", answer.text()),
                };
            }
            round += self.round_step;
        }
    }
}
