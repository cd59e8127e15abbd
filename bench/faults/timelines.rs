//! A run in which the server, or its database, is killed while locations flood in and timelines are derived: afterwards the
//! segments of each device are what the pure function of `core` gives for its stored locations, and each trip was reported
//! once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use perigee_bench::http::Connection;
use perigee_bench::server::{Limits, Server, Setup};
use perigee_core::time::Timestamp;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Options;
use crate::client::locked;
use crate::expected::{agrees, expect};

const DEVICES: usize = 8;
/// Minutes of a device, and of one of its batches.
const MINUTES: i64 = 15_000;
const BATCH: i64 = 25;
/// Connections that send at the same time.
const WRITERS: usize = 4;
/// Every this many kills the timelines are compared. Those of a broken server are compared after each kill, before later
/// locations repair them.
const CHECK_EVERY: u32 = 10;
/// Every this many cycles PostgreSQL is killed instead of the server, which keeps running.
const DATABASE_EVERY: u32 = 3;
/// A broken server gets at least so many kills: not each of them hits the moment between its two transactions.
const BROKEN_KILLS: u32 = 40;
/// 2026-01-01, in seconds.
const START_S: i64 = 1_767_225_600;
/// How long the derivation may take to consider everything.
const DERIVED_WITHIN: Duration = Duration::from_mins(5);

/// The result of the checks.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    kills: u32,
    database_kills: u32,
    /// How often the timelines of all devices were compared.
    checks: u32,
    locations: usize,
    segments: usize,
    trips: usize,
    /// Timelines that were not what the pure function gives.
    different: usize,
    /// Acknowledged locations that are not stored, or stored twice.
    wrong_locations: usize,
    /// Trips without their event, and events that are there twice or of no trip.
    wrong_events: usize,
}

impl Found {
    fn is_clean(&self) -> bool {
        self.different + self.wrong_locations + self.wrong_events == 0 && self.trips > 0
    }
}

