//! One stream of events to one client: missed events are read from the log, new ones come from the channel, and the
//! viewer's rights are checked again every two seconds.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use perigee_core::access::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::events::event::EventFilter;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until};

use super::Live;
use super::batch::{Batch, ViewerFilter, write_frame};
use super::channel::Channel;
use super::permits::Permit;

/// Events of one read of the log by a stream that catches up.
const PAGE: u32 = 500;
/// Time between two pings, unless the client requests another interval.
const PING_EVERY: Duration = Duration::from_secs(15);
/// How often the viewer is checked again, well within the promised five seconds.
const RECHECK_EVERY: Duration = Duration::from_secs(2);
/// Milliseconds a client waits before it connects again.
const RETRY_MS: u32 = 2_000;

/// The caller who reads a stream, and their current scope.
pub trait Viewer: Sized + Send {
    /// Their current scope.
    fn scope(&self) -> Scope;

    /// Changes when a user was changed on this node, so that their rights are checked at once.
    fn changes(&self) -> watch::Receiver<()>;

    /// The viewer with their current rights, or why they may no longer watch.
    fn recheck(&self) -> impl Future<Output = Result<Self, Recheck>> + Send;
}

/// Why a viewer could not be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// They may no longer watch; the code of the error they receive.
    Refused(&'static str),
    /// The store cannot be read at present.
    Unavailable,
}

/// How a quiet stream shows that it is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pings {
    /// Comments, which scripts in browsers do not see.
    Comments,
    /// Messages named `ping` after this much silence.
    Messages(Duration),
}

impl Pings {
    fn interval(self) -> Duration {
        match self {
            Self::Comments => PING_EVERY,
            Self::Messages(interval) => interval,
        }
    }

    /// A ping that moves the client to this cursor.
    fn frame(self, cursor: &str) -> String {
        match self {
            Self::Comments => format!(": ping\nid: {cursor}\n\n"),
            // Browsers drop messages without data.
            Self::Messages(_) => format!("event: ping\nid: {cursor}\ndata: {{}}\n\n"),
        }
    }
}

/// A stream of events to one client.
pub struct EventStream<V> {
    live: Arc<Live>,
    viewer: V,
    filter: EventFilter,
    channel: Arc<Channel>,
    /// Every event up to this number was sent, or is not for this client.
    after: i64,
    source: Source,
    changes: watch::Receiver<()>,
    recheck_at: Instant,
    pings: Pings,
    ping_at: Instant,
    _permit: Permit,
}

/// Where a stream takes its events from.
enum Source {
    /// The log, because it resumes after a gap and has not joined the channel.
    Log,
    /// The log up to the number at which it joined the channel.
    Joined(broadcast::Receiver<Arc<Batch>>, i64),
    /// The channel of the account.
    Channel(broadcast::Receiver<Arc<Batch>>),
    /// None: the stream has ended.
    Over,
}

/// Why a stream ends, as its last comment says.
enum End {
    Refused(&'static str),
    TooSlow,
    Failed(StoreError),
}

impl<V: Viewer> EventStream<V> {
    /// A stream that continues after this number, and its first bytes. Fails when the log was trimmed beyond it.
    pub async fn new(
        live: Arc<Live>,
        viewer: V,
        filter: EventFilter,
        permit: Permit,
        after: i64,
        pings: Pings,
    ) -> Result<(Self, Bytes), StoreError> {
        let channel = live.channel(viewer.scope().account);
        let changes = viewer.changes();
        let now = Instant::now();
        let mut stream = Self {
            live,
            viewer,
            filter,
            channel,
            after,
            source: Source::Log,
            changes,
            recheck_at: now + RECHECK_EVERY,
            pings,
            ping_at: now + pings.interval(),
            _permit: permit,
        };
        let mut opening =
            format!("retry: {RETRY_MS}\nid: {}\n\n", (stream.live.parts.format.id)(after)).into_bytes();
        opening.extend_from_slice(&stream.read_log().await?);
        Ok((stream, Bytes::from(opening)))
    }

