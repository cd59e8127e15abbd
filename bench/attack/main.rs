//! Attacks a server with default limits, one scenario after the other, each on a new database, and measures what
//! another tenant notices: the longest wait for an answer, refusals, and the server's peak memory.

mod bystander;
mod control;
mod stage;
mod summary;

mod scenario;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use perigee_bench::machine::load_average;
use perigee_bench::postgres::own_database;

use crate::bystander::Bystander;
use crate::control::Control;
use crate::scenario::SCENARIOS;
use crate::stage::Stage;
use crate::summary::Outcome;

/// Attacks a server, and measures what another tenant notices.
#[derive(Debug, Parser)]
struct Options {
    /// The binary; must be a release build, because the limits assume one.
    #[arg(long)]
    perigee: PathBuf,
    /// URL of a PostgreSQL superuser, to test PostgreSQL as well; a new database is created.
    #[arg(long)]
    postgres: Option<String>,
    /// Do not test SQLite.
    #[arg(long)]
    no_sqlite: bool,
    /// Only scenarios whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Folder for temporary databases.
    #[arg(long, default_value = "target/attack")]
    scratch: PathBuf,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let options = Options::parse();
    std::fs::create_dir_all(&options.scratch)?;
    let mut outcomes = Vec::new();
    for engine in ["SQLite", "PostgreSQL"] {
        if engine == "SQLite" && options.no_sqlite || engine == "PostgreSQL" && options.postgres.is_none() {
            continue;
        }
        for scenario in SCENARIOS.iter().filter(|scenario| scenario.name.contains(&options.only)) {
            let database = match &options.postgres {
                Some(url) if engine == "PostgreSQL" => Some(own_database(url, "perigee_attack").await?),
                _ => None,
            };
            let stage =
                Stage::start(&options.perigee, &options.scratch, database, scenario.environment).await?;
            eprintln!("{engine}: {}", scenario.name);
            let bystander = Bystander::start(stage.other.clone(), stage.server.address.clone());
            let control = Control::start()?;
            let attacked = (scenario.run)(&stage).await;
            let (noticed, machine_ms) = (bystander.stop()?, control.stop()?);
            let peak = stage.server.usage()?.peak;
            if let Err(error) = &attacked {
                eprintln!("{error:#}\n{}", stage.server.log_end());
            }
            let (failed, did) = match attacked {
                Ok(did) => (false, did),
                Err(error) => (true, format!("**failed:** {error:#}")),
            };
            outcomes.push(Outcome { engine, name: scenario.name, did, failed, noticed, machine_ms, peak });
        }
    }
    println!("{}\nload average: {}", summary::table(&outcomes), load_average());
    let failed = outcomes.iter().filter(|outcome| !outcome.is_within_bounds()).count();
    println!("{} passed, {failed} failed", outcomes.len() - failed);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