/// Runs each engine and prints the results.
pub(crate) async fn run(options: &Options, engines: Vec<(&'static str, Option<String>)>) -> Result<ExitCode> {
    let mut ok = true;
    for (engine, database) in engines {
        eprintln!("{engine}");
        let found = TimelineRun::start(options, database).await?.finish().await?;
        println!(
            "{engine}: {} kills of the server, {} of the database; {} locations, {} segments, {} trips; {} times compared: {} \
             timelines differ, {} locations missing or twice, {} trips with missing or repeated events",
            found.kills,
            found.database_kills,
            found.locations,
            found.segments,
            found.trips,
            found.checks,
            found.different,
            found.wrong_locations,
            found.wrong_events
        );
        ok &= if options.broken { found.different > 0 } else { found.is_clean() };
    }
    println!(
        "{}",
        match (options.broken, ok) {
            (false, true) =>
                "every timeline is what its locations give: nothing missing, nothing twice, each trip reported once",
            (false, false) => "FAILED: a timeline depends on when the server was killed",
            (true, true) =>
                "caught: the server that marks devices as derived before it stores their segments lost some",
            (true, false) => "FAILED: a server that marks devices as derived too early was not caught",
        }
    );
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is not acknowledged yet: device and first minute.
type Waiting = Arc<Mutex<Vec<(usize, i64)>>>;

struct TimelineRun {
    server: Server,
    crash_database: Option<PathBuf>,
    random: StdRng,
    is_broken: bool,
    cycles: u32,
    longest: u64,
    waiting: Waiting,
    /// Where the events begin.
    cursor: String,
    found: Found,
}

fn name(index: usize) -> String {
    format!("3569380356020{index:02}")
}

/// The locations of a device from a minute on: it stands for 20 minutes and moves for 15 in turn, later with each index. It
/// is silent at times, and some fixes are coarse or contradict another one of the same second.
fn batch(index: usize, first: i64, count: i64) -> Vec<Value> {
    let shift = i64::try_from(index).unwrap_or(0) * 3;
    let one = |minute: i64| {
        let phase = minute + shift;
        let in_turn = phase % 35;
        let moved = phase / 35 * 15 + (in_turn - 19).max(0);
        // There and back, so that it stays on the map.
        let place = i32::try_from((moved % 2_000 - 1_000).abs()).unwrap_or(0);
        let latitude = 40.0 + f64::from(place) * 0.009;
        let time = Timestamp::from_millis((START_S + minute * 60) * 1_000).to_string();
        let mut location = json!({
            "dateTime": time, "latitude": latitude, "longitude": -8.0,
            "speed": if in_turn > 19 { 60 } else { 0 }, "ignition": !(5..19).contains(&in_turn),
        });
        // Half of the devices count their kilometres.
        if index.is_multiple_of(2) {
            location["mileage"] = json!(moved);
        }
        let mut here = Vec::new();
        if (phase * 7) % 997 >= 60 {
            if phase % 101 == 0 {
                location["accuracy"] = json!(5_000);
                location["latitude"] = json!(latitude + 0.05);
            }
            here.push(location);
            if phase % 211 == 0 {
                here.push(json!({"dateTime": time, "latitude": latitude + 0.0001, "longitude": -8.0}));
            }
        }
        here
    };
    (first..first + count).flat_map(one).collect()
}

impl TimelineRun {
    async fn start(options: &Options, database: Option<String>) -> Result<Self> {
        let early = options.broken.then(|| ("PERIGEE_UNSAFE_EARLY_TIMELINES".to_owned(), "1".to_owned()));
        let crash = options.crash_postgres.clone().filter(|_| database.is_some() && !options.broken);
        let setup = Setup {
            perigee: options.perigee.clone(),
            scratch: options.scratch.clone(),
            database,
            environment: early.into_iter().collect(),
            limits: Limits::Lifted,
        };
        let mut server = Server::start(setup).await?;
        server.make_named_devices((0..DEVICES).map(name).collect()).await?;
        // What is stored before an account is followed is derived without events.
        let mut connection = Connection::open(&server.address).await?;
        timeline(&mut connection, &server.token, &name(0)).await?;
        let events = connection.call("GET /api/events", &server.token, b"").await?.json()?;
        let cursor = events["nextCursor"].as_str().context("no cursor")?.to_owned();
        let mut random = StdRng::seed_from_u64(options.seed);
        let step = usize::try_from(BATCH)?;
        let all = (0..DEVICES).flat_map(|index| (0..MINUTES).step_by(step).map(move |first| (index, first)));
        let mut waiting: Vec<_> = all.collect();
        waiting.shuffle(&mut random);
        Ok(Self {
            server,
            crash_database: crash,
            random,
            is_broken: options.broken,
            cycles: if options.broken { options.cycles.max(BROKEN_KILLS) } else { options.cycles },
            longest: options.longest,
            waiting: Arc::new(Mutex::new(waiting)),
            cursor,
            found: Found::default(),
        })
    }

    async fn finish(mut self) -> Result<Found> {
        let total = locked(&self.waiting).len();
        let each = u64::try_from(total)? / u64::from(self.cycles.max(1));
        // So long that batches are left until the last kill.
        let pause = Duration::from_millis(self.longest * u64::try_from(WRITERS)? / 2 / each.max(1));
        for cycle in 0..self.cycles {
            self.flood_and_kill(cycle, pause).await.with_context(|| self.server.log_end())?;
            if self.is_broken || (cycle + 1).is_multiple_of(CHECK_EVERY) {
                self.compare().await.with_context(|| self.server.log_end())?;
                eprintln!("  {} cycles, {} batches to send", cycle + 1, locked(&self.waiting).len());
            }
            if self.is_broken && self.found.different > 0 {
                self.server.end()?;
                return Ok(self.found);
            }
        }
        self.wait_until_ready().await?;
        let mut writers = self.write(Duration::ZERO);
        while let Some(done) = writers.join_next().await {
            done??;
        }
        self.compare().await.with_context(|| self.server.log_end())?;
        self.check_events().await.with_context(|| self.server.log_end())?;
        self.server.end()?;
        Ok(self.found)
    }

    /// Sends from several connections, and kills the server or its database at a random moment after its start.
    async fn flood_and_kill(&mut self, cycle: u32, pause: Duration) -> Result<()> {
        self.wait_until_ready().await?;
        let mut writers = self.write(pause);
        tokio::time::sleep(Duration::from_millis(self.random.random_range(20..=self.longest))).await;
        match &self.crash_database {
            Some(program) if cycle % DATABASE_EVERY == DATABASE_EVERY - 1 => {
                let status = tokio::process::Command::new(program).status().await?;
                ensure!(status.success(), "{} failed: {status}", program.display());
                self.found.database_kills += 1;
                writers.abort_all();
            }
            _ => {
                self.server.kill()?;
                self.found.kills += 1;
                self.server.start_again()?;
            }
        }
        // Connections broke.
        while writers.join_next().await.is_some() {}
        Ok(())
    }

    /// Sends batches until none is left, or the connection breaks. A batch is taken from the list after its answer.
    fn write(&self, pause: Duration) -> JoinSet<Result<()>> {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let (address, token) = (self.server.address.clone(), self.server.token.clone());
            let waiting = Arc::clone(&self.waiting);
            writers.spawn(async move {
                let mut connection = Connection::open(&address).await?;
                loop {
                    // Each writer has batches of its own.
                    let next = {
                        let waiting = locked(&waiting);
                        waiting.iter().rev().find(|(index, _)| index % WRITERS == writer).copied()
                    };
                    let Some((index, first)) = next else { return Ok(()) };
                    let body = batch(index, first, BATCH);
                    if !body.is_empty() {
                        submit(&mut connection, &token, &name(index), &Value::from(body)).await?;
                    }
                    locked(&waiting).retain(|one| *one != (index, first));
                    tokio::time::sleep(pause).await;
                }
            });
        }
        writers
    }

    /// Compares every timeline with the pure function, as soon as nothing is pending.
    async fn compare(&mut self) -> Result<()> {
        self.wait_until_ready().await?;
        let mut connection = Connection::open(&self.server.address).await?;
        let token = self.server.token.clone();
        let (mut stored, mut segments) = (0, 0);
        for index in 0..DEVICES {
            let rows = timeline(&mut connection, &token, &name(index)).await?;
            let expected = expect(&mut connection, &token, &name(index)).await?;
            let is_same = rows.len() == expected.segments.len()
                && expected.segments.iter().zip(&rows).all(|(expected, row)| agrees(expected, row));
            if !is_same {
                self.found.different += 1;
                let first =
                    expected.segments.iter().zip(&rows).find(|(expected, row)| !agrees(expected, row));
                eprintln!(
                    "  device {index}: {} segments instead of {}; the first difference: {first:?}",
                    rows.len(),
                    expected.segments.len()
                );
            }
            self.found.wrong_locations += self.missing(index, expected.locations);
            stored += expected.locations;
            segments += rows.len();
        }
        (self.found.locations, self.found.segments) = (stored, segments);
        self.found.checks += 1;
        Ok(())
    }

    /// How many of the locations of a device are missing, or there too often. A batch without an answer may be stored.
    fn missing(&self, index: usize, stored: usize) -> usize {
        let all = batch(index, 0, MINUTES).len();
        let waiting = locked(&self.waiting);
        let of_device = waiting.iter().filter(|(device, _)| *device == index);
        let unknown: usize = of_device.map(|(_, first)| batch(index, *first, BATCH).len()).sum();
        (all - unknown).saturating_sub(stored) + stored.saturating_sub(all)
    }

    /// Waits until the server answers, which may have lost its database a moment ago.
    async fn wait_until_ready(&self) -> Result<()> {
        let began = Instant::now();
        loop {
            if let Ok(mut connection) = Connection::open(&self.server.address).await
                && let Ok(answer) = connection.call("GET /api/devices?limit=1", &self.server.token, b"").await
                && answer.is_success()
            {
                return Ok(());
            }
            ensure!(began.elapsed() < DERIVED_WITHIN, "the server does not answer");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Each trip has one event of its beginning, and one of its end unless it goes on.
    async fn check_events(&mut self) -> Result<()> {
        let mut connection = Connection::open(&self.server.address).await?;
        let (connection, token) = (&mut connection, self.server.token.clone());
        let mut count: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut cursor = self.cursor.clone();
        loop {
            let line = format!(
                "GET /api/events?types=trip.started,trip.ended,trip.removed&limit=1000&cursor={cursor}"
            );
            let page = connection.call(&line, &token, b"").await?.json()?;
            let events = page["events"].as_array().context("no events")?.clone();
            for event in &events {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                *count.entry((text(&event["type"]), text(&event["data"]["id"]))).or_default() += 1;
            }
            let next = page["nextCursor"].as_str().unwrap_or_default().to_owned();
            if events.is_empty() || next == cursor {
                break;
            }
            cursor = next;
        }
        let (mut page, mut trips) = (String::new(), Vec::new());
        loop {
            let line = format!("GET /api/trips?limit=1000{page}");
            let answer = connection.call(&line, &token, b"").await?.json()?;
            trips.extend(answer["trips"].as_array().context("no trips")?.iter().cloned());
            let Some(next) = answer["nextCursor"].as_str() else { break };
            page = format!("&cursor={next}");
        }
        self.found.trips = trips.len();
        for trip in &trips {
            let id = trip["id"].as_str().unwrap_or_default();
            let of = |kind: &str| count.get(&(kind.to_owned(), id.to_owned())).copied().unwrap_or(0);
            let is_right = of("trip.started") == 1 && of("trip.removed") == 0;
            let has_ended = trip["open"] == true || of("trip.ended") >= 1;
            self.found.wrong_events += usize::from(!(is_right && has_ended));
        }
        self.found.wrong_events +=
            count.iter().filter(|((kind, _), times)| kind == "trip.removed" && **times > 1).count();
        Ok(())
    }
}

async fn submit(connection: &mut Connection, token: &str, device: &str, body: &Value) -> Result<()> {
    let line = format!("POST /api/devices/{device}/locations");
    let answer = connection.call(&line, token, body.to_string().as_bytes()).await?;
    if !answer.is_success() {
        bail!("{line}: {}", answer.text());
    }
    Ok(())
}

/// The segments of a device, as soon as everything that is stored is considered.
async fn timeline(connection: &mut Connection, token: &str, device: &str) -> Result<Vec<Value>> {
    let (began, line) = (Instant::now(), format!("GET /api/devices/{device}/timeline"));
    loop {
        let mut answer = connection.call(&line, token, b"").await?.json()?;
        if answer["pending"] == false {
            return Ok(serde_json::from_value(answer["segments"].take())?);
        }
        ensure!(began.elapsed() < DERIVED_WITHIN, "the timeline of {device} stays pending");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
