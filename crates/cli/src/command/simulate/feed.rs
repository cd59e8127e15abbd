//! `perigee simulate --feed`: the provider of a feed, with its retries, duplicates and reordering.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use perigee_core::time::{Clock, SystemClock};
use perigee_simulator::provider::{Carrier, PROVIDERS, Provider};
use perigee_simulator::tracker::Record;
use serde::Serialize;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::api::tls;
use crate::args::{Common, Simulate, Speedup};
use crate::output::{Answer, print};

/// How long a provider waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Delivers every message until it is accepted or dropped, or until interrupted.
pub(crate) async fn run(common: &Common, options: &Simulate, feed: &str) -> Result<()> {
    let Some(provider) = Provider::of(feed) else {
        let known: Vec<&str> = PROVIDERS.iter().map(|provider| provider.feed).collect();
        bail!("the feed {feed:?} cannot be simulated; choose one of {}", known.join(", "));
    };
    let count = (options.seconds / options.every).max(1);
    let start_s = SystemClock.now().as_millis() / 1000;
    let work = Work {
        provider,
        to: options.to.as_deref().unwrap_or_default(),
        device: &options.identifier,
        client: reqwest::Client::builder()
            .tls_backend_preconfigured(tls(options.remote.ca.as_deref())?)
            .timeout(ANSWER_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("cannot make an HTTP client")?,
    };
    eprintln!(
        "simulating the provider of {feed}, which delivers a message of {} every {} s for {} s; Ctrl-C ends it",
        options.identifier, options.every, options.seconds
    );
    let mut shown = Shown { feed: feed.to_owned(), ..Shown::default() };
    let mut accepted = BTreeSet::new();
    let delivering = async {
        for number in provider.order(count) {
            let record = Record { time_s: start_s + i64::from(number * options.every) };
            wait(options, record.time_s - SystemClock.now().as_millis() / 1000).await;
            let message = provider.message(&options.identifier, record, number);
            shown.deliveries += 1;
            let mut failures = 0;
            loop {
                let Err(problem) = work.deliver(&message).await else {
                    accepted.insert(number);
                    break;
                };
                failures += 1;
                eprintln!("a message was not accepted: {problem}");
                shown.failures += 1;
                let Some(pause) = provider.wait(failures) else {
                    shown.dropped += 1;
                    break;
                };
                wait(options, i64::try_from(pause.as_secs()).unwrap_or(i64::MAX)).await;
            }
        }
    };
    tokio::select! {
        () = delivering => {}
        _interrupted = tokio::signal::ctrl_c() => {}
    }
    shown.messages = accepted.len();
    print(&shown, common.json)
}

/// Waits for this many seconds of simulated time.
async fn wait(options: &Simulate, seconds: i64) {
    let Speedup::Times(times) = options.speedup else { return };
    let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    tokio::time::sleep(seconds.div_f64(times.max(0.001))).await;
}

struct Work<'a> {
    provider: &'static Provider,
    to: &'a str,
    device: &'a str,
    client: reqwest::Client,
}

impl Work<'_> {
    /// Makes one attempt; the error is the reason why the message must be sent again.
    async fn deliver(&self, message: &[u8]) -> Result<()> {
        let request = match self.provider.carrier {
            Carrier::Tcp => return Ok(self.write(message).await?),
            Carrier::Get => {
                let query = String::from_utf8_lossy(message);
                self.client.get(format!("{}?{query}", self.to))
            }
            Carrier::Post(content_type) => {
                let post = self.client.post(self.to).header("content-type", content_type);
                let named = self.provider.headers(self.device).into_iter();
                named.fold(post, |post, (name, value)| post.header(name, value)).body(message.to_vec())
            }
        };
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let body = answer.bytes().await?;
        ensure!(
            self.provider.accepts(status, &body),
            "the server answered with status {status}: {}",
            String::from_utf8_lossy(&body)
        );
        Ok(())
    }

    /// A connection for each message, without an answer.
    async fn write(&self, message: &[u8]) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(self.to).await?;
        stream.write_all(message).await?;
        stream.shutdown().await
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    feed: String,
    messages: usize,
    deliveries: u64,
    failures: u64,
    dropped: u64,
}

impl Answer for Shown {
    fn in_words(&self) -> String {
        format!(
            "{} delivered {} messages in {} deliveries; {} attempts failed, {} messages were dropped",
            self.feed, self.messages, self.deliveries, self.failures, self.dropped
        )
    }
}
