//! `perigee simulate`: a simulated fleet that reports to a server, for demos, measurements and tests.

pub(crate) mod downlink;
pub(crate) mod feed;
pub(crate) mod one_device;
pub(crate) mod tracker;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufWriter, Write};
use std::iter::Peekable;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use perigee_core::time::{Clock, SystemClock, Timestamp};
use perigee_simulator::fleet::{Deliveries, SimulatedDevice};
use perigee_simulator::latency::Latencies;
use reqwest::{Method, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::api::{Api, Outcome, Submission};
use crate::args::{Common, Simulate, Speedup};
use crate::output::{Answer, print};

pub(crate) async fn run(common: &Common, options: Simulate) -> Result<()> {
    if let Some(protocol) = &options.protocol {
        return tracker::run(common, &options, protocol).await;
    }
    if let Some(feed) = &options.feed {
        return feed::run(common, &options, feed).await;
    }
    if let Some(feed) = &options.downlink {
        return downlink::run(&options, feed).await;
    }
    if let Some(device) = &options.device {
        return one_device::run(common, &options, device).await;
    }
    let seconds = i64::from(options.seconds);
    let now = SystemClock.now();
    let start = options.start.unwrap_or(match options.speedup {
        Speedup::Times(_) => now,
        Speedup::Unlimited => now.plus_seconds(-seconds),
    });
    let span = SimulatedSpan { start_ms: start.as_millis(), end_ms: start.plus_seconds(seconds).as_millis() };
    if options.dry_run {
        return print_fleet(&options, span);
    }
    let api = Api::new(&options.remote)?;
    if options.create_devices {
        create_devices(&api, &options).await?;
    }
    eprintln!("simulating {} devices that report to {}; Ctrl-C ends it", options.devices, options.remote.url);
    let run = Run { api, span, began: Instant::now(), tally: Mutex::default(), options };
    let connections = u32::from(run.options.connections).min(run.options.devices);
    let workers =
        futures_util::future::try_join_all((0..connections).map(|index| run.work(index, connections)));
    tokio::select! {
        done = workers => drop(done?),
        _interrupted = tokio::signal::ctrl_c() => {}
    }
    print(&run.summary(), common.json)
}

/// Start and end of simulated time.
#[derive(Clone, Copy)]
struct SimulatedSpan {
    start_ms: i64,
    end_ms: i64,
}

struct Run {
    api: Api,
    span: SimulatedSpan,
    began: Instant,
    tally: Mutex<Tally>,
    options: Simulate,
}

#[derive(Default)]
struct Tally {
    requests: u64,
    sent: u64,
    accepted: u64,
    duplicates: u64,
    rejected: u64,
    first_refusal: Option<String>,
    latencies: Latencies,
}

/// Pending deliveries of some devices, in the order they are due.
struct Outgoing {
    devices: Vec<(SimulatedDevice, Peekable<Deliveries>)>,
    due: BinaryHeap<Reverse<(i64, usize)>>,
    end_ms: i64,
}

impl Outgoing {
    fn new(devices: impl Iterator<Item = SimulatedDevice>, span: SimulatedSpan) -> Self {
        let devices = devices.map(|device| (device, device.deliveries(span.start_ms).peekable())).collect();
        let mut outgoing = Self { devices, due: BinaryHeap::new(), end_ms: span.end_ms };
        for index in 0..outgoing.devices.len() {
            outgoing.queue(index);
        }
        outgoing
    }

    fn queue(&mut self, index: usize) {
        if let Some(next) = self.devices[index].1.peek()
            && next.at_ms < self.end_ms
        {
            self.due.push(Reverse((next.at_ms, index)));
        }
    }

    /// When the next delivery is due.
    fn next_ms(&self) -> Option<i64> {
        self.due.peek().map(|Reverse((at_ms, _))| *at_ms)
    }

    /// The lines that the next due device delivers up to this moment, at most `most`.
    fn take(&mut self, until_ms: i64, most: usize) -> Option<(SimulatedDevice, Vec<u8>, usize)> {
        let Reverse((_, index)) = self.due.pop()?;
        let until_ms = until_ms.min(self.end_ms - 1);
        let (device, deliveries) = &mut self.devices[index];
        let (device, mut lines, mut count) = (*device, Vec::new(), 0);
        while count < most
            && let Some(delivery) = deliveries.next_if(|next| next.at_ms <= until_ms)
        {
            delivery.fix.write_json(&mut lines);
            lines.push(b'\n');
            count += 1;
        }
        self.queue(index);
        Some((device, lines, count))
    }
}

impl Run {
    /// Sends the deliveries of every `step`-th device, beginning with `first`.
    async fn work(&self, first: u32, step: u32) -> Result<()> {
        let indices = (first..self.options.devices).step_by(step as usize);
        let seed = self.options.seed;
        let mut outgoing = Outgoing::new(indices.map(|index| SimulatedDevice::new(seed, index)), self.span);
        let mut sent = 0_u64;
        while let Some(next_ms) = outgoing.next_ms() {
            let until_ms = self.wait_for(next_ms).await;
            let most = usize::from(self.options.batch);
            let Some((device, lines, count)) = outgoing.take(until_ms, most) else { break };
            self.send(device, lines, count).await?;
            sent += count as u64;
            self.keep_to_rate(sent, step).await;
        }
        Ok(())
    }

    /// Waits until this moment of simulated time. Returns the present simulated time.
    async fn wait_for(&self, at_ms: i64) -> i64 {
        let Speedup::Times(times) = self.options.speedup else { return self.span.end_ms };
        let after = Duration::from_millis(u64::try_from(at_ms - self.span.start_ms).unwrap_or(0));
        sleep_until(self.began + after.div_f64(times)).await;
        let elapsed_ms = self.began.elapsed().mul_f64(times).as_millis();
        at_ms.max(self.span.start_ms.saturating_add(i64::try_from(elapsed_ms).unwrap_or(i64::MAX)))
    }

    /// Waits so that the rate is not exceeded. Each worker has an equal share of it.
    async fn keep_to_rate(&self, sent: u64, workers: u32) {
        if let Some(rate) = self.options.rate {
            let micros = sent.saturating_mul(1_000_000).saturating_mul(workers.into()) / u64::from(rate);
            sleep_until(self.began + Duration::from_micros(micros)).await;
        }
    }

    async fn send(&self, device: SimulatedDevice, lines: Vec<u8>, count: usize) -> Result<()> {
        let submission = Submission::new(lines, count)?;
        let began = Instant::now();
        let outcome = self.api.submit(&device.identifier(), &submission).await?;
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.latencies.add(began.elapsed());
        tally.add(count, outcome);
        Ok(())
    }

    fn summary(&self) -> Summary {
        let seconds = self.began.elapsed().as_secs_f64();
        let tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let millis = |latency: Duration| rounded(latency.as_secs_f64() * 1000.0);
        Summary {
            seed: self.options.seed,
            start: Timestamp::from_millis(self.span.start_ms).to_string(),
            devices: self.options.devices,
            requests: tally.requests,
            sent: tally.sent,
            accepted: tally.accepted,
            duplicates: tally.duplicates,
            rejected: tally.rejected,
            first_refusal: tally.first_refusal.clone(),
            seconds: rounded(seconds),
            p50_ms: millis(tally.latencies.per_mille(500)),
            p99_ms: millis(tally.latencies.per_mille(990)),
            max_ms: millis(tally.latencies.most()),
        }
    }
}

impl Tally {
    fn add(&mut self, count: usize, outcome: Outcome) {
        self.requests += 1;
        self.sent += count as u64;
        self.accepted += outcome.accepted;
        self.duplicates += outcome.duplicates;
        self.rejected += outcome.rejected.len() as u64;
        if self.first_refusal.is_none() {
            self.first_refusal = outcome.rejected.into_iter().next().map(|rejected| rejected.error);
        }
    }
}

/// Rounds to two decimals.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    seed: u64,
    start: String,
    devices: u32,
    requests: u64,
    sent: u64,
    accepted: u64,
    duplicates: u64,
    rejected: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_refusal: Option<String>,
    seconds: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl Answer for Summary {
    fn in_words(&self) -> String {
        let refusal = self.first_refusal.as_ref().map(|error| format!("\nfirst refusal: {error}"));
        format!(
            "sent        {} locations of {} devices in {} requests, {} s\n\
             accepted    {}\nduplicates  {}\nrejected    {}\n\
             latency     p50 {} ms, p99 {} ms, longest {} ms{}",
            self.sent,
            self.devices,
            self.requests,
            self.seconds,
            self.accepted,
            self.duplicates,
            self.rejected,
            self.p50_ms,
            self.p99_ms,
            self.max_ms,
            refusal.unwrap_or_default()
        )
    }
}

/// Creates the devices that do not exist.
async fn create_devices(api: &Api, options: &Simulate) -> Result<()> {
    for index in 0..options.devices {
        let device = SimulatedDevice::new(options.seed, index);
        let body = json!({"name": device.name(), "identifier": device.identifier()});
        let url = api.url(&["api", "devices"])?;
        let answer = api.call_for_any(Method::POST, url, |request| request.json(&body)).await?;
        let status = answer.status();
        if status == StatusCode::CREATED {
            continue;
        }
        let refusal: Value = answer.json().await.unwrap_or_default();
        if refusal["code"] != "identifier-taken" {
            let error = refusal["error"].as_str().unwrap_or_default();
            bail!("cannot create the device {}: {error} ({})", device.identifier(), status.as_u16());
        }
    }
    Ok(())
}

/// Prints what would be sent, in the order of arrival.
fn print_fleet(options: &Simulate, span: SimulatedSpan) -> Result<()> {
    let devices = (0..options.devices).map(|index| SimulatedDevice::new(options.seed, index));
    let mut outgoing = Outgoing::new(devices, span);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut print_all = || -> io::Result<()> {
        while let Some(at_ms) = outgoing.next_ms()
            && let Some((device, lines, _)) = outgoing.take(at_ms, 1)
        {
            let at = Timestamp::from_millis(at_ms);
            write!(out, "{{\"device\":\"{}\",\"arrives\":\"{at}\",\"location\":", device.identifier())?;
            out.write_all(lines.trim_ascii_end())?;
            out.write_all(b"}\n")?;
        }
        out.flush()
    };
    match print_all() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}
