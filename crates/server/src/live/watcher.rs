//! One stream: what was missed is read from the log, what happens is taken from the channel, and whoever watches is
//! looked at again all the time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use perigee_core::actor::Reach;
use perigee_core::error::StoreError;
use perigee_core::event::EventFilter;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until};

use super::batch::{Batch, Sight, write_frame};
use super::channel::Channel;
use super::seats::Seat;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::extract::Caller;
use crate::http::routes::events::body::event_id;

/// Events read from the log at once by a stream that was away.
const PAGE: u32 = 500;
const PING_EVERY: Duration = Duration::from_secs(15);
/// How often it is looked at who watches, well within the promised five seconds.
const CHECK_EVERY: Duration = Duration::from_secs(2);
/// What a client waits before it connects again.
const RETRY_MS: u32 = 2_000;

/// A stream of events to one client.
pub struct Watcher {
    app: App,
    caller: Caller,
    filter: EventFilter,
    channel: Arc<Channel>,
    /// Everything up to this number was sent, or is not for this client.
    after: i64,
    source: Source,
    changes: watch::Receiver<()>,
    check_at: Instant,
    ping_at: Instant,
    _seat: Seat,
}

/// Where a stream takes its events from.
enum Source {
    /// The log: it was away, and does not know yet where the channel is.
    Log,
    /// The log up to where it joined the channel, which it takes over from there.
    Joined(broadcast::Receiver<Arc<Batch>>, i64),
    /// The channel.
    Channel(broadcast::Receiver<Arc<Batch>>),
    /// Nothing more.
    Over,
}

/// Why a stream ends, as its last comment says.
enum End {
    Refused(ApiError),
    TooSlow,
    Failed(StoreError),
}

impl Watcher {
    /// A stream that goes on after this number. Fails when that is not kept any more.
    pub async fn new(
        app: App,
        caller: Caller,
        filter: EventFilter,
        seat: Seat,
        after: i64,
    ) -> Result<(Self, Bytes), StoreError> {
        let channel = app.live.channel(&app, caller.scope().account);
        let changes = app.identities.changes();
        let now = Instant::now();
        let mut watcher = Self {
            app,
            caller,
            filter,
            channel,
            after,
            source: Source::Log,
            changes,
            check_at: now + CHECK_EVERY,
            ping_at: now + PING_EVERY,
            _seat: seat,
        };
        let mut opening = format!("retry: {RETRY_MS}\nid: {}\n\n", event_id(after)).into_bytes();
        opening.extend_from_slice(&watcher.read_log().await?);
        Ok((watcher, Bytes::from(opening)))
    }

    /// What to send next, when there is something; none when the stream is over.
    pub async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.step().await {
                Ok(None) if matches!(self.source, Source::Over) => return None,
                Ok(Some(text)) if !text.is_empty() => {
                    self.ping_at = Instant::now() + PING_EVERY;
                    return Some(text);
                }
                Ok(_) => {}
                Err(end) => {
                    self.source = Source::Over;
                    return Some(end.farewell());
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Option<Bytes>, End> {
        if Instant::now() >= self.check_at {
            self.check().await?;
        }
        let stopping = self.app.signals.stopping().clone();
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
                self.check_at = Instant::now();
                Ok(None)
            }
            heard = receiver.recv() => match heard {
                Ok(batch) => Ok(Some(self.show(&batch).await?)),
                Err(_lagged) => Err(End::TooSlow),
            },
            () = sleep_until(self.check_at) => Ok(None),
            () = sleep_until(self.ping_at) => self.ping().await.map(Some),
        }
    }

    /// Looks at who watches: they may see less now, or nothing.
    async fn check(&mut self) -> Result<(), End> {
        self.check_at = Instant::now() + CHECK_EVERY;
        match self.caller.again(&self.app).await {
            Ok(caller) => {
                self.caller = caller;
                Ok(())
            }
            // A store that cannot be asked for a moment ends no stream: nothing new comes from it either.
            Err(error) if error.code.status().is_server_error() => Ok(()),
            Err(error) => Err(End::Refused(error)),
        }
    }

    /// What of a batch is for this client.
    async fn show(&mut self, batch: &Batch) -> Result<Bytes, End> {
        let scope = self.caller.scope();
        let members = match scope.reach {
            Reach::Group(group) => Some(self.channel.members(&self.app, group).await.map_err(End::Failed)?),
            Reach::Account | Reach::Device(_) => None,
        };
        let sight = Sight { scope, filter: &self.filter, members: members.as_deref() };
        let shown = batch.shown(&sight, self.after);
        self.after = self.after.max(batch.to());
        Ok(shown)
    }

    /// A sign of life that also tells where to go on: a client that sees little must not be left with an old place.
    async fn ping(&mut self) -> Result<Bytes, End> {
        let Source::Channel(receiver) = &mut self.source else { return Ok(Bytes::new()) };
        // Asked before the receiver: whatever was sent up to here has arrived in it.
        let position = self.channel.position();
        match receiver.try_recv() {
            Ok(batch) => return self.show(&batch).await,
            Err(broadcast::error::TryRecvError::Lagged(_)) => return Err(End::TooSlow),
            Err(_empty) => self.after = self.after.max(position),
        }
        Ok(Bytes::from(format!(": ping\nid: {}\n\n", event_id(self.after))))
    }

    /// Some of what was missed; takes over from the channel when nothing was.
    async fn read_log(&mut self) -> Result<Bytes, StoreError> {
        let page = {
            // Nobody closes it.
            let _turn = self.app.live.catching_up.acquire().await;
            let scope = self.caller.scope();
            self.app.store.read_events(scope, &self.filter, self.after, PAGE).await?
        };
        let limit = match &self.source {
            Source::Joined(_, from) => *from,
            _ => i64::MAX,
        };
        let mut text = Vec::new();
        let now = self.app.clock.now();
        for event in page.events.iter().filter(|event| event.number <= limit) {
            write_frame(&mut text, event, now);
        }
        let is_end = page.next == self.after;
        self.after = page.next.min(limit).max(self.after);
        self.source = match std::mem::replace(&mut self.source, Source::Over) {
            Source::Log if is_end => {
                self.app.signals.stopping().run_until_cancelled(self.channel.begun()).await;
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
    /// The last comment of a stream.
    fn farewell(&self) -> Bytes {
        let why = match self {
            Self::Refused(error) => error.code.name(),
            Self::TooSlow => "too slow; connect again with Last-Event-ID",
            Self::Failed(error) => {
                tracing::warn!(error = error as &dyn std::error::Error, "a stream broke off");
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
