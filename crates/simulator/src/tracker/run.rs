//! A running tracker: it makes records at an interval, and sends unacknowledged records, oldest first.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, sleep, timeout};

use super::client::{Expect, ProtocolClient};
use super::record::Record;

/// The settings of a simulated tracker.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Where the server listens.
    pub server: SocketAddr,
    /// Time of the first record, in seconds since 1970; the following ones are a second apart.
    pub start_s: i64,
    /// How many records it makes.
    pub records: u32,
    /// Time between two records.
    pub every: Duration,
    /// How long it waits for an acknowledgement before it connects again.
    pub ack_timeout: Duration,
    /// How long it waits before it connects again.
    pub pause: Duration,
    /// After every tenth record it is offline for this long, and keeps its records.
    pub outage: Duration,
}

/// The result of a simulated tracker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Number of records made.
    pub recorded: u32,
    /// Records that the server acknowledged.
    pub acknowledged: u32,
    /// Records that were sent more than once, counted each time.
    pub resent: u32,
    /// Connections made, the first included.
    pub connections: u32,
    /// Commands that were answered.
    pub commands: u32,
}

/// Records between two outages.
const BETWEEN_OUTAGES: u32 = 10;

struct Link {
    stream: Option<TcpStream>,
    socket: Option<UdpSocket>,
    received: Vec<u8>,
}

impl Link {
    async fn open(server: SocketAddr, datagram: bool) -> io::Result<Self> {
        let mut link = Self { stream: None, socket: None, received: Vec::new() };
        if datagram {
            let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(any).await?;
            socket.connect(server).await?;
            link.socket = Some(socket);
        } else {
            link.stream = Some(TcpStream::connect(server).await?);
        }
        Ok(link)
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(stream) = &mut self.stream {
            stream.write_all(bytes).await?;
        } else if let Some(socket) = &self.socket {
            socket.send(bytes).await?;
        }
        Ok(())
    }

    async fn receive(&mut self) -> io::Result<()> {
        let mut chunk = [0; 4096];
        let count = match (&mut self.stream, &self.socket) {
            (Some(stream), _) => stream.read(&mut chunk).await?,
            (None, Some(socket)) => socket.recv(&mut chunk).await?,
            (None, None) => 0,
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.received.extend_from_slice(chunk.get(..count).unwrap_or_default());
        Ok(())
    }
}

struct Tracker<'a> {
    plan: Plan,
    client: &'a mut dyn ProtocolClient,
    link: Option<Link>,
    kept: VecDeque<Record>,
    /// How many of the kept records have been sent before.
    tried: usize,
    summary: Summary,
}

impl Tracker<'_> {
    /// Sends a message and waits for its acknowledgement; answers commands meanwhile.
    async fn send_and_wait(&mut self, bytes: &[u8], expect: &Expect) -> io::Result<()> {
        let Some(link) = &mut self.link else { return Err(io::ErrorKind::NotConnected.into()) };
        link.send(bytes).await?;
        let until = Instant::now() + self.plan.ack_timeout;
        loop {
            if let Some(answer) = self.client.answer_command(&mut link.received) {
                link.send(&answer).await?;
                self.summary.commands += 1;
                continue;
            }
            if expect.take(&mut link.received) {
                return Ok(());
            }
            let left = until.saturating_duration_since(Instant::now());
            match timeout(left, link.receive()).await {
                Ok(received) => received?,
                Err(_elapsed) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    async fn connect(&mut self) -> io::Result<()> {
        if self.link.is_some() {
            return Ok(());
        }
        self.link = Some(Link::open(self.plan.server, self.client.is_datagram()).await?);
        self.summary.connections += 1;
        for (bytes, expect) in self.client.greeting() {
            self.send_and_wait(&bytes, &expect).await?;
        }
        Ok(())
    }

    /// Sends the oldest records that are kept, and deletes them once they are acknowledged.
    async fn deliver(&mut self, watch: &mut (dyn FnMut(Step<'_>) + Send)) -> io::Result<()> {
        self.connect().await?;
        while !self.kept.is_empty() {
            let batch: Vec<Record> = self.kept.iter().take(self.client.batch_max()).copied().collect();
            let again = self.tried.min(batch.len());
            self.summary.resent += u32::try_from(again).unwrap_or(u32::MAX);
            self.tried = self.tried.max(batch.len());
            let (bytes, expect) = self.client.report(&batch);
            self.send_and_wait(&bytes, &expect).await?;
            self.kept.drain(..batch.len());
            self.tried -= batch.len();
            if expect != Expect::Nothing {
                self.summary.acknowledged += u32::try_from(batch.len()).unwrap_or(u32::MAX);
                watch(Step::Acknowledged(&batch));
            }
        }
        Ok(())
    }
}

/// An event of a running tracker.
#[derive(Debug)]
pub enum Step<'a> {
    /// The server acknowledged these records.
    Acknowledged(&'a [Record]),
    /// It could not connect, or got no acknowledgement in time; it tries again after a pause.
    Failed(&'a io::Error),
}

/// Runs a tracker until all its records are delivered.
pub async fn run(
    plan: Plan,
    client: &mut dyn ProtocolClient,
    watch: &mut (dyn FnMut(Step<'_>) + Send),
) -> Summary {
    let mut tracker =
        Tracker { plan, client, link: None, kept: VecDeque::new(), tried: 0, summary: Summary::default() };
    let began = Instant::now();
    let mut offline_until = began;
    loop {
        let now = Instant::now();
        while tracker.summary.recorded < plan.records && began + plan.every * tracker.summary.recorded <= now
        {
            let index = tracker.summary.recorded;
            tracker.kept.push_back(Record { time_s: plan.start_s + i64::from(index) });
            tracker.summary.recorded += 1;
            if tracker.summary.recorded.is_multiple_of(BETWEEN_OUTAGES) && !plan.outage.is_zero() {
                offline_until = now + plan.outage;
                tracker.link = None;
            }
        }
        if !tracker.kept.is_empty()
            && now >= offline_until
            && let Err(error) = tracker.deliver(watch).await
        {
            watch(Step::Failed(&error));
            tracker.link = None;
            sleep(plan.pause).await;
            continue;
        }
        if tracker.kept.is_empty() && tracker.summary.recorded == plan.records {
            return tracker.summary;
        }
        let next = began + plan.every * tracker.summary.recorded;
        let until =
            if tracker.kept.is_empty() { next } else { offline_until.max(now + Duration::from_millis(10)) };
        tracker.idle(until).await;
    }
}

impl Tracker<'_> {
    /// Waits for the next record, and answers commands meanwhile.
    async fn idle(&mut self, until: Instant) {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let Some(link) = &mut self.link else { return sleep(left).await };
            match timeout(left, link.receive()).await {
                Ok(Ok(())) => {
                    while let Some(answer) = self.client.answer_command(&mut link.received) {
                        self.summary.commands += 1;
                        if link.send(&answer).await.is_err() {
                            self.link = None;
                            return;
                        }
                    }
                }
                Ok(Err(_)) => {
                    self.link = None;
                    return;
                }
                Err(_elapsed) => return,
            }
        }
    }
}
