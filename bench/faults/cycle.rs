//! A run: load, kill, start, check, again and again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::server::{Server, Setup};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Options;
use crate::check::{Found, check};
use crate::client::{BATCH_MAX, BULK_MAX, Shared, follow, locked, write};
use crate::damage::{Store, repair};
use crate::freeze::{Silence, freeze};
use crate::ledger::Ledger;
use crate::summary::Summary;

/// Few devices, so that compaction always has enough to do.
const DEVICES: usize = 4;
/// After this many kills new devices are used, so that a check reads about the same amount in every cycle.
const KILLS_A_GENERATION: u32 = 5;
const WRITERS: u64 = 8;
/// Every this many cycles the database is killed too.
const DATABASE_EVERY: u32 = 3;
/// Every this many cycles a bit is flipped, by turns in the state of a device and in a last location.
const FLIP_EVERY: u32 = 2;
/// Every this many cycles a second node on PostgreSQL is stopped for some seconds.
const FREEZE_EVERY: u32 = 4;
/// Every this many cycles the kill is aimed: it follows at once on the acknowledgement of a large request. A kill at a
/// random moment rarely hits the short time between a too early answer and its commit.
const AIM_EVERY: u32 = 2;
/// How long an aimed kill waits for an acknowledgement.
const AIM_WITHIN: Duration = Duration::from_secs(5);
/// Time limit of everything but the load.
const TIME_LIMIT: Duration = Duration::from_mins(2);
/// The same for all devices, which hold millions of locations after a hundred kills.
const TIME_LIMIT_FOR_ALL: Duration = Duration::from_mins(20);

/// An engine under test.
pub(crate) struct Run {
    server: Server,
    shared: Shared,
    crash_database: Option<PathBuf>,
    database: Option<String>,
    cursor: String,
    random: StdRng,
    seed: u64,
    cycles: u32,
    longest: u64,
    broken: bool,
    summary: Summary,
    began: Instant,
}

impl Run {
    /// Starts a server on an empty store.
    pub(crate) async fn start(engine: &'static str, setup: Setup, options: &Options) -> Result<Self> {
        eprintln!("{engine}");
        let database = setup.database.clone();
        let server = Server::start(setup).await?;
        let shared = Shared {
            address: server.address.clone(),
            token: server.token.clone(),
            identifiers: Arc::default(),
            indices: Arc::default(),
            ledger: Arc::default(),
            found: Arc::new(Mutex::new(Found::default())),
            large_acknowledged: Arc::default(),
        };
        Ok(Self {
            server,
            shared,
            crash_database: options.crash_postgres.clone().filter(|_| database.is_some()),
            database,
            cursor: "start".to_owned(),
            random: StdRng::seed_from_u64(options.seed),
            seed: options.seed,
            cycles: options.cycles,
            longest: options.longest,
            broken: options.broken,
            summary: Summary {
                engine,
                kills: 0,
                kills_in_packing: 0,
                kills_aimed: 0,
                database_kills: 0,
                flips: 0,
                freezes: 0,
                stalls: 0,
                silence: Silence::default(),
                counts: Ledger::default().counts,
                found: Found::default(),
                took: Duration::ZERO,
                slowest_start: Duration::ZERO,
            },
            began: Instant::now(),
        })
    }

    /// Runs every cycle, then checks all devices once more.
    pub(crate) async fn finish(mut self) -> Result<Summary> {
        for cycle in 0..self.cycles {
            if cycle.is_multiple_of(KILLS_A_GENERATION) {
                self.take_new_devices().await?;
            }
            self.load_and_kill(cycle).await?;
            if !self.broken && cycle.is_multiple_of(FLIP_EVERY) {
                self.flip(cycle).await?;
            }
            self.start_and_check(false).await.with_context(|| self.server.log_end())?;
            if self.is_decided() {
                break;
            }
            if (cycle + 1).is_multiple_of(10) {
                eprintln!("  {} kills, {:?}", cycle + 1, locked(&self.shared.ledger).counts);
            }
        }
        self.server.end()?;
        if !self.is_decided() {
            self.start_and_check(true).await.with_context(|| self.server.log_end())?;
            self.server.end()?;
        }
        self.summary.counts = locked(&self.shared.ledger).counts;
        self.summary.found = *locked(&self.shared.found);
        self.summary.took = self.began.elapsed();
        Ok(self.summary)
    }

    /// Flips a bit in the store of the killed server. A state is rebuilt by the next start; a last location by a
    /// repair.
    async fn flip(&mut self, cycle: u32) -> Result<()> {
        let store = Store::of(&self.server, self.database.as_ref());
        if (cycle / FLIP_EVERY).is_multiple_of(2) {
            self.summary.flips += u32::from(store.damage_state(&mut self.random).await?);
        } else if store.damage_last(&mut self.random).await? {
            self.summary.flips += 1;
            repair(&self.server)?;
        }
        Ok(())
    }

