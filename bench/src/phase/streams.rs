//! Many streams of one account: how much is delivered, and how long after the commit.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use perigee_bench::server::Server;
use perigee_simulator::latency::Latencies;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::bench::{Bench, Engine};
use crate::load::number;
use crate::numbered::{Sender, number_in};
use crate::report::Topic;

/// Locations a second that every stream gets.
const RATES: [u64; 3] = [10, 50, 200];
/// Time that events have to arrive after the last location was sent.
const ARRIVE_WITHIN: Duration = Duration::from_secs(10);

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, bench.options.devices(1000)).await?;
    let streams = bench.options.streams();
    let seconds = bench.options.duration().as_secs().max(1);
    let mut first = 0;
    for rate in RATES {
        let count = usize::try_from(rate * seconds)?;
        let seen = run(&server, streams, first..first + count, Duration::from_secs(seconds)).await?;
        first += count;
        let at = |what: &str| format!("{what}, {streams} streams, {rate} locations/s");
        let (report, name) = (&mut bench.report, engine.name());
        let delivered = number(seen.latencies.count()) / seen.seconds;
        report.add(Topic::Streams, name, &at("delivered events/s"), format!("{delivered:.0}"));
        let ms = |per_mille| seen.latencies.per_mille(per_mille).as_secs_f64() * 1000.0;
        let figure = format!("{:.0} / {:.0} ms", ms(500), ms(990));
        report.add(Topic::Streams, name, &at("from commit to client, p50 / p99"), figure);
        let wanted = streams * count;
        let missing = wanted.saturating_sub(usize::try_from(seen.latencies.count())?);
        let figure = format!("{missing} of {wanted}, {} streams cut off", seen.cut);
        report.add_with_target(Topic::Streams, name, &at("events missing"), figure, ("none", missing == 0));
    }
    bench.report.note(
        Topic::Streams,
        "Every stream sees the whole account. The commit is taken to be when the sender has its answer. The load \
         generator reads and counts every message on the same cores.",
    );
    server.end()
}

struct Seen {
    latencies: Latencies,
    seconds: f64,
    cut: usize,
}

async fn run(
    server: &Server,
    streams: usize,
    numbers: std::ops::Range<usize>,
    duration: Duration,
) -> Result<Seen> {
    let (done, is_done) = watch::channel(());
    let mut listeners = JoinSet::new();
    for _ in 0..streams {
        let stream = open(server).await?;
        listeners.spawn(listen(stream, numbers.len(), is_done.clone()));
    }
    let began = Instant::now();
    let answered = Sender::of(server).send_evenly(numbers, duration).await?;
    let sent: HashMap<usize, Instant> = answered.into_iter().collect();
    tokio::spawn(async move {
        tokio::time::sleep(ARRIVE_WITHIN).await;
        drop(done);
    });
    let mut seen = Seen { latencies: Latencies::default(), seconds: 0.0, cut: 0 };
    let mut last = began;
    while let Some(received) = listeners.join_next().await {
        let (arrivals, was_cut) = received?;
        seen.cut += usize::from(was_cut);
        for (number, at) in arrivals {
            let committed = sent.get(&number).context("a location that was not sent")?;
            seen.latencies.add(at.saturating_duration_since(*committed));
            last = last.max(at);
        }
    }
    seen.seconds = last.duration_since(began).as_secs_f64();
    Ok(seen)
}

/// Opens a stream and waits until it has begun.
async fn open(server: &Server) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(&server.address).await?;
    let request = format!(
        "GET /api/stream?types=location.created HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\nAuthorization: Bearer {}\r\n\r\n",
        server.token
    );
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.windows(6).any(|part| part == b"retry:") {
        anyhow::ensure!(
            stream.read_buf(&mut head).await? > 0,
            "no stream: {}",
            String::from_utf8_lossy(&head)
        );
    }
    Ok(stream)
}

/// Records arrivals until all events have arrived or the time is over. Returns also whether the stream was cut off
/// before.
async fn listen(
    mut stream: TcpStream,
    wanted: usize,
    mut is_done: watch::Receiver<()>,
) -> (Vec<(usize, Instant)>, bool) {
    let (mut arrivals, mut buffer) = (Vec::with_capacity(wanted), Vec::with_capacity(64 * 1024));
    while arrivals.len() < wanted {
        let read = tokio::select! {
            read = stream.read_buf(&mut buffer) => read.unwrap_or(0),
            _over = is_done.changed() => return (arrivals, false),
        };
        if read == 0 {
            return (arrivals, true);
        }
        let now = Instant::now();
        while let Some(end) = buffer.windows(2).position(|part| part == b"\n\n") {
            arrivals.extend(number_in(&buffer[..end]).map(|number| (number, now)));
            buffer.drain(..end + 2);
        }
    }
    (arrivals, false)
}
