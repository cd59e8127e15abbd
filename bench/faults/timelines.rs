//! A run in which the server is killed while it derives timelines: afterwards the rows are those of a device that sent the
//! same locations at once, and each trip was reported once.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use perigee_bench::http::Connection;
use perigee_bench::server::{Limits, Server, Setup};
use perigee_core::time::Timestamp;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::Options;

/// Devices that are killed, and those that send the same locations at the end.
const DEVICES: usize = 8;
/// Minutes of a device, and of one of its batches.
const MINUTES: i64 = 20_000;
const BATCH: i64 = 100;
/// 2026-01-01, in seconds.
const START_S: i64 = 1_767_225_600;
/// How long the derivation may take to consider everything.
const DERIVED_WITHIN: Duration = Duration::from_mins(5);

/// The result of the checks after all kills.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    kills: u32,
    segments: usize,
    trips: usize,
    /// Devices whose rows differ from those without a kill.
    different: usize,
    /// Trips without their event, and events that are there twice or of no trip.
    wrong_events: usize,
}

/// Runs each engine and prints the results.
pub(crate) async fn run(options: &Options, engines: Vec<(&'static str, Option<String>)>) -> Result<ExitCode> {
    let mut ok = true;
    for (engine, database) in engines {
        eprintln!("{engine}");
        let found = TimelineRun::start(options, database).await?.finish(options.broken).await?;
        let Found { kills, segments, trips, different, wrong_events } = found;
        println!(
            "{engine}: {kills} kills, {segments} segments, {trips} trips; {different} devices with other rows, \
             {wrong_events} trips with missing or repeated events"
        );
        ok &= if options.broken { different > 0 } else { different + wrong_events == 0 && trips > 0 };
    }
    println!(
        "{}",
        match (options.broken, ok) {
            (false, true) => "the same rows as without kills, each trip reported once",
            (false, false) => "FAILED: a timeline depends on when the server was killed",
            (true, true) => "caught: devices that miss a batch have other rows",
            (true, false) => "FAILED: a missing batch was not noticed",
        }
    );
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct TimelineRun {
    server: Server,
    random: StdRng,
    cycles: u32,
    longest: u64,
    /// What is not acknowledged yet: device and first minute.
    waiting: Vec<(usize, i64)>,
    /// Where the events begin.
    cursor: String,
    found: Found,
}

fn killed(index: usize) -> String {
    format!("3569380356020{index:02}")
}

fn control(index: usize) -> String {
    format!("3569380356021{index:02}")
}

/// The locations of a device from a minute on: it stands for 20 minutes and moves for 15 in turn, later with each index.
fn batch(index: usize, first: i64, count: i64) -> Value {
    let shift = i64::try_from(index).unwrap_or(0) * 3;
    let one = |minute: i64| {
        let phase = minute + shift;
        let moved = phase / 35 * 15 + (phase % 35 - 19).max(0);
        // There and back, so that it stays on the map.
        let place = i32::try_from((moved % 2_000 - 1_000).abs()).unwrap_or(0);
        json!({
            "dateTime": Timestamp::from_millis((START_S + minute * 60) * 1_000).to_string(),
            "latitude": 40.0 + f64::from(place) * 0.009, "longitude": -8.0,
        })
    };
    (first..first + count).map(one).collect()
}

impl TimelineRun {
    async fn start(options: &Options, database: Option<String>) -> Result<Self> {
        let setup = Setup {
            perigee: options.perigee.clone(),
            scratch: options.scratch.clone(),
            database,
            environment: Vec::new(),
            limits: Limits::Lifted,
        };
        let mut server = Server::start(setup).await?;
        let names = (0..DEVICES).flat_map(|index| [killed(index), control(index)]).collect();
        server.make_named_devices(names).await?;
        // What is stored before an account is followed is derived without events.
        let mut connection = Connection::open(&server.address).await?;
        timeline(&mut connection, &server.token, &killed(0)).await?;
        let events = connection.call("GET /api/events", &server.token, b"").await?.json()?;
        let cursor = events["nextCursor"].as_str().context("no cursor")?.to_owned();
        let mut random = StdRng::seed_from_u64(options.seed);
        let step = usize::try_from(BATCH)?;
        let all = (0..DEVICES).flat_map(|index| (0..MINUTES).step_by(step).map(move |first| (index, first)));
        let mut waiting: Vec<_> = all.collect();
        waiting.shuffle(&mut random);
        let (cycles, longest) = (options.cycles, options.longest);
        Ok(Self { server, random, cycles, longest, waiting, cursor, found: Found::default() })
    }

    async fn finish(mut self, is_broken: bool) -> Result<Found> {
        let share = self.waiting.len() / usize::try_from(self.cycles.max(1))?;
        for cycle in 0..self.cycles {
            let keep = self.waiting.len().saturating_sub(share);
            self.send_until(keep).await.with_context(|| self.server.log_end())?;
            let moment = self.random.random_range(20..=self.longest);
            tokio::time::sleep(Duration::from_millis(moment)).await;
            self.server.kill()?;
            self.found.kills += 1;
            self.server.start_again()?;
            if (cycle + 1).is_multiple_of(10) {
                eprintln!("  {} cycles, {} batches to send", cycle + 1, self.waiting.len());
            }
        }
        if is_broken {
            self.waiting.pop();
        }
        self.send_until(0).await.with_context(|| self.server.log_end())?;
        self.check().await.with_context(|| self.server.log_end())?;
        self.server.end()?;
        Ok(self.found)
    }

    /// Sends batches until only so many are left. An answer is waited for, so what was sent is stored.
    async fn send_until(&mut self, left: usize) -> Result<()> {
        let mut connection = Connection::open(&self.server.address).await?;
        while self.waiting.len() > left {
            let Some((index, first)) = self.waiting.last().copied() else { break };
            submit(&mut connection, &self.server.token, &killed(index), &batch(index, first, BATCH)).await?;
            self.waiting.pop();
        }
        Ok(())
    }

    async fn check(&mut self) -> Result<()> {
        let mut connection = Connection::open(&self.server.address).await?;
        let token = self.server.token.clone();
        for index in 0..DEVICES {
            for first in (0..MINUTES).step_by(5_000) {
                submit(&mut connection, &token, &control(index), &batch(index, first, 5_000)).await?;
            }
        }
        for index in 0..DEVICES {
            let rows = timeline(&mut connection, &token, &killed(index)).await?;
            let expected = timeline(&mut connection, &token, &control(index)).await?;
            self.found.segments += rows.len();
            self.found.different += usize::from(figures(&rows) != figures(&expected));
        }
        self.check_events(&mut connection, &token).await
    }

    /// Each trip has one event of its beginning, and one of its end unless it goes on.
    async fn check_events(&mut self, connection: &mut Connection, token: &str) -> Result<()> {
        let mut count: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut cursor = self.cursor.clone();
        loop {
            let line = format!(
                "GET /api/events?types=trip.started,trip.ended,trip.removed&limit=1000&cursor={cursor}"
            );
            let page = connection.call(&line, token, b"").await?.json()?;
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
            let answer = connection.call(&line, token, b"").await?.json()?;
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

/// What must be equal: everything but ids and the time of the last change.
fn figures(segments: &[Value]) -> Vec<Value> {
    let without = |segment: &Value| {
        let mut segment = segment.clone();
        if let Some(members) = segment.as_object_mut() {
            for member in ["id", "deviceId", "updatedAt"] {
                members.remove(member);
            }
        }
        segment
    };
    segments.iter().map(without).collect()
}
