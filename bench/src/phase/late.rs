//! Single locations older than the end of the packed history, as trackers send them after an outage, compared with
//! locations in order of time.

use anyhow::Result;

use crate::bench::{Bench, Engine, settle};
use crate::body::INTERVAL_MS;
use crate::fill::{Filling, fill};
use crate::load::{Work, run};
use crate::report::Topic;

const DEVICES: usize = 200;
const CONNECTIONS: usize = 64;
/// Days of history of each device, a batch of 1,000 locations from midnight on each day.
const DAYS: u64 = 6;
const DAY_POINTS: u64 = 1_000;
/// Singles are dated by rounds: each round is ten seconds after the one before, so this many make a day.
const DAY_ROUNDS: usize = 8_640;
/// The first round of late locations: the third day at 03:20, after that day's batch and before that of the next.
const LATE_ROUND: usize = 2 * DAY_ROUNDS + 1_200;
/// The first round of locations in order: a day after all batches.
const IN_ORDER_ROUND: usize = 10 * DAY_ROUNDS;

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, DEVICES).await?;
    let filling = Filling {
        points: DEVICES as u64 * DAYS * DAY_POINTS,
        batch: 1_000,
        interval_ms: INTERVAL_MS,
        longest: bench.options.longest_fill(),
    };
    fill(&server, &server.devices, filling).await?;
    settle(&server).await?;
    let duration = bench.options.duration();
    let in_order = run(&[&server], CONNECTIONS, duration, &Work::post(1, IN_ORDER_ROUND)).await?;
    let late = run(&[&server], CONNECTIONS, duration, &Work::post(1, LATE_ROUND)).await?;
    let share = late.rate() / in_order.rate();
    let (topic, name) = (Topic::Singles, engine.name());
    let what = format!("late, {CONNECTIONS} connections, {DEVICES} devices");
    let figure = format!("{:.0} ({:.0} in order)", late.rate(), in_order.rate());
    bench.report.add(topic, name, &format!("{what}, requests/s"), figure);
    let figure = format!("{share:.2}");
    bench.report.add_with_target(
        topic,
        name,
        &format!("{what}, of those in order"),
        figure,
        ("at least 0.6", share >= 0.6),
    );
    bench.report.note(
        topic,
        "Late locations are older than the end of the packed history, and those of a device lie in one gap of it, as after an \
         outage.",
    );
    server.end()
}
