//! A run with messages to devices: nodes are killed while they hand messages to simulated providers. No message may be lost,
//! and none handed over twice.
//!
//! Neither Garmin nor `RockBLOCK` recognises a message that it gets a second time, so the promise is the service's own: an
//! attempt without a known result is not repeated, and its message is `unclear`.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use perigee_bench::http::{Answer, Connection};
use perigee_bench::server::{Limits, Server, Setup};
use perigee_simulator::downlink::{Downlink, Fault, Interface};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};

use crate::Options;
use crate::client::locked;

/// Messages to one device. Providers get at most 50 to a device, and 500 of an account, in 24 hours.
const EACH: usize = 4;
const DEVICES_OF_ACCOUNT: usize = 125;
const WRITERS: usize = 8;
/// How long the providers take for an answer, so that many kills hit a message that was taken.
const ANSWER_AFTER: Duration = Duration::from_millis(60);
/// Interval between two faults of each provider.
const FAULT_EVERY: Duration = Duration::from_millis(900);
/// The credential that both providers accept.
const KEY: &str = "k";
type MakeGateway = fn(&str) -> Value;

/// Each provider, and the gateway that sends to it at a URL.
const PROVIDERS: [(Interface, MakeGateway); 2] = [
    (Interface::Garmin, |url| {
        let options = json!({"sendUrl": url, "sendKey": KEY, "sender": "ops@example.com"});
        json!({"feed": "garmin", "options": options})
    }),
    (Interface::Rockblock, |url| {
        let url = format!("{url}/rockblock/MT");
        let options = json!({"sendUrl": url, "sendUser": "ops", "sendPassword": KEY});
        json!({"feed": "rockblock", "options": options})
    }),
];
/// Messages of a killed node are leased for three minutes, and those that a provider asked to repeat wait for half a minute.
const DRAIN_WITHIN: Duration = Duration::from_mins(15);

/// The result of the checks.
#[derive(Clone, Debug, Default)]
struct Found {
    kills: u32,
    /// Number of messages in each state.
    states: BTreeMap<String, usize>,
    /// Messages that the providers took.
    taken: usize,
    /// Acknowledged messages that the conversation does not have once.
    missing: usize,
    /// Messages that were handed over by the record, but not taken.
    lost: usize,
    /// Messages that a provider took more than once.
    twice: usize,
    /// Messages that a provider took although the record says that it did not.
    unrecorded: usize,
    /// Devices whose messages were taken in another order than they were sent.
    out_of_order: usize,
    /// Messages that are still waiting.
    waiting: usize,
}

impl Found {
    fn is_clean(&self) -> bool {
        self.missing + self.lost + self.twice + self.unrecorded + self.out_of_order + self.waiting == 0
            && self.states.contains_key("handedOver")
    }
}

