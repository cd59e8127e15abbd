//! The parts of the benchmark, each adding its figures to the report.

mod batches;
mod devices;
mod grown;
mod growth;
mod late;
mod memory;
mod nodes;
mod rules;
mod singles;
mod size;
mod streams;
mod trackers;
mod trip_reads;
mod trips;
mod webhooks;

use anyhow::Result;

use crate::bench::{Bench, Phase};
use crate::peer;

/// Runs a part on every engine.
pub(crate) async fn run(bench: &mut Bench, phase: Phase) -> Result<()> {
    for engine in bench.engines() {
        match phase {
            Phase::Singles => singles::measure(bench, &engine).await?,
            Phase::Late => late::measure(bench, &engine).await?,
            Phase::Batches => batches::measure(bench, &engine).await?,
            Phase::Size => size::measure(bench, &engine).await?,
            Phase::Growth => growth::measure(bench, &engine).await?,
            Phase::Nodes => nodes::measure(bench, &engine).await?,
            Phase::Memory => memory::measure(bench, &engine).await?,
            Phase::Streams => streams::measure(bench, &engine).await?,
            Phase::Webhooks => webhooks::measure(bench, &engine).await?,
            Phase::Rules => rules::measure(bench, &engine).await?,
            Phase::Trackers => trackers::measure(bench, &engine).await?,
            Phase::Trips => trips::measure(bench, &engine).await?,
            Phase::Devices => devices::measure(bench, &engine).await?,
            Phase::Peers => peer::measure(bench, &engine).await?,
        }
    }
    Ok(())
}
