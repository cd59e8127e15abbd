//! Timelines: how fast they are derived, and what their derivation takes from the ingest of locations.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use perigee_bench::server::Server;
use perigee_core::timeline::{TimelineSettings, Walk, WalkEnd, WalkPlan};
use perigee_store::codec::{pack_chunk, unpack_chunk};

use super::trip_reads;
use crate::bench::{Bench, Engine, settle};
use crate::body::{INTERVAL_MS, fixes};
use crate::floor::{CHUNK_POINTS, stored};
use crate::load::{Work, number, run};
use crate::report::Topic;

/// Locations of the history that is derived: a location every ten seconds for 23 days.
const HISTORY: usize = 200_000;
/// Derivations per second, of locations, that one core must reach.
const RATE: f64 = 1e6;
/// Part of the requests that derivation may cost.
const LOST: f64 = 0.05;
/// Whether timelines are derived, in each turn. Other work on the machine meets both alike.
const TURNS: [bool; 4] = [false, true, true, false];

/// A load that is measured with and without derivation.
struct Compared {
    what: &'static str,
    points: usize,
    connections: usize,
    /// The first round, and rounds that a turn may use.
    rounds: (usize, usize),
}

const COMPARED: [Compared; 2] = [
    Compared { what: "singles, 64 connections", points: 1, connections: 64, rounds: (0, 1_000_000) },
    // On days after those of the singles.
    Compared {
        what: "batches of 1,000, 32 connections",
        points: 1000,
        connections: 32,
        rounds: (1_000, 300),
    },
];

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    if matches!(engine, Engine::Sqlite) {
        derive(bench)?;
    }
    beside_ingest(bench, engine).await?;
    trip_reads::measure(bench, engine).await
}

/// Locations a second that one core unpacks from chunks and derives.
fn derive(bench: &mut Bench) -> Result<()> {
    let count = if bench.options.quick { HISTORY / 10 } else { HISTORY };
    let history = fixes(0, count, INTERVAL_MS).iter().map(stored).collect::<Result<Vec<_>>>()?;
    let chunks: Vec<Vec<u8>> = history.chunks(CHUNK_POINTS).map(pack_chunk).collect();
    let (began, mut read, mut best, mut segments) = (Instant::now(), 0_u64, f64::MAX, 0);
    while began.elapsed() < bench.options.duration() || read == 0 {
        let start = Instant::now();
        let mut walk = Walk::new(TimelineSettings::default(), WalkPlan::default());
        for chunk in &chunks {
            walk.pass(unpack_chunk(black_box(chunk))?);
        }
        segments = black_box(walk.finish(WalkEnd::Newest)).0.len();
        best = best.min(start.elapsed().as_secs_f64());
        read += u64::try_from(count)?;
    }
    let (mean, best) = (number(read) / began.elapsed().as_secs_f64(), number(u64::try_from(count)?) / best);
    let what = format!("derived from packed chunks on one core, locations/s, mean ({segments} segments)");
    let report = &mut bench.report;
    report.add_with_target(
        Topic::Trips,
        "no store",
        &what,
        format!("{mean:.0}"),
        ("at least 1,000,000", mean >= RATE),
    );
    report.add(Topic::Trips, "no store", "the same, best of all rounds", format!("{best:.0}"));
    report.note(
        Topic::Trips,
        "The history is a location every ten seconds of a simulated vehicle, in chunks of 1,024 as the store packs them.",
    );
    Ok(())
}

/// Singles and batches with and without derivation, in turns on two servers.
async fn beside_ingest(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let off = vec![("PERIGEE_BENCH_NO_TIMELINES".to_owned(), "1".to_owned())];
    let count = bench.options.devices(1000);
    let mut deriving = bench.start(engine, count).await?;
    let mut plain = bench.start_with(engine, count, off).await?;
    for compared in COMPARED {
        compare(bench, engine, &compared, &deriving, &plain).await?;
    }
    deriving.end()?;
    plain.end()
}

async fn compare(
    bench: &mut Bench,
    engine: &Engine,
    compared: &Compared,
    deriving: &Server,
    plain: &Server,
) -> Result<()> {
    let (mut requests, mut seconds) = ([0; 2], [0.0; 2]);
    let (first, rounds) = compared.rounds;
    for (turn, derives) in TURNS.into_iter().enumerate() {
        let server = if derives { deriving } else { plain };
        let work = Work::post(compared.points, first + turn * rounds);
        let load = run(&[server], compared.connections, bench.options.duration(), &work).await?;
        requests[usize::from(derives)] += load.requests;
        seconds[usize::from(derives)] += load.seconds;
        // What is left to be derived must not slow down the next turn.
        settle(server).await?;
    }
    let rate = |index: usize| number(requests[index]) / seconds[index] * number(compared.points as u64);
    let (without, with) = (rate(0), rate(1));
    let (name, lost) = (engine.name(), 1.0 - with / without);
    let what = |text: &str| format!("{}, {text}", compared.what);
    let report = &mut bench.report;
    report.add(Topic::Trips, name, &what("locations/s without derivation"), format!("{without:.0}"));
    report.add(Topic::Trips, name, &what("with derivation"), format!("{with:.0}"));
    report.add_with_target(
        Topic::Trips,
        name,
        &what("lost by derivation"),
        format!("{:.1} %", lost * 100.0),
        ("at most 5 %", lost <= LOST),
    );
    report.note(
        Topic::Trips,
        "Loads with and without derivation run in turns (without, with, with, without), each until the server is at rest.",
    );
    Ok(())
}