/// Runs each engine and prints the results.
pub(crate) async fn run(
    options: &Options,
    messages: usize,
    engines: Vec<(&'static str, Option<String>)>,
) -> Result<ExitCode> {
    let mut ok = true;
    for (engine, database) in engines {
        eprintln!("{engine}");
        let found = MessageRun::start(options, messages, database).await?.finish().await?;
        println!(
            "{engine}: {} kills, {:?}, {} taken by the providers; messages missing: {}, lost: {}, handed over twice: {}, taken \
             but recorded as not sent: {}, never finished: {}; devices with another order: {}",
            found.kills,
            found.states,
            found.taken,
            found.missing,
            found.lost,
            found.twice,
            found.unrecorded,
            found.waiting,
            found.out_of_order
        );
        ok &= if options.broken { found.twice > 0 } else { found.is_clean() };
    }
    println!(
        "{}",
        match (options.broken, ok) {
            (false, true) => "no message lost, none handed over twice, each in its order",
            (false, false) => "FAILED: the server broke its promise",
            (true, true) => "caught: the server that repeats interrupted attempts handed messages over twice",
            (true, false) => "FAILED: a server that repeats interrupted attempts was not caught",
        }
    );
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A device, and how many of its messages were acknowledged.
#[derive(Clone, Debug)]
struct Device {
    imei: String,
    /// The token of the owner of its account.
    token: Arc<str>,
    sent: usize,
}

/// Devices with messages to send.
type Pending = Arc<Mutex<VecDeque<Device>>>;

/// The nodes, devices and simulated providers of one run.
struct MessageRun {
    nodes: Vec<Server>,
    providers: Vec<Downlink>,
    /// Tasks that answer for the providers, and let them fail at times.
    tasks: Vec<AbortHandle>,
    devices: Vec<Device>,
    pending: Pending,
    random: StdRng,
    cycles: u32,
    longest: u64,
    found: Found,
}

impl MessageRun {
    /// Starts the providers and a server (two on PostgreSQL), and creates accounts, gateways and devices.
    async fn start(options: &Options, messages: usize, database: Option<String>) -> Result<Self> {
        let is_shared = database.is_some();
        let resend = options.broken.then(|| ("PERIGEE_UNSAFE_RESEND".to_owned(), "1".to_owned()));
        let setup = Setup {
            perigee: options.perigee.clone(),
            scratch: options.scratch.clone(),
            database,
            environment: resend.into_iter().collect(),
            limits: Limits::Lifted,
        };
        let first = Server::start(setup).await?;
        let (mut providers, mut tasks, mut gateways) = (Vec::new(), Vec::new(), Vec::new());
        for (interface, gateway) in PROVIDERS {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let url = format!("http://{}", listener.local_addr()?);
            let provider = Downlink::new(interface, KEY).answering_after(ANSWER_AFTER);
            tasks.push(tokio::spawn(provider.clone().serve(listener)).abort_handle());
            tasks.push(tokio::spawn(fail_at_times(provider.clone())).abort_handle());
            gateways.push(gateway(&url));
            providers.push(provider);
        }
        let count = messages.div_ceil(EACH).max(1);
        let mut devices = Vec::new();
        for account in 0..count.div_ceil(DEVICES_OF_ACCOUNT) {
            let token = make_account(&first, account).await?;
            let mut connection = Connection::open(&first.address).await?;
            for gateway in &gateways {
                post(&mut connection, "POST /api/gateways", &token, "", gateway).await?;
            }
            for _ in 0..DEVICES_OF_ACCOUNT.min(count - devices.len()) {
                let (index, links) = (devices.len(), ["garmin", "rockblock"]);
                let (imei, link) = (format!("30043403{index:07}"), links[index % links.len()]);
                let identifiers = [json!({"identifier": imei, "link": link})];
                let body = json!({"name": imei, "identifiers": identifiers});
                post(&mut connection, "POST /api/devices", &token, "", &body).await?;
                devices.push(Device { imei, token: Arc::clone(&token), sent: 0 });
            }
        }
        let mut nodes = vec![first];
        if is_shared {
            nodes.push(nodes[0].start_beside()?);
        }
        Ok(Self {
            nodes,
            providers,
            tasks,
            pending: Arc::new(Mutex::new(devices.iter().cloned().collect())),
            devices,
            random: StdRng::seed_from_u64(options.seed),
            cycles: options.cycles,
            longest: options.longest,
            found: Found::default(),
        })
    }

    /// Sends every message while nodes are killed, waits until none is left to be handed over, and checks.
    async fn finish(mut self) -> Result<Found> {
        let each = u64::try_from(self.devices.len() * EACH)? / u64::from(self.cycles.max(1));
        // So long that messages are left until the last kill.
        let pause = Duration::from_millis(self.longest * u64::try_from(WRITERS)? / 2 / each.max(1));
        for cycle in 0..self.cycles {
            let mut writers = self.write(pause);
            tokio::time::sleep(Duration::from_millis(self.random.random_range(20..=self.longest))).await;
            let index = self.random.random_range(0..self.nodes.len());
            let node = &mut self.nodes[index];
            node.kill()?;
            node.start_again()?;
            self.found.kills += 1;
            writers.abort_all();
            while writers.join_next().await.is_some() {}
            if (cycle + 1).is_multiple_of(10) {
                eprintln!(
                    "  {} kills, {} devices with messages to send",
                    cycle + 1,
                    locked(&self.pending).len()
                );
            }
        }
        let mut writers = self.write(Duration::ZERO);
        while writers.join_next().await.is_some() {}
        ensure!(locked(&self.pending).is_empty(), "messages were refused: {}", self.nodes[0].log_end());
        self.check().await.with_context(|| self.nodes[0].log_end())?;
        for node in &mut self.nodes {
            node.end()?;
        }
        self.tasks.iter().for_each(AbortHandle::abort);
        Ok(self.found)
    }

    /// Sends messages until none is left, or the connections break. One without an answer is sent again with the same key.
    fn write(&self, pause: Duration) -> JoinSet<()> {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let address = self.nodes[writer % self.nodes.len()].address.clone();
            let pending = Arc::clone(&self.pending);
            writers.spawn(async move {
                let Ok(mut connection) = Connection::open(&address).await else { return };
                loop {
                    let Some(device) = locked(&pending).pop_front() else { return };
                    let mut taken = Taken { device, pending: Arc::clone(&pending) };
                    let Device { imei, token, sent } = &taken.device;
                    let line = format!("POST /api/devices/{imei}/conversation");
                    let key = format!("Idempotency-Key: {imei}-{sent}\r\n");
                    let body = json!({"text": text(imei, *sent)});
                    if post(&mut connection, &line, token, &key, &body).await.is_err() {
                        return;
                    }
                    taken.device.sent += 1;
                    drop(taken);
                    tokio::time::sleep(pause).await;
                }
            });
        }
        writers
    }

    /// Compares the conversations with what the providers took, as soon as nothing waits.
    async fn check(&mut self) -> Result<()> {
        let began = Instant::now();
        let mut connection = Connection::open(&self.nodes[0].address).await?;
        let mut records = HashMap::new();
        for device in &self.devices {
            records.insert(device.imei.clone(), messages(&mut connection, device, began).await?);
        }
        let mut taken: HashMap<String, Vec<usize>> = HashMap::new();
        for one in self.providers.iter().flat_map(Downlink::taken) {
            let number = one.text.as_deref().and_then(|text| number(&one.to, text));
            let number = number.with_context(|| format!("a strange message was taken: {one:?}"))?;
            taken.entry(one.to).or_default().push(number);
        }
        self.found.taken = taken.values().map(Vec::len).sum();
        for device in &self.devices {
            let taken = taken.remove(&device.imei).unwrap_or_default();
            self.found.out_of_order += usize::from(!taken.is_sorted());
            let states = records.remove(&device.imei).unwrap_or_default();
            for number in 0..EACH {
                let times = taken.iter().filter(|one| **one == number).count();
                self.found.twice += usize::from(times > 1);
                let of_number: Vec<_> = states.iter().filter(|(one, _)| *one == number).collect();
                let [(_, state)] = of_number.as_slice() else {
                    self.found.missing += 1;
                    continue;
                };
                *self.found.states.entry(state.clone()).or_default() += 1;
                match state.as_str() {
                    "handedOver" => self.found.lost += usize::from(times == 0),
                    "unclear" => {}
                    "queued" | "sending" => self.found.waiting += 1,
                    _ => self.found.unrecorded += usize::from(times > 0),
                }
            }
        }
        Ok(())
    }
}

/// A device whose next message is being sent. It returns to the queue unless all its messages are acknowledged, also if the
/// task is aborted.
struct Taken {
    device: Device,
    pending: Pending,
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.device.sent < EACH {
            locked(&self.pending).push_back(self.device.clone());
        }
    }
}

