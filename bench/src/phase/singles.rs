//! Locations sent one by one, compared with the floor of the same server, on this disk and on a slow one.

use std::time::Duration;

use anyhow::Result;
use perigee_bench::server::Server;

use crate::bench::{Bench, Engine};
use crate::load::{Load, Work, number, run};
use crate::report::{Bar, Topic};

const CONNECTIONS: [usize; 2] = [64, 256];
/// Rounds of one load, which no other uses.
const ROUNDS: usize = 1_000_000;
const COMMITS: &str = "perigee_store_commits_total";
/// The load that compares how a device is named. Its turns use rounds that no other load uses.
const NAMED_CONNECTIONS: usize = 64;
const NAMED_ROUND: usize = 20 * ROUNDS;
/// The server publishes its counters every five seconds.
const PUBLISHED: Duration = Duration::from_millis(5_300);
const SLOW_SYNC_US: &str = "5000";

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, bench.options.devices(1000)).await?;
    let name = engine.name();
    // The commits that made the devices are not to be counted with those of the first load.
    tokio::time::sleep(PUBLISHED).await;
    for (index, connections) in CONNECTIONS.into_iter().enumerate() {
        let duration = bench.options.duration();
        let floor = run(&[&server], connections, duration, &Work::PostFloor { points: 1 }).await?;
        let (durable, commits) = durable(bench, &server, connections, index * ROUNDS).await?;
        let share = durable.rate() / floor.rate();
        let at = |what: &str| format!("{what}, {connections} connections");
        let report = &mut bench.report;
        report.add(Topic::Singles, name, &at("floor, requests/s"), format!("{:.0}", floor.rate()));
        report.add(Topic::Singles, name, &at("durable, requests/s"), format!("{:.0}", durable.rate()));
        let (what, figure) = (at("durable, of the floor"), format!("{:.0} %", share * 100.0));
        match engine {
            Engine::Sqlite => {
                report.add_with_target(Topic::Singles, name, &what, figure, ("at least 70 %", share >= 0.7));
            }
            Engine::Postgres(_) => report.add(Topic::Singles, name, &what, figure),
        }
        report_latency(bench, name, &at("durable"), &durable, commits);
        for (label, load, is_ours) in [("floor", &floor, false), ("durable", &durable, true)] {
            let label = format!("{name}, {connections} connections, {label}");
            bench.report.single_bar(Bar { label, value: load.rate(), is_ours });
        }
    }
    by_identifier(bench, &server, name).await?;
    if let Some(delay_file) = slow_sync(bench, engine, &mut server)? {
        for (index, connections) in CONNECTIONS.into_iter().enumerate() {
            let (load, commits) = durable(bench, &server, connections, (2 + index) * ROUNDS).await?;
            let what = format!("durable with a sync of 5 ms more, {connections} connections");
            let (report, figure) = (&mut bench.report, format!("{:.0}", load.rate()));
            report.add(Topic::Singles, name, &format!("{what}, requests/s"), figure);
            report_latency(bench, name, &what, &load, commits);
        }
        std::fs::write(delay_file, "")?;
    }
    bench.report.note(
        Topic::Singles,
        "The floor is the same server with a handler that only authenticates, parses, judges and answers. Commits are \
         those the server counts; a commit answers everyone who waited for it.",
    );
    server.end()
}

/// Compares singles by identifier with singles by id, in turns so that other work on the machine meets both.
async fn by_identifier(bench: &mut Bench, server: &Server, name: &'static str) -> Result<()> {
    let (mut requests, mut seconds, mut cpu_s) = ([0; 2], [0.0; 2], [0.0; 2]);
    for (turn, named) in [false, true, true, false].into_iter().enumerate() {
        let first_round = NAMED_ROUND + turn * ROUNDS;
        let work = if named { Work::PostByIdentifier { first_round } } else { Work::post(1, first_round) };
        let load = run(&[server], NAMED_CONNECTIONS, bench.options.duration(), &work).await?;
        requests[usize::from(named)] += load.requests;
        seconds[usize::from(named)] += load.seconds;
        cpu_s[usize::from(named)] += load.cpu_s;
    }
    let [by_id, by_identifier] = [0, 1].map(|index| number(requests[index]) / seconds[index]);
    let ratio = by_identifier / by_id;
    let at = |what: &str| format!("{what}, {NAMED_CONNECTIONS} connections");
    for (index, what, rate) in [(0, "by id", by_id), (1, "by identifier", by_identifier)] {
        bench.report.add(Topic::Singles, name, &at(&format!("{what}, requests/s")), format!("{rate:.0}"));
        let cpu = format!("{:.0} µs", cpu_s[index] / number(requests[index]) * 1e6);
        bench.report.add(Topic::Singles, name, &at(&format!("{what}, server CPU a request")), cpu);
    }
    let target = ("at least 0.95", ratio >= 0.95);
    let what = at("by identifier, of those by id");
    bench.report.add_with_target(Topic::Singles, name, &what, format!("{ratio:.2}"), target);
    Ok(())
}

/// A durable load, and the commits it took each second.
async fn durable(
    bench: &Bench,
    server: &Server,
    connections: usize,
    first_round: usize,
) -> Result<(Load, f64)> {
    let before = server.figure(COMMITS).await?;
    let load = run(&[server], connections, bench.options.duration(), &Work::post(1, first_round)).await?;
    tokio::time::sleep(PUBLISHED).await;
    let commits = server.figure(COMMITS).await? - before;
    let per_second = commits / load.seconds;
    Ok((load, per_second))
}

fn report_latency(bench: &mut Bench, name: &'static str, what: &str, load: &Load, commits: f64) {
    let figure = format!("{:.2} / {:.2} ms", load.per_mille_ms(500), load.per_mille_ms(990));
    bench.report.add(Topic::Singles, name, &format!("{what}, p50 / p99"), figure);
    bench.report.add(Topic::Singles, name, &format!("{what}, commits/s"), format!("{commits:.0}"));
}

/// Makes every sync slower from now on. Returns the file that sets the delay; `None` if syncs cannot be slowed down.
fn slow_sync(bench: &mut Bench, engine: &Engine, server: &mut Server) -> Result<Option<std::path::PathBuf>> {
    let (Some(shim), Some(delay)) = (&bench.options.shim, bench.options.sync_delay.clone()) else {
        bench.report.note(Topic::Singles, "No shim was given to slow syncs down: that figure is missing.");
        return Ok(None);
    };
    // On PostgreSQL it is the database that syncs; its server must have been started with the shim.
    if engine.url().is_some() && bench.options.foreign_postgres {
        bench
            .report
            .note(Topic::Singles, "PostgreSQL was not started by this run and cannot be slowed down.");
        return Ok(None);
    }
    if engine.url().is_none() {
        let path = |path: &std::path::Path| path.display().to_string();
        let environment =
            vec![("LD_PRELOAD".to_owned(), path(shim)), ("BENCH_SYNC_DELAY_FILE".to_owned(), path(&delay))];
        server.end()?;
        server.set_environment(environment);
        server.start_again()?;
    }
    std::fs::write(&delay, SLOW_SYNC_US)?;
    Ok(Some(delay))
}
