//! Measures a built Perigee against its own floor and against what a user would do instead, on both engines, and
//! writes tables and plots. Every ratio is of two numbers of one run on one machine.

mod body;
mod http;
mod ingest;
mod load;
mod machine;
mod peer;
mod read;
mod report;
mod server;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use crate::report::Report;
use crate::server::Server;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures a built Perigee.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// The binary, built with the feature `bench`.
    #[arg(long)]
    perigee: PathBuf,
    /// A PostgreSQL server to use as well, by a superuser's URL; its database is one of our own.
    #[arg(long)]
    postgres: Option<String>,
    /// Seconds of each load.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Devices that report.
    #[arg(long, default_value_t = 1000)]
    devices: u32,
    /// Where the tables and plots go.
    #[arg(long, default_value = "bench/results")]
    out: PathBuf,
    /// Where stores are made; a folder on the disk to be measured.
    #[arg(long, default_value = "target/bench")]
    scratch: PathBuf,
}

impl Options {
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = Options::parse();
    std::fs::create_dir_all(&options.scratch)?;
    let mut report = Report::new(&options)?;
    let floor = ingest::parser_floor();
    let mut peers = vec![peer::sqlite(&options)?];
    let mut databases = vec![("SQLite", None)];
    if let Some(url) = &options.postgres {
        peers.push(peer::postgres(url).await?);
        databases.push(("PostgreSQL", Some(peer::own_database(url, "perigee_bench").await?)));
    }
    for (engine, database) in databases {
        eprintln!("{engine}");
        let mut server = Server::start(&options, database).await?;
        report.ingest(engine, ingest::measure(&options, &server, &floor).await?);
        report.read(engine, &read::measure(&options, &mut server).await?);
        server.stop()?;
    }
    report.peers(&floor, &peers);
    report.write(&options.out)
}
