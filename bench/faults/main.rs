//! Repeatedly kills a server that receives locations, and compares its data with a ledger of what it acknowledged:
//! nothing may be lost, nothing may be there twice. Or a server that sends notifications: no limit may be exceeded, and
//! nothing may be sent without being counted. Or one that receives emergencies: each stored message must have its
//! alert. Or one that derives timelines: each must be what its locations give. Or one that hands messages to providers:
//! none may be lost or sent twice.

mod alerts;
mod check;
mod client;
mod conversations;
mod cycle;
mod damage;
mod expected;
mod freeze;
mod ledger;
mod outcome;
mod point;
mod sink;
mod sos;
mod summary;
mod timelines;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use perigee_bench::postgres::own_database;
use perigee_bench::server::{Limits, Setup};

use crate::cycle::Run;
use crate::summary::Summary;

/// Kills a server that receives locations, and checks that it kept what it acknowledged.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Options {
    /// The binary; one with the features `unsafe-early-ack`, `unsafe-late-alerts`, `unsafe-late-limit`,
    /// `unsafe-early-timelines` and `unsafe-resend` for `--broken`.
    #[arg(long)]
    perigee: PathBuf,
    /// URL of a PostgreSQL superuser, to test PostgreSQL as well; a new database is created.
    #[arg(long)]
    postgres: Option<String>,
    /// A program that kills the PostgreSQL server and starts it again; run every few cycles.
    #[arg(long, value_name = "PROGRAM")]
    crash_postgres: Option<PathBuf>,
    /// Do not test SQLite.
    #[arg(long)]
    no_sqlite: bool,
    /// Send this many alerts instead of locations, and count what a simulated provider gets.
    #[arg(long, value_name = "COUNT")]
    alerts: Option<usize>,
    /// Send emergencies instead, and check that each stored message has its alert.
    #[arg(long, conflicts_with = "alerts")]
    sos: bool,
    /// Kill a server that derives timelines instead, and check that each is what its locations give.
    #[arg(long, conflicts_with_all = ["alerts", "sos"])]
    timelines: bool,
    /// Send this many messages to devices instead, and compare their states with what simulated providers took.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["alerts", "sos", "timelines"])]
    messages: Option<usize>,
    /// Number of devices that raise alerts.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    devices: u32,
    /// Number of kills for each engine.
    #[arg(long, default_value_t = 100)]
    cycles: u32,
    /// Seed of random choices; timing between processes still varies.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The longest time from a start to its kill, in milliseconds.
    #[arg(long, default_value_t = 1800, value_parser = clap::value_parser!(u64).range(100..))]
    longest: u64,
    /// Test a broken server that answers before it commits, counts after it sends, stores alerts after their messages,
    /// marks devices as derived before it stores their segments, or repeats interrupted attempts; succeeds only if that
    /// is caught.
    #[arg(long)]
    broken: bool,
    /// Folder for temporary databases.
    #[arg(long, default_value = "target/faults")]
    scratch: PathBuf,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let options = Options::parse();
    std::fs::create_dir_all(&options.scratch)?;
    let mut engines = Vec::new();
    if !options.no_sqlite {
        engines.push(("SQLite", None));
    }
    if let Some(url) = &options.postgres {
        engines.push(("PostgreSQL", Some(own_database(url, "perigee_faults").await?)));
    }
    if let Some(alerts) = options.alerts {
        return alerts::run(&options, alerts, engines).await;
    }
    if options.sos {
        return sos::run(&options, engines).await;
    }
    if let Some(messages) = options.messages {
        return conversations::run(&options, messages, engines).await;
    }
    if options.timelines {
        return timelines::run(&options, engines).await;
    }
    let mut summaries: Vec<Summary> = Vec::new();
    for (engine, database) in engines {
        let early = options.broken.then(|| ("PERIGEE_UNSAFE_EARLY_ACK".to_owned(), "1".to_owned()));
        let setup = Setup {
            perigee: options.perigee.clone(),
            scratch: options.scratch.clone(),
            database,
            environment: early.into_iter().collect(),
            limits: Limits::Lifted,
        };
        summaries.push(Run::start(engine, setup, &options).await?.finish().await?);
    }
    println!("{}", summary::table(&summaries));
    // A broken server must be caught by lost data, not by other differences.
    let succeeded = |summary: &Summary| {
        if options.broken { summary.found.lost > 0 } else { summary.found.is_clean() && summary.stalls == 0 }
    };
    let ok = summaries.iter().all(succeeded);
    println!(
        "{}",
        match (options.broken, ok) {
            (false, true) => "nothing lost, nothing twice",
            (false, false) => "FAILED: the server broke its promise",
            (true, true) => "caught: the server that answers before it commits lost what it acknowledged",
            (true, false) => "FAILED: a server that answers before it commits was not caught",
        }
    );
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
