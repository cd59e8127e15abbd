//! A run with emergencies: trackers that send once and a feed report SOS without a position, the server or its database
//! is killed, and each stored message must have its alert, once.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use perigee_bench::http::Connection;
use perigee_bench::server::{Limits, Server, Setup};
use perigee_core::time::Timestamp;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Options;

/// Number of devices for each way to report.
const DEVICES: usize = 8;
/// Every this many cycles PostgreSQL is killed instead of the server, which keeps running.
const DATABASE_EVERY: u32 = 3;
/// Pause between two messages of a device, so that the queue of the system does not drop them.
const PAUSE: Duration = Duration::from_millis(2);
/// 2026-01-01, in seconds.
const START_S: i64 = 1_767_225_600;
/// How long the server may take to answer again.
const READY_WITHIN: Duration = Duration::from_mins(2);

/// A way by which devices report an SOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// By UDP, without a reply that the tracker waits for.
    H02,
    /// By TCP, without a reply.
    Suntech,
    /// A request of a satellite network with the beginning and the end of an emergency.
    Garmin,
}

impl Way {
    const ALL: [Self; 3] = [Self::H02, Self::Suntech, Self::Garmin];

    const fn source(self) -> &'static str {
        match self {
            Self::H02 => "h02",
            Self::Suntech => "suntech",
            Self::Garmin => "garmin",
        }
    }

    fn name(self, index: usize) -> String {
        let digit = match self {
            Self::H02 => 1,
            Self::Suntech => 2,
            Self::Garmin => 3,
        };
        format!("35693803560{digit}{index:03}")
    }

    /// An SOS of a device at this second, without a position.
    fn message(self, name: &str, time_s: i64) -> String {
        // As in `2026-01-01T00:00:10Z`.
        let time = Timestamp::from_millis(time_s * 1_000).to_string();
        let part = |range: Range<usize>| time.get(range).unwrap_or_default();
        let (year, month, day) = (part(0..4), part(5..7), part(8..10));
        match self {
            Self::H02 => {
                let (clock, year) = (part(11..19).replace(':', ""), part(2..4));
                format!("*HQ,{name},NBR,{clock},460,0,1,1,9338,3692,150,{day}{month}{year},FFFFFFFD#")
            }
            Self::Suntech => format!("ALT;{name};080030;{year}{month}{day};{};42\r", part(11..19)),
            Self::Garmin => {
                let event = |code: i64, time_s: i64| json!({"imei": name, "messageCode": code, "timeStamp": time_s * 1_000});
                json!({"Version": "2.0", "Events": [event(4, time_s), event(7, time_s + 1)]}).to_string()
            }
        }
    }

    /// The second of a stored message.
    fn time_s(self, text: &str) -> Option<i64> {
        let instant = |date: String, clock: &str| {
            let time: Timestamp = format!("{date}T{clock}Z").parse().ok()?;
            Some(time.as_millis() / 1_000)
        };
        match self {
            Self::H02 => {
                let fields: Vec<&str> = text.split(',').collect();
                let (date, clock) = (fields.get(11)?, fields.get(3)?);
                let date = format!("20{}-{}-{}", date.get(4..6)?, date.get(2..4)?, date.get(0..2)?);
                let clock = format!("{}:{}:{}", clock.get(0..2)?, clock.get(2..4)?, clock.get(4..6)?);
                instant(date, &clock)
            }
            Self::Suntech => {
                let fields: Vec<&str> = text.split(';').collect();
                let (date, clock) = (fields.get(3)?, fields.get(4)?);
                instant(format!("{}-{}-{}", date.get(0..4)?, date.get(4..6)?, date.get(6..8)?), clock)
            }
            Self::Garmin => {
                let request: Value = serde_json::from_str(text.split_once("\n\n")?.1).ok()?;
                Some(request["Events"][0]["timeStamp"].as_i64()? / 1_000)
            }
        }
    }
}

/// The result of the checks after all kills.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    kills: u32,
    database_kills: u32,
    sent: u64,
    /// Distinct messages that are stored.
    stored: u64,
    /// Stored messages without an alert.
    without_alert: u64,
    /// Alerts without a stored message.
    without_message: u64,
    /// Alerts that are there more than once.
    twice: u64,
}

impl Found {
    fn is_clean(&self) -> bool {
        self.without_alert + self.without_message + self.twice == 0
    }

    fn describe(&self, engine: &str) -> String {
        format!(
            "{engine}: {} kills of the server, {} of the database; {} SOS sent, {} stored; \
             {} without their alert, {} alerts without a message, {} alerts twice",
            self.kills,
            self.database_kills,
            self.sent,
            self.stored,
            self.without_alert,
            self.without_message,
            self.twice
        )
    }
}

