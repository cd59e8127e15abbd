//! Two nodes on one PostgreSQL, compared with one.

use anyhow::Result;

use crate::bench::{Bench, Engine};
use crate::load::{Work, run};
use crate::report::Topic;

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    if engine.url().is_none() {
        return Ok(());
    }
    let mut one = bench.start(engine, bench.options.devices(1000)).await?;
    let mut two = one.start_beside()?;
    let duration = bench.options.duration();
    // Rounds far enough from each other that no load sends what another has sent.
    for (points, connections, rounds) in [(1, 64, [0, 1_000_000]), (1000, 8, [600, 900])] {
        let alone = run(&[&one], connections, duration, &Work::post(points, rounds[0])).await?;
        let both = run(&[&one, &two], connections, duration, &Work::post(points, rounds[1])).await?;
        let what = match points {
            1 => "singles, 64 connections, two nodes of one".to_owned(),
            _ => format!("batches of {points}, {connections} connections, two nodes of one"),
        };
        let per_request = crate::load::number(points as u64);
        let figure = format!(
            "{:.2} ({:.0} points/s of {:.0})",
            both.rate() / alone.rate(),
            both.rate() * per_request,
            alone.rate() * per_request
        );
        bench.report.tell(Topic::Nodes, engine.name(), &what, figure);
    }
    bench.report.note(
        Topic::Nodes,
        "Both nodes, the database and the load generator share this machine's cores: two nodes can show that they do not \
         hinder each other, not what a second machine would add.",
    );
    two.end()?;
    one.end()
}
