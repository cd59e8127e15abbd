//! The context of every phase: options, engines and report.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use perigee_bench::machine;
use perigee_bench::postgres::own_database;
use perigee_bench::server::{Limits, Server, Setup};

use crate::report::Report;

/// Parts of the benchmark, in the order they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Phase {
    /// Locations sent one by one.
    Singles,
    /// Single locations older than the packed history.
    Late,
    /// Locations in batches, with readers, and stalls.
    Batches,
    /// Size of the database at rest.
    Size,
    /// A growing database, then reads, last locations and start-up time on it.
    Growth,
    /// Two nodes on one PostgreSQL.
    Nodes,
    /// Memory used by export and import.
    Memory,
    /// Many streams of events.
    Streams,
    /// Webhooks whose receivers fail or hang.
    Webhooks,
    /// Geofences, and locations one by one with rules.
    Rules,
    /// Trackers over TCP, and idle connections.
    Trackers,
    /// Timelines: their derivation and what it costs, totals, and a report.
    Trips,
    /// Devices created in bulk, and one by one.
    Devices,
    /// Plain databases with one row per location.
    Peers,
}

/// Measures a built Perigee.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// The binary, built with the feature `bench`.
    #[arg(long)]
    pub(crate) perigee: PathBuf,
    /// URL of a PostgreSQL superuser, to measure PostgreSQL as well; new databases are created.
    #[arg(long)]
    pub(crate) postgres: Option<String>,
    /// The PostgreSQL server runs without the shim.
    #[arg(long)]
    pub(crate) foreign_postgres: bool,
    /// Do not measure SQLite.
    #[arg(long)]
    pub(crate) no_sqlite: bool,
    /// The library built from `bench/shim.c`, which slows down syncs and sets clocks ahead.
    #[arg(long)]
    pub(crate) shim: Option<PathBuf>,
    /// The file from which the shim reads the delay of syncs; PostgreSQL must use it too.
    #[arg(long, requires = "shim")]
    pub(crate) sync_delay: Option<PathBuf>,
    /// A folder with real tracks as CSV.
    #[arg(long)]
    pub(crate) tracks: Option<PathBuf>,
    /// Run only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Phase>,
    /// Run everything small, to see that it works; the numbers mean little.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Duration of each load in seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Locations in the largest database.
    #[arg(long)]
    points: Option<u64>,
    /// Event streams that are open at the same time.
    #[arg(long)]
    streams: Option<usize>,
    /// Events that are delivered to webhooks.
    #[arg(long)]
    events: Option<usize>,
    /// Rules that apply to every device.
    #[arg(long)]
    rules: Option<usize>,
    /// Geofences that a position is tested against.
    #[arg(long)]
    geofences: Option<usize>,
    /// Folder for tables and plots.
    #[arg(long, default_value = "bench/results")]
    pub(crate) out: PathBuf,
    /// Folder for temporary databases, on the disk to be measured.
    #[arg(long, default_value = "target/bench")]
    pub(crate) scratch: PathBuf,
}

impl Options {
    pub(crate) fn phases(&self) -> Vec<Phase> {
        let chosen = |phase: &Phase| self.only.is_empty() || self.only.contains(phase);
        Phase::value_variants().iter().copied().filter(chosen).collect()
    }

    /// Duration of a load.
    pub(crate) fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(if self.quick { 1 } else { 5 }))
    }

    /// Locations in the largest database of an engine. PostgreSQL gets a tenth: its rows take many times as long to
    /// write, and the result is as clear.
    pub(crate) fn points(&self, engine: &Engine) -> u64 {
        let most = self.points.unwrap_or(if self.quick { 200_000 } else { 50_000_000 });
        if engine.url().is_some() { most / 10 } else { most }
    }

    /// Event streams that are open at the same time, or the default.
    pub(crate) fn streams(&self) -> usize {
        self.streams.unwrap_or(if self.quick { 50 } else { 1000 })
    }

    /// Events that are delivered to webhooks.
    pub(crate) fn events(&self) -> usize {
        self.events.unwrap_or(if self.quick { 2_000 } else { 100_000 })
    }

    /// Time limit for filling a database; if it is reached, the database stays smaller and the report says so.
    pub(crate) fn longest_fill(&self) -> Duration {
        Duration::from_secs(if self.quick { 20 } else { 180 })
    }

    /// Rules that apply to every device.
    pub(crate) fn rules(&self) -> usize {
        self.rules.unwrap_or(if self.quick { 10 } else { 100 })
    }

    /// Geofences that a position is tested against.
    pub(crate) fn geofences(&self) -> usize {
        self.geofences.unwrap_or(if self.quick { 1_000 } else { 10_000 })
    }

    /// Devices of a fleet.
    pub(crate) fn devices(&self, usual: usize) -> usize {
        if self.quick { usual / 10 } else { usual }
    }
}

