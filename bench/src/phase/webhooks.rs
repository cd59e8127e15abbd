//! Webhooks: everything is delivered although receivers fail, and a hanging receiver delays nobody else.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use perigee_bench::http::Connection;
use perigee_bench::server::Server;
use perigee_simulator::latency::Latencies;
use serde_json::json;

use crate::bench::{Bench, Engine};
use crate::load::number;
use crate::numbered::Sender;
use crate::receiver::{Manner, Receiver};
use crate::report::Topic;

/// Receivers among which the events are divided by device.
const RECEIVERS: usize = 4;
const BATCH: usize = 500;
/// Locations a second of each account while a receiver hangs.
const RATE: u64 = 50;
const NEIGHBOUR: &str = "neighbour@localhost";
/// The wait ends if nothing arrives for this long.
const GIVE_UP_AFTER: Duration = Duration::from_mins(2);

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, bench.options.devices(1000)).await?;
    deliver_everything(bench, engine, &server).await?;
    hang(bench, engine, &server).await?;
    bench.report.note(
        Topic::Webhooks,
        "Receivers fail half of the first attempts and half of the second and take the third: with pure chance the last \
         of a hundred thousand would be tried for hours, as is intended. The p99 is from the sender's answer to the \
         receiver's.",
    );
    server.end()
}

