//! Trackers: durable reports a second over many connections, and the memory of idle connections.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use perigee_bench::server::Server;
use perigee_simulator::tracker::{Expect, ProtocolClient, Record, protocol_client};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::bench::{Bench, Engine, settle};
use crate::load::{Work, run};
use crate::report::Topic;

/// Trackers with one report in flight each.
const TRACKERS: usize = 1_000;
/// Number of idle connections.
const IDLE: usize = 10_000;
/// Connections of the load by the API.
const API_CONNECTIONS: usize = 256;
/// Rounds of the load by the API, which no other uses.
const FIRST_ROUND: usize = 0;
/// 2026-01-01.
const START_S: i64 = 1_767_225_600;

fn name_of(index: usize) -> String {
    format!("35693803{index:07}")
}

/// A tracker that has logged in.
struct Tracker {
    client: Box<dyn ProtocolClient>,
    stream: TcpStream,
    received: Vec<u8>,
}

impl Tracker {
    async fn connect(address: SocketAddr, index: usize) -> Result<Self> {
        let client = protocol_client("gt06", &name_of(index)).context("gt06 is simulated")?;
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let mut tracker = Self { client, stream, received: Vec::new() };
        for (bytes, expect) in tracker.client.greeting() {
            tracker.ask(&bytes, &expect).await?;
        }
        Ok(tracker)
    }

    async fn ask(&mut self, bytes: &[u8], expect: &Expect) -> Result<()> {
        self.stream.write_all(bytes).await?;
        while !expect.take(&mut self.received) {
            let mut chunk = [0; 64];
            let count = self.stream.read(&mut chunk).await?;
            if count == 0 {
                bail!("the server closed the connection of a tracker");
            }
            self.received.extend_from_slice(chunk.get(..count).unwrap_or_default());
        }
        Ok(())
    }
}

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let (trackers, idle) = if bench.options.quick { (50, 200) } else { (TRACKERS, IDLE) };
    let mut server = bench.start(engine, 0).await?;
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    server.end()?;
    server.set_environment(vec![
        ("PERIGEE_GATEWAYS__LISTEN".to_owned(), format!("gt06={address}")),
        ("PERIGEE_GATEWAYS__MAX_CONNECTIONS".to_owned(), "20000".to_owned()),
        ("PERIGEE_GATEWAYS__MAX_CONNECTIONS_PER_ADDRESS".to_owned(), "20000".to_owned()),
    ]);
    server.start_again()?;
    server.make_named_devices((0..trackers).map(name_of).collect()).await?;
    let name = engine.name();
    let reports = report(bench, address, trackers).await?;
    let work = Work::post(1, FIRST_ROUND);
    let singles = run(&[&server], API_CONNECTIONS, bench.options.duration(), &work).await?.rate();
    let ratio = reports / singles;
    let report = &mut bench.report;
    let what = format!("durable reports/s, {trackers} GT06 connections with one in flight");
    report.add(Topic::Trackers, name, &what, format!("{reports:.0}"));
    report.add(Topic::Trackers, name, "single locations by the API, requests/s", format!("{singles:.0}"));
    let target = ("at least 1.3", ratio >= 1.3);
    report.add_with_target(
        Topic::Trackers,
        name,
        "trackers, of the API's singles",
        format!("{ratio:.2}"),
        target,
    );
    let each = idle_memory(&server, address, trackers, idle).await?;
    let target = ("at most 8 KiB", each <= 8.0 * 1024.0);
    let what = format!("process memory of each of {idle} idle connections");
    bench.report.add_with_target(Topic::Trackers, name, &what, format!("{:.1} KiB", each / 1024.0), target);
    server.end()
}

/// Durable reports a second.
async fn report(bench: &Bench, address: SocketAddr, trackers: usize) -> Result<f64> {
    let mut connected = Vec::with_capacity(trackers);
    for index in 0..trackers {
        connected.push(Tracker::connect(address, index).await?);
    }
    let (count, duration) = (Arc::new(AtomicU64::new(0)), bench.options.duration());
    let (began, mut running) = (Instant::now(), JoinSet::new());
    for mut tracker in connected {
        let count = Arc::clone(&count);
        running.spawn(async move {
            let mut time_s = START_S;
            while began.elapsed() < duration {
                time_s += 1;
                let (bytes, expect) = tracker.client.report(&[Record { time_s }]);
                tracker.ask(&bytes, &expect).await?;
                count.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    let reports = u32::try_from(count.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
    Ok(f64::from(reports) / began.elapsed().max(Duration::from_millis(1)).as_secs_f64())
}

/// Bytes of process memory for each connection that has logged in and is idle.
async fn idle_memory(server: &Server, address: SocketAddr, devices: usize, idle: usize) -> Result<f64> {
    settle(server).await?;
    let before = server.usage()?.resident;
    let mut connected = Vec::with_capacity(idle);
    for index in 0..idle {
        connected.push(Tracker::connect(address, index % devices).await?);
    }
    settle(server).await?;
    let after = server.usage()?.resident;
    drop(connected);
    Ok((after - before) / f64::from(u32::try_from(idle).unwrap_or(u32::MAX)))
}