/// An engine under measurement.
#[derive(Clone, Debug)]
pub(crate) enum Engine {
    Sqlite,
    /// A server, by its URL.
    Postgres(String),
}

impl Engine {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }

    pub(crate) fn url(&self) -> Option<&str> {
        match self {
            Self::Sqlite => None,
            Self::Postgres(url) => Some(url),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) options: Options,
    pub(crate) report: Report,
}

impl Bench {
    pub(crate) fn new(options: Options) -> Result<Self> {
        std::fs::create_dir_all(&options.scratch)?;
        let (median, slow) = machine::sync_latency_ms(&options.scratch)?;
        let kind = if options.quick { " **A quick run: its figures mean little.**" } else { "" };
        let header = format!(
            "# Benchmark\n\nMade by `scripts/bench`; ratios are of numbers of this run.{kind}\n\n\
             - Machine: {}\n- Stores on {}, where syncing 4 KiB takes {median:.2} ms (99 of 100 within {slow:.2} ms)\n\
             - Load average before the run: {} (other work makes every figure worse)\n\
             - The load generator runs on the same machine and takes its share of the cores.\n",
            machine::describe(),
            machine::file_system(&options.scratch),
            machine::load_average(),
        );
        Ok(Self { report: Report::new(header), options })
    }

    /// The engines to measure.
    pub(crate) fn engines(&self) -> Vec<Engine> {
        let sqlite = (!self.options.no_sqlite).then_some(Engine::Sqlite);
        sqlite.into_iter().chain(self.options.postgres.clone().map(Engine::Postgres)).collect()
    }

    /// Starts a server on an empty database with this many devices.
    pub(crate) async fn start(&self, engine: &Engine, devices: usize) -> Result<Server> {
        self.start_with(engine, devices, Vec::new()).await
    }

    /// The same with further environment variables.
    pub(crate) async fn start_with(
        &self,
        engine: &Engine,
        devices: usize,
        environment: Vec<(String, String)>,
    ) -> Result<Server> {
        let database = match engine.url() {
            Some(url) => Some(own_database(url, "perigee_bench").await?),
            None => None,
        };
        let setup = Setup {
            perigee: self.options.perigee.clone(),
            scratch: self.options.scratch.clone(),
            database,
            environment,
            limits: Limits::Lifted,
        };
        let mut server = Server::start(setup).await?;
        server.make_devices("bench", devices).await?;
        Ok(server)
    }
}

/// Waits until a server has no background work left.
pub(crate) async fn settle(server: &Server) -> Result<Duration> {
    const SAMPLE_EVERY: Duration = Duration::from_millis(500);
    const QUIET_SAMPLES: u32 = 5;
    let began = Instant::now();
    let (mut quiet, mut before) = (0, server.usage()?.cpu_s);
    while quiet < QUIET_SAMPLES {
        tokio::time::sleep(SAMPLE_EVERY).await;
        let now = server.usage()?.cpu_s;
        let is_quiet = now - before < SAMPLE_EVERY.as_secs_f64() * 0.04;
        quiet = if is_quiet { quiet + 1 } else { 0 };
        before = now;
        if began.elapsed() > Duration::from_mins(3) {
            bail!("the server did not come to rest within three minutes");
        }
    }
    Ok(began.elapsed().saturating_sub(SAMPLE_EVERY * QUIET_SAMPLES))
}