    /// Whether the run can stop early: a deliberately broken server is caught by the first loss.
    fn is_decided(&self) -> bool {
        let found = locked(&self.shared.found);
        if self.broken { found.lost > 0 } else { !found.is_clean() }
    }

    async fn take_new_devices(&mut self) -> Result<()> {
        let first = self.server.devices.len();
        self.server.make_devices(&format!("fault-{first}"), DEVICES).await?;
        let mut indices: HashMap<String, usize> = (*self.shared.indices).clone();
        let mut connection = Connection::open(&self.server.address).await?;
        for (index, identifier) in self.server.devices.iter().enumerate().skip(first) {
            let line = format!("GET /api/devices/{identifier}");
            let device = connection.call(&line, &self.server.token, b"").await?.json()?;
            let id = device["id"].as_str().or_else(|| device["device"]["id"].as_str());
            indices
                .insert(id.with_context(|| format!("{identifier} has no id: {device}"))?.to_owned(), index);
        }
        self.shared.identifiers = Arc::new(self.server.devices.clone());
        self.shared.indices = Arc::new(indices);
        locked(&self.shared.ledger).open_pages(DEVICES);
        Ok(())
    }

    /// Writes from many connections, reads the location feed, and kills the server at a random moment.
    async fn load_and_kill(&mut self, cycle: u32) -> Result<()> {
        let mut clients = JoinSet::new();
        for writer in 0..WRITERS {
            let seed = self.seed ^ (u64::from(cycle) << 16) ^ (writer << 8);
            let most = if writer == 0 { BULK_MAX } else { BATCH_MAX };
            clients.spawn(write(self.shared.clone(), most, StdRng::seed_from_u64(seed)));
        }
        let (shared, mut cursor) = (self.shared.clone(), self.cursor.clone());
        let reader = tokio::spawn(async move {
            // Ends when the server is killed.
            let _broke_off = follow(&shared, &mut cursor, false).await;
            cursor
        });
        let moment = self.random.random_range(20..=self.longest);
        tokio::time::sleep(Duration::from_millis(moment)).await;
        if let Some(database) = self.database.as_ref().filter(|_| !self.broken && is_due(cycle, FREEZE_EVERY))
        {
            self.summary.freezes += 1;
            let name = format!("frozen-{cycle}");
            let silence = freeze(&self.server, &self.shared, database, &name).await?;
            self.summary.stalls += u32::from(silence.is_stall());
            self.summary.silence = self.summary.silence.max(silence);
        }
        if is_due(cycle, DATABASE_EVERY)
            && let Some(program) = self.crash_database.clone()
        {
            self.summary.database_kills += 1;
            let status = tokio::process::Command::new(&program).status().await?;
            if !status.success() {
                bail!("{} failed: {status}", program.display());
            }
            // The server must reconnect by itself before it is killed as usual.
            tokio::time::sleep(Duration::from_millis(self.random.random_range(0..=500))).await;
        }
        let is_packing = is_packing(&self.server).await;
        if cycle.is_multiple_of(AIM_EVERY) {
            let acknowledged = self.shared.large_acknowledged.notified();
            self.summary.kills_aimed += u32::from(timeout(AIM_WITHIN, acknowledged).await.is_ok());
        }
        self.server.kill()?;
        self.summary.kills += 1;
        self.summary.kills_in_packing += u32::from(is_packing);
        timeout(TIME_LIMIT, async { while clients.join_next().await.is_some() {} }).await?;
        self.cursor = timeout(TIME_LIMIT, reader).await??;
        Ok(())
    }

    /// Starts the server again and checks the devices in use, or every device.
    async fn start_and_check(&mut self, everything: bool) -> Result<()> {
        self.server.start_again()?;
        self.summary.slowest_start = self.summary.slowest_start.max(self.server.ready_after);
        self.shared.address = self.server.address.clone();
        timeout(if everything { TIME_LIMIT_FOR_ALL } else { TIME_LIMIT }, async {
            follow(&self.shared, &mut self.cursor, true).await?;
            let devices = locked(&self.shared.ledger).current.clone();
            check(&self.shared, if everything { 0..devices.end } else { devices }).await
        })
        .await?
    }
}

/// Whether something is done in this cycle that is done every so many.
const fn is_due(cycle: u32, every: u32) -> bool {
    cycle % every == every - 1
}

/// Whether compaction was running a moment ago. False if the server does not answer in time.
async fn is_packing(server: &Server) -> bool {
    let ask = async {
        let mut connection = Connection::open(&server.address).await.ok()?;
        let answer = connection.call("GET /metrics", &server.token, b"").await.ok()?;
        Some(answer.text().lines().any(|line| line == "perigee_locations_packing 1"))
    };
    timeout(Duration::from_millis(100), ask).await.ok().flatten().unwrap_or(false)
}
