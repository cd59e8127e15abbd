//! Two nodes on one PostgreSQL, compared with one.

use anyhow::Result;

use crate::bench::{Bench, Engine};
use crate::load::{Work, run};
use crate::report::Topic;

/// How often one node and two are measured in turn: the speed of a machine may change within minutes.
const TURNS: u16 = 3;

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    if engine.url().is_none() {
        return Ok(());
    }
    let mut one = bench.start(engine, bench.options.devices(1000)).await?;
    let mut two = one.start_beside()?;
    let duration = bench.options.duration();
    // Rounds far enough from each other that no load sends what another has sent, and in the order of time.
    for (points, connections, first_round, rounds) in [(1, 64, 0, 10_000), (1000, 8, 600, 300)] {
        let (mut alone, mut both) = (0.0, 0.0);
        for turn in 0..TURNS {
            let work = |index| Work::post(points, first_round + usize::from(2 * turn + index) * rounds);
            alone += run(&[&one], connections, duration, &work(0)).await?.rate() / f64::from(TURNS);
            both += run(&[&one, &two], connections, duration, &work(1)).await?.rate() / f64::from(TURNS);
        }
        let what = match points {
            1 => "singles, 64 connections, two nodes of one".to_owned(),
            _ => format!("batches of {points}, {connections} connections, two nodes of one"),
        };
        let per_request = crate::load::number(points as u64);
        let figure =
            format!("{:.2} ({:.0} points/s of {:.0})", both / alone, both * per_request, alone * per_request);
        bench.report.add(Topic::Nodes, engine.name(), &what, figure);
    }
    bench.report.note(
        Topic::Nodes,
        "Both nodes, the database and the load generator share this machine's cores: two nodes can show that they do not \
         hinder each other, not what a second machine would add.",
    );
    two.end()?;
    one.end()
}