/// Sends many events to receivers that fail half the time.
async fn deliver_everything(bench: &mut Bench, engine: &Engine, server: &Server) -> Result<()> {
    let owner = Sender::of(server);
    let events = bench.options.events();
    let mut receivers = Vec::new();
    for index in 0..RECEIVERS {
        let receiver = Receiver::new(Manner::FailsHalf).await?;
        let devices: Vec<&String> = owner.devices.iter().skip(index).step_by(RECEIVERS).take(1000).collect();
        let id =
            hook(&owner, json!({"url": receiver.url, "types": ["location.created"], "devices": devices}))
                .await?;
        receivers.push((receiver, id));
    }
    let began = Instant::now();
    owner.send_all(0..events, BATCH).await?;
    let sent_after = began.elapsed();
    let taken = || receivers.iter().map(|(receiver, _)| receiver.taken()).sum::<usize>();
    let (mut before, mut since) = (0, Instant::now());
    while taken() < events && since.elapsed() < GIVE_UP_AFTER {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = taken();
        if now > before {
            (before, since) = (now, Instant::now());
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let arrivals: Vec<_> =
        receivers.iter().flat_map(|(receiver, _)| receiver.arrivals().into_values()).collect();
    let delivered = arrivals.iter().filter(|arrival| arrival.taken > 0).count();
    let renamed = arrivals.iter().filter(|arrival| arrival.names.len() != 1).count();
    let attempts: u64 = arrivals.iter().map(|arrival| u64::from(arrival.attempts)).sum();
    let twice = arrivals.iter().filter(|arrival| arrival.taken > 1).count();
    let (report, name) = (&mut bench.report, engine.name());
    let figure = format!("{delivered} of {events}");
    report.add_with_target(
        Topic::Webhooks,
        name,
        "delivered at least once",
        figure,
        ("all", delivered == events),
    );
    let figure = format!("{renamed} with another");
    report.add_with_target(Topic::Webhooks, name, "one id each", figure, ("none", renamed == 0));
    report.add(Topic::Webhooks, name, "attempts", attempts.to_string());
    report.add(Topic::Webhooks, name, "taken more than once", twice.to_string());
    report.add(Topic::Webhooks, name, "sent within", format!("{:.1} s", sent_after.as_secs_f64()));
    report.add(Topic::Webhooks, name, "delivered within", format!("{seconds:.1} s"));
    let rate = number(attempts) / seconds;
    report.add(Topic::Webhooks, name, "attempts a second", format!("{rate:.0}"));
    for (_, id) in &receivers {
        call(&owner, &format!("DELETE /api/webhooks/{id}"), &json!(null)).await?;
    }
    Ok(())
}

/// Measures one account's deliveries while another account's receiver works, and while it hangs.
async fn hang(bench: &mut Bench, engine: &Engine, server: &Server) -> Result<()> {
    let owner = Sender::of(server);
    let neighbour = make_neighbour(server).await?;
    let receiver = Receiver::new(Manner::Takes).await?;
    hook(&neighbour, json!({"url": receiver.url, "types": ["location.created"]})).await?;
    let duration = bench.options.duration() * 2;
    let count = usize::try_from(RATE * duration.as_secs().max(1))?;
    let mut first = bench.options.events();
    let mut figures = Vec::new();
    for manner in [Manner::Takes, Manner::Hangs] {
        let beside = Receiver::new(manner).await?;
        let id = hook(&owner, json!({"url": beside.url, "types": ["location.created"]})).await?;
        let (mine, theirs) = (first..first + count, first + count..first + 2 * count);
        first += 2 * count;
        let (noise, answered) =
            tokio::join!(owner.send_evenly(mine, duration), neighbour.send_evenly(theirs, duration));
        noise?;
        let answered = answered?;
        let since = Instant::now();
        while answered.iter().any(|(number, _)| !receiver.arrivals().contains_key(number)) {
            ensure!(since.elapsed() < GIVE_UP_AFTER, "deliveries are missing");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let arrivals = receiver.arrivals();
        let mut latencies = Latencies::default();
        for (number, committed) in answered {
            let taken = arrivals.get(&number).and_then(|arrival| arrival.first_taken);
            latencies.add(taken.context("a delivery was not taken")?.saturating_duration_since(committed));
        }
        figures.push(latencies.per_mille(990).as_secs_f64() * 1000.0);
        call(&owner, &format!("DELETE /api/webhooks/{id}"), &json!(null)).await?;
    }
    let [well, hanging] = figures[..] else { bail!("two loads were measured") };
    let (report, name) = (&mut bench.report, engine.name());
    report.add(Topic::Webhooks, name, "p99 with everybody well", format!("{well:.0} ms"));
    let figure = format!("{hanging:.0} ms, {:+.0} %", (hanging / well - 1.0) * 100.0);
    let what = "p99 while another account's receiver hangs";
    report.add_with_target(Topic::Webhooks, name, what, figure, ("at most 10 % more", hanging <= well * 1.1));
    Ok(())
}

/// A second account with devices of its own.
async fn make_neighbour(server: &Server) -> Result<Sender> {
    let create =
        ["account", "create", "--name", "Neighbour", "--licenses", "1000", "--owner-email", NEIGHBOUR];
    server.run_json(&create)?;
    let key = server.run_json(&["key", "issue", "--email", NEIGHBOUR])?;
    let body = json!({"userName": NEIGHBOUR, "apiKey": key["apiKey"]}).to_string();
    let mut connection = Connection::open(&server.address).await?;
    let answer = connection.call("POST /api/Auth/Token", "", body.as_bytes()).await?.json()?;
    let token = answer["token"].as_str().context("no token was given")?.to_owned();
    let mut neighbour = Sender { address: server.address.clone(), token, devices: Vec::new() };
    for number in 0..10 {
        let made =
            call(&neighbour, "POST /api/devices", &json!({"name": format!("neighbour-{number}")})).await?;
        let id = made["device"]["id"].as_str().context("a device without an id")?;
        neighbour.devices.push(id.to_owned());
    }
    Ok(neighbour)
}

async fn hook(sender: &Sender, body: serde_json::Value) -> Result<String> {
    let made = call(sender, "POST /api/webhooks", &body).await?;
    Ok(made["id"].as_str().context("a webhook without an id")?.to_owned())
}

async fn call(sender: &Sender, line: &str, body: &serde_json::Value) -> Result<serde_json::Value> {
    let mut connection = Connection::open(&sender.address).await?;
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let answer = connection.call(line, &sender.token, &body).await?;
    ensure!(answer.is_success(), "{line}: {}", answer.text());
    answer.json()
}