/// Runs each engine and prints the results.
pub(crate) async fn run(options: &Options, engines: Vec<(&'static str, Option<String>)>) -> Result<ExitCode> {
    let mut ok = true;
    for (engine, database) in engines {
        eprintln!("{engine}");
        let crash = options.crash_postgres.clone().filter(|_| database.is_some());
        let found = SosRun::start(options, database, crash).await?.finish().await?;
        println!("{}", found.describe(engine));
        ok &= if options.broken { found.without_alert > 0 } else { found.is_clean() && found.stored > 0 };
    }
    println!(
        "{}",
        match (options.broken, ok) {
            (false, true) => "each stored SOS has its alert, once",
            (false, false) => "FAILED: the server broke its promise",
            (true, true) => "caught: the server that stores alerts later lost some",
            (true, false) => "FAILED: a server that stores alerts later was not caught",
        }
    );
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A free port, chosen once so that the server has the same one after each start.
fn free_port() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// The server under test, and the addresses that messages are sent to.
struct SosRun {
    server: Server,
    h02: SocketAddr,
    suntech: SocketAddr,
    /// The path of the gateway.
    path: String,
    crash_database: Option<PathBuf>,
    random: StdRng,
    cycles: u32,
    longest: u64,
    next_s: i64,
    found: Found,
}

impl SosRun {
    async fn start(options: &Options, database: Option<String>, crash: Option<PathBuf>) -> Result<Self> {
        let (h02, suntech) = (free_port()?, free_port()?);
        let mut environment =
            vec![("PERIGEE_GATEWAYS__LISTEN".to_owned(), format!("h02={h02}, suntech={suntech}"))];
        if options.broken {
            environment.push(("PERIGEE_UNSAFE_LATE_ALERTS".to_owned(), "1".to_owned()));
        }
        let setup = Setup {
            perigee: options.perigee.clone(),
            scratch: options.scratch.clone(),
            database,
            environment,
            limits: Limits::Lifted,
        };
        let mut server = Server::start(setup).await?;
        for way in Way::ALL {
            server.make_named_devices((0..DEVICES).map(|index| way.name(index)).collect()).await?;
        }
        let mut connection = Connection::open(&server.address).await?;
        let body = json!({"feed": "garmin"}).to_string();
        let made = connection.call("POST /api/gateways", &server.token, body.as_bytes()).await?.json()?;
        let url = made["gateway"]["url"].as_str().or_else(|| made["url"].as_str());
        let url = url.with_context(|| format!("a gateway without an address: {made}"))?;
        // After the scheme and the host.
        let path = url.splitn(4, '/').nth(3).map(|path| format!("/{path}"));
        Ok(Self {
            server,
            h02,
            suntech,
            path: path.with_context(|| format!("no path in {url}"))?,
            crash_database: crash,
            random: StdRng::seed_from_u64(options.seed),
            cycles: options.cycles,
            longest: options.longest,
            next_s: START_S,
            found: Found::default(),
        })
    }

    async fn finish(mut self) -> Result<Found> {
        for cycle in 0..self.cycles {
            self.load_and_kill(cycle).await.with_context(|| self.server.log_end())?;
            if (cycle + 1).is_multiple_of(10) {
                eprintln!("  {} cycles, {} SOS sent", cycle + 1, self.found.sent);
            }
        }
        self.check().await.with_context(|| self.server.log_end())?;
        self.server.end()?;
        Ok(self.found)
    }

    /// Sends from all devices, and kills the server or its database at a random moment.
    async fn load_and_kill(&mut self, cycle: u32) -> Result<()> {
        let begin_s = self.next_s;
        // Times of one cycle are not used by another.
        self.next_s += 100_000;
        let mut senders = JoinSet::new();
        for (way, index) in Way::ALL.into_iter().flat_map(|way| (0..DEVICES).map(move |index| (way, index))) {
            let target = Target {
                h02: self.h02,
                suntech: self.suntech,
                http: self.server.address.clone(),
                path: self.path.clone(),
            };
            senders.spawn(send(way, way.name(index), target, begin_s));
        }
        let moment = self.random.random_range(20..=self.longest);
        tokio::time::sleep(Duration::from_millis(moment)).await;
        match &self.crash_database {
            Some(program) if cycle % DATABASE_EVERY == DATABASE_EVERY - 1 => {
                self.found.database_kills += 1;
                let status = tokio::process::Command::new(program).status().await?;
                if !status.success() {
                    bail!("{} failed: {status}", program.display());
                }
                // The server keeps running, and messages continue while it reconnects.
                tokio::time::sleep(Duration::from_millis(self.random.random_range(0..=1_000))).await;
                self.found.sent += stop(&mut senders).await;
                timeout(READY_WITHIN, self.wait_until_ready()).await?;
            }
            _ => {
                self.server.kill()?;
                self.found.kills += 1;
                self.found.sent += stop(&mut senders).await;
                self.server.start_again()?;
            }
        }
        Ok(())
    }

    async fn wait_until_ready(&self) {
        let is_ready = async || {
            let mut connection = Connection::open(&self.server.address).await.ok()?;
            let answer = connection.call("GET /api/devices?limit=1", &self.server.token, b"").await.ok()?;
            answer.is_success().then_some(())
        };
        while is_ready().await.is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Compares the stored messages with the alerts, device by device. Messages are read before and after the alerts,
    /// because the server may still store what it had received.
    async fn check(&mut self) -> Result<()> {
        let mut connection = Connection::open(&self.server.address).await?;
        for way in Way::ALL {
            let mut messages = read_messages(&mut connection, &self.server.token, way).await?;
            let mut alerts_of = BTreeMap::new();
            for name in (0..DEVICES).map(|index| way.name(index)) {
                let alerts = read_alerts(&mut connection, &self.server.token, &name).await?;
                alerts_of.insert(name, alerts);
            }
            let mut later = read_messages(&mut connection, &self.server.token, way).await?;
            for (name, alerts) in alerts_of {
                let messages = messages.remove(&name).unwrap_or_default();
                let later = later.remove(&name).unwrap_or_default();
                let distinct: BTreeSet<i64> = alerts.iter().copied().collect();
                self.found.stored += messages.len() as u64;
                self.found.twice += (alerts.len() - distinct.len()) as u64;
                self.found.without_alert += messages.difference(&distinct).count() as u64;
                self.found.without_message += distinct.difference(&later).count() as u64;
            }
        }
        Ok(())
    }
}

/// The addresses that messages are sent to.
struct Target {
    h02: SocketAddr,
    suntech: SocketAddr,
    http: String,
    path: String,
}

/// Stops the senders and returns how many messages they sent.
async fn stop(senders: &mut JoinSet<u64>) -> u64 {
    let mut sent = 0;
    let time_limit = Duration::from_secs(2);
    while let Ok(Some(done)) = timeout(time_limit, senders.join_next()).await {
        sent += done.unwrap_or(0);
    }
    senders.abort_all();
    while senders.join_next().await.is_some() {}
    sent
}

/// Sends one SOS after the other, up to 1,000 or until sending fails. Returns how many were sent.
async fn send(way: Way, name: String, target: Target, begin_s: i64) -> u64 {
    let mut sent = 0;
    // Ten seconds apart: an emergency of the feed is cancelled after one second, so that the next one is distinct.
    let messages = (0..1_000).map(|number| way.message(&name, begin_s + number * 10));
    match way {
        Way::H02 => {
            let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await else { return 0 };
            for message in messages {
                if socket.send_to(message.as_bytes(), target.h02).await.is_err() {
                    break;
                }
                sent += 1;
                tokio::time::sleep(PAUSE).await;
            }
        }
        Way::Suntech => {
            let Ok(mut stream) = TcpStream::connect(target.suntech).await else { return 0 };
            for message in messages {
                if stream.write_all(message.as_bytes()).await.is_err() {
                    break;
                }
                sent += 1;
                tokio::time::sleep(PAUSE).await;
            }
        }
        Way::Garmin => {
            let Ok(mut connection) = Connection::open(&target.http).await else { return 0 };
            for message in messages {
                let line = format!("POST {}", target.path);
                if connection.call(&line, "", message.as_bytes()).await.is_err() {
                    break;
                }
                sent += 1;
            }
        }
    }
    sent
}

/// The seconds of the stored messages of each device.
async fn read_messages(
    connection: &mut Connection,
    token: &str,
    way: Way,
) -> Result<BTreeMap<String, BTreeSet<i64>>> {
    let mut found: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let line = format!("GET /api/rawMessages?source={}&limit=1000{cursor}", way.source());
        let answer = connection.call(&line, token, b"").await?;
        if !answer.is_success() {
            bail!("{line}: {}", answer.text());
        }
        let answer = answer.json()?;
        for message in answer["rawMessages"].as_array().into_iter().flatten() {
            if !matches!(message["result"].as_str(), Some("decoded" | "duplicate")) {
                continue;
            }
            let text = message["text"].as_str().unwrap_or_default();
            let time_s = way.time_s(text).with_context(|| format!("a strange message: {message}"))?;
            let name = (0..DEVICES).map(|index| way.name(index)).find(|name| text.contains(name.as_str()));
            found.entry(name.context("a message of nobody")?).or_default().insert(time_s);
        }
        match answer["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(found),
        }
    }
}

/// The seconds of the alerts of a device.
async fn read_alerts(connection: &mut Connection, token: &str, name: &str) -> Result<Vec<i64>> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let line = format!("GET /api/devices/{name}/alerts?limit=10000{cursor}");
        let answer = connection.call(&line, token, b"").await?;
        if !answer.is_success() {
            bail!("{line}: {}", answer.text());
        }
        let answer = answer.json()?;
        for alert in answer["alerts"].as_array().into_iter().flatten() {
            let time = alert["dateTime"].as_str().context("an alert without a time")?;
            found.push(time.parse::<Timestamp>()?.as_millis() / 1_000);
        }
        match answer["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(found),
        }
    }
}