fn text(imei: &str, number: usize) -> String {
    format!("{imei} message {number}")
}

/// The number in the text of a message to this device. `RockBLOCK` gets spaces as they are, in bytes.
fn number(imei: &str, text: &str) -> Option<usize> {
    text.strip_prefix(imei)?.strip_prefix(" message ")?.parse().ok()
}

/// Takes a message without an answer, is busy, and has an error, in turn.
async fn fail_at_times(provider: Downlink) {
    for fault in [Fault::Silent, Fault::Busy(1), Fault::Broken].into_iter().cycle() {
        tokio::time::sleep(FAULT_EVERY).await;
        provider.fail_next(fault);
    }
}

/// Creates an account, and returns a token of its owner.
async fn make_account(server: &Server, number: usize) -> Result<Arc<str>> {
    let (name, email) = (format!("fleet-{number}"), format!("owner-{number}@example.com"));
    let line = ["account", "create", "--name", &name, "--licenses", "1000", "--owner-email", &email];
    let made = server.run_json(&line)?;
    let user = made["userId"].as_str().with_context(|| format!("no user: {made}"))?;
    let key = server.run_json(&["key", "issue", "--email", &email])?;
    let body = json!({"userName": user, "apiKey": key["apiKey"]}).to_string();
    let mut connection = Connection::open(&server.address).await?;
    let answer = connection.call("POST /api/Auth/Token", "", body.as_bytes()).await?.json()?;
    Ok(answer["token"].as_str().context("no token was given")?.into())
}

async fn post(
    connection: &mut Connection,
    line: &str,
    token: &str,
    headers: &str,
    body: &Value,
) -> Result<()> {
    let answer = connection.call_with(line, token, headers, body.to_string().as_bytes()).await?;
    if !answer.is_success() {
        eprintln!("  {line}: {}", answer.text());
        bail!("{line}: {}", answer.text());
    }
    Ok(())
}

/// The messages to a device with their states, as soon as none waits. A message waits for at most three minutes after the
/// kill of its node.
async fn messages(
    connection: &mut Connection,
    device: &Device,
    began: Instant,
) -> Result<Vec<(usize, String)>> {
    let line = format!("GET /api/devices/{}/conversation", device.imei);
    loop {
        let answer: Answer<'_> = connection.call(&line, &device.token, b"").await?;
        ensure!(answer.is_success(), "{line}: {}", answer.text());
        let page = answer.json()?;
        let mut found = Vec::new();
        for message in page["messages"].as_array().context("no messages")? {
            let text = message["text"].as_str().unwrap_or_default();
            let number =
                number(&device.imei, text).with_context(|| format!("a strange message: {message}"))?;
            found.push((number, message["state"].as_str().unwrap_or_default().to_owned()));
        }
        let is_waiting = found.iter().any(|(_, state)| state == "queued" || state == "sending");
        if !is_waiting || began.elapsed() > DRAIN_WITHIN {
            return Ok(found);
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