    /// Waits for the next bytes to send; none if the stream has ended.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.step().await {
                Ok(None) if matches!(self.source, Source::Over) => return None,
                Ok(Some(text)) if !text.is_empty() => {
                    self.ping_at = Instant::now() + self.pings.interval();
                    return Some(text);
                }
                Ok(_) => {}
                Err(end) => {
                    self.source = Source::Over;
                    return Some(end.last_comment());
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Option<Bytes>, End> {
        if Instant::now() >= self.recheck_at {
            self.recheck().await?;
        }
        let stopping = self.live.parts.stopping.clone();
        let receiver = match &mut self.source {
            Source::Over => return Ok(None),
            Source::Log | Source::Joined(..) => return Ok(Some(self.read_log().await.map_err(End::Failed)?)),
            Source::Channel(receiver) => receiver,
        };
        tokio::select! {
            biased;
            () = stopping.cancelled() => {
                self.source = Source::Over;
                Ok(None)
            }
            _changed = self.changes.changed() => {
                self.recheck_at = Instant::now();
                Ok(None)
            }
            batch = receiver.recv() => match batch {
                Ok(batch) => Ok(Some(self.show(&batch).await?)),
                Err(_lagged) => Err(End::TooSlow),
            },
            () = sleep_until(self.recheck_at) => Ok(None),
            () = sleep_until(self.ping_at) => self.ping().await.map(Some),
        }
    }

    /// Checks the viewer again: they may see less now, or nothing.
    async fn recheck(&mut self) -> Result<(), End> {
        self.recheck_at = Instant::now() + RECHECK_EVERY;
        match self.viewer.recheck().await {
            Ok(viewer) => {
                self.viewer = viewer;
                Ok(())
            }
            // A short outage of the store does not end a stream: no events are delivered meanwhile either.
            Err(Recheck::Unavailable) => Ok(()),
            Err(Recheck::Refused(code)) => Err(End::Refused(code)),
        }
    }

    /// The part of a batch that this client sees.
    async fn show(&mut self, batch: &Batch) -> Result<Bytes, End> {
        let scope = self.viewer.scope();
        let members = match scope.reach {
            Reach::Group(group) => {
                Some(self.channel.members(&self.live.parts, group).await.map_err(End::Failed)?)
            }
            Reach::Account | Reach::Device(_) => None,
        };
        let viewer = ViewerFilter { scope, filter: &self.filter, members: members.as_deref() };
        let shown = batch.shown(&viewer, self.after);
        self.after = self.after.max(batch.to());
        Ok(shown)
    }

    /// A ping that keeps the connection open, with the current cursor, so that the cursor of a client that sees few events
    /// does not expire.
    async fn ping(&mut self) -> Result<Bytes, End> {
        let Source::Channel(receiver) = &mut self.source else { return Ok(Bytes::new()) };
        // Read before the receiver: every batch sent up to this position is in it.
        let position = self.channel.position();
        match receiver.try_recv() {
            Ok(batch) => return self.show(&batch).await,
            Err(broadcast::error::TryRecvError::Lagged(_)) => return Err(End::TooSlow),
            Err(_empty) => self.after = self.after.max(position),
        }
        Ok(Bytes::from(self.pings.frame(&(self.live.parts.format.id)(self.after))))
    }

    /// One page of the missed events; switches to the channel when none are left.
    async fn read_log(&mut self) -> Result<Bytes, StoreError> {
        let page = {
            // Never an error: the semaphore is not closed.
            let _permit = self.live.catching_up.acquire().await;
            let scope = self.viewer.scope();
            self.live.parts.store.read_events(scope, &self.filter, self.after, PAGE).await?
        };
        let limit = match &self.source {
            Source::Joined(_, from) => *from,
            _ => i64::MAX,
        };
        let mut text = Vec::new();
        let (format, now) = (self.live.parts.format, self.live.parts.clock.now());
        for event in page.events.iter().filter(|event| event.number <= limit) {
            write_frame(&mut text, format, event, now);
        }
        let is_end = page.next == self.after;
        self.after = page.next.min(limit).max(self.after);
        self.source = match std::mem::replace(&mut self.source, Source::Over) {
            Source::Log if is_end => {
                self.live.parts.stopping.run_until_cancelled(self.channel.begun()).await;
                let (receiver, from) = self.channel.join();
                Source::Joined(receiver, from)
            }
            other => other,
        };
        self.source = match std::mem::replace(&mut self.source, Source::Over) {
            Source::Joined(receiver, from) if from <= self.after => Source::Channel(receiver),
            other => other,
        };
        Ok(Bytes::from(text))
    }
}

impl End {
    /// The comment that says why the stream ends.
    fn last_comment(&self) -> Bytes {
        let why = match self {
            Self::Refused(code) => *code,
            Self::TooSlow => "too slow; connect again with Last-Event-ID",
            Self::Failed(error) => {
                tracing::warn!(error = error as &dyn std::error::Error, "a stream was cut off");
                "unavailable; connect again with Last-Event-ID"
            }
        };
        metrics::counter!("perigee_streams_ended_total", "reason" => self.label()).increment(1);
        Bytes::from(format!(": {why}\n\n"))
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::TooSlow => "slow",
            Self::Failed(_) => "failed",
        }
    }
}
