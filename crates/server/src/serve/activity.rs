//! The activity of one connection, which decides whether it is kept open.
//!
//! The socket, the request service and the answer bodies report here; the connection's task asks
//! for a verdict whenever its timer fires.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::config::{ServeConfig, UnreadableAnswer, after};
use super::counters::CloseReason;
use super::pace::Pace;

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The verdict on a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Kept; check again at this time, or earlier if [`Activity::next_check`] says so.
    KeepUntil(Instant),
    /// Closed for this reason.
    Close(CloseReason),
}

/// The shared record of one connection.
#[derive(Debug)]
pub(super) struct Activity {
    config: Arc<ServeConfig>,
    tick: Duration,
    unread_body: AtomicBool,
    reset_on_close: AtomicBool,
    record: Mutex<Record>,
}

#[derive(Debug)]
struct Record {
    protocol: Protocol,
    /// Time of the accept, or of the end of the last exchange.
    quiet_since: Instant,
    head_since: Option<Instant>,
    had_request: bool,
    socket: Pace,
    answers: Pace,
    answers_waiting: usize,
    exchanges: Vec<Option<Answer>>,
    under_way: usize,
}

#[derive(Debug)]
enum Protocol {
    /// This many bytes of the HTTP/2 preface have arrived and nothing else.
    Undecided(usize),
    Http1,
    Http2,
}

/// The answer of one exchange, and how much of it the peer has yet to read.
#[derive(Debug, Default)]
struct Answer {
    kind: AnswerKind,
    /// The HTTP layer has room for nothing more of the body, or has not requested it yet.
    peers_turn: bool,
    outstanding_bytes: usize,
    /// Set while the answer waits for the peer; updated with every byte that the peer accepts.
    waiting_since: Option<Instant>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerKind {
    #[default]
    Ordinary,
    LongLived,
}

impl Activity {
    pub(super) fn new(config: Arc<ServeConfig>, now: Instant) -> Arc<Self> {
        let limit = config.pace_limit();
        let record = Record {
            protocol: Protocol::Undecided(0),
            quiet_since: now,
            head_since: None,
            had_request: false,
            socket: Pace::new(limit),
            answers: Pace::new(limit),
            answers_waiting: 0,
            exchanges: Vec::new(),
            under_way: 0,
        };
        let tick = limit.tick().min(config.stall_timeout / 8).max(Duration::from_millis(1));
        Arc::new(Self {
            config,
            tick,
            unread_body: AtomicBool::new(false),
            reset_on_close: AtomicBool::new(false),
            record: Mutex::new(record),
        })
    }

    /// The TLS handshake is over: the time for the first request begins now.
    pub(super) fn restart(&self, now: Instant) {
        let mut record = self.record.lock();
        record.quiet_since = now;
        record.head_since = None;
    }

    /// The peer sent these bytes of HTTP.
    pub(super) fn received(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut record = self.record.lock();
        record.protocol.observe(bytes);
        // On HTTP/2 these may be pings or window updates; only on HTTP/1.1 do bytes between
        // exchanges begin a head.
        let begins_head = !matches!(record.protocol, Protocol::Http2) || !record.had_request;
        if begins_head && record.under_way == 0 {
            record.head_since.get_or_insert_with(Instant::now);
        }
    }

    /// The socket took `bytes`.
    pub(super) fn socket_took(&self, bytes: usize) {
        let mut record = self.record.lock();
        if record.socket.is_waiting() {
            let now = Instant::now();
            record.socket.moved(bytes, now);
            record.socket.stop_waiting(now);
        }
    }

    /// The socket has no room: the peer is not reading.
    pub(super) fn socket_full(&self) {
        self.record.lock().socket.wait(Instant::now());
    }

    /// A request was answered without its body having been read to the end. HTTP/2 can drop
    /// such a body without closing the connection.
    pub(super) fn body_left_unread(&self) {
        let is_http2 = matches!(self.record.lock().protocol, Protocol::Http2);
        self.unread_body.store(!is_http2, Ordering::Relaxed);
    }

    /// The answer to a request that cannot be read, if one is set.
    pub(super) fn unreadable_answer(&self) -> Option<UnreadableAnswer> {
        self.config.unreadable
    }

    /// Whether closing now could reset the connection before the peer has read the answer.
    pub(super) fn has_unread_body(&self) -> bool {
        self.unread_body.load(Ordering::Relaxed)
    }

    /// Whether the connection is closed because the peer does not read, so that unsent data is discarded.
    pub(super) fn resets_on_close(&self) -> bool {
        self.reset_on_close.load(Ordering::Relaxed)
    }

    fn close_with_reset(&self, reason: CloseReason) -> Verdict {
        self.reset_on_close.store(true, Ordering::Relaxed);
        Verdict::Close(reason)
    }

    pub(super) fn linger_timeout(&self) -> Duration {
        self.config.linger_timeout
    }

    /// A request head arrived.
    pub(super) fn begin(self: &Arc<Self>) -> Arc<Exchange> {
        self.unread_body.store(false, Ordering::Relaxed);
        let mut record = self.record.lock();
        record.had_request = true;
        record.head_since = None;
        record.under_way += 1;
        let free = record.exchanges.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            record.exchanges.push(None);
            record.exchanges.len() - 1
        });
        record.exchanges[slot] = Some(Answer::default());
        Arc::new(Exchange { activity: Arc::clone(self), slot })
    }

    /// Time of the next check of the connection.
    pub(super) fn next_check(&self, now: Instant) -> Instant {
        let record = self.record.lock();
        match record.quiet_deadline(&self.config) {
            Some((deadline, _)) => deadline,
            None => after(now, self.tick),
        }
    }

    /// Decides whether the connection is kept or closed.
    pub(super) fn verdict(&self, now: Instant) -> Verdict {
        let mut record = self.record.lock();
        if let Some((deadline, reason)) = record.quiet_deadline(&self.config) {
            return if now >= deadline { Verdict::Close(reason) } else { Verdict::KeepUntil(deadline) };
        }
        let has_long_lived =
            record.exchanges.iter().flatten().any(|answer| answer.kind == AnswerKind::LongLived);
        if record.answers.is_too_slow(now) || (record.socket.is_too_slow(now) && !has_long_lived) {
            return self.close_with_reset(CloseReason::SlowReader);
        }
        let stalled = |since: Instant| now.saturating_duration_since(since) >= self.config.stall_timeout;
        let mut answers_waiting = record.exchanges.iter().flatten().filter_map(|answer| answer.waiting_since);
        if record.socket.still_since().is_some_and(stalled) || answers_waiting.any(stalled) {
            return self.close_with_reset(CloseReason::StalledReader);
        }
        Verdict::KeepUntil(after(now, self.tick))
    }
}

impl Record {
    /// When and why an idle connection is closed; none while there is work.
    fn quiet_deadline(&self, config: &ServeConfig) -> Option<(Instant, CloseReason)> {
        if self.under_way > 0 || self.socket.is_waiting() {
            return None;
        }
        Some(match (self.had_request, self.head_since) {
            (false, None) => (after(self.quiet_since, config.head_timeout), CloseReason::Silent),
            (false, Some(_)) => (after(self.quiet_since, config.head_timeout), CloseReason::HalfHead),
            (true, Some(since)) => (after(since, config.head_timeout), CloseReason::HalfHead),
            (true, None) => (after(self.quiet_since, config.idle_timeout), CloseReason::Idle),
        })
    }

    fn change(&mut self, slot: usize, change: impl FnOnce(&mut Answer)) {
        let now = Instant::now();
        let Some(Some(answer)) = self.exchanges.get_mut(slot) else { return };
        let was_waiting = answer.counts_as_waiting();
        let before = answer.outstanding_bytes;
        change(answer);
        let waits = answer.peers_turn || answer.outstanding_bytes > 0;
        let taken = before.saturating_sub(answer.outstanding_bytes);
        if !waits {
            answer.waiting_since = None;
        } else if taken > 0 {
            answer.waiting_since = Some(now);
        } else {
            answer.waiting_since.get_or_insert(now);
        }
        let is_waiting = answer.counts_as_waiting();
        if answer.kind == AnswerKind::Ordinary && taken > 0 {
            self.answers.moved(taken, now);
        }
        self.count_waiting(was_waiting, is_waiting, now);
    }

    fn count_waiting(&mut self, was_waiting: bool, is_waiting: bool, now: Instant) {
        match (was_waiting, is_waiting) {
            (false, true) => self.answers_waiting += 1,
            (true, false) => self.answers_waiting -= 1,
            _ => return,
        }
        if self.answers_waiting > 0 {
            self.answers.wait(now);
        } else {
            self.answers.stop_waiting(now);
        }
    }
}

impl Answer {
    /// Whether the time for which this answer waits counts towards the minimum rate.
    fn counts_as_waiting(&self) -> bool {
        self.kind == AnswerKind::Ordinary && self.waiting_since.is_some()
    }
}

impl Protocol {
    fn observe(&mut self, bytes: &[u8]) {
        let Self::Undecided(seen) = *self else { return };
        let expected = &HTTP2_PREFACE[seen..];
        let compared = expected.len().min(bytes.len());
        *self = if bytes[..compared] != expected[..compared] {
            Self::Http1
        } else if compared == expected.len() {
            Self::Http2
        } else {
            Self::Undecided(seen + compared)
        };
    }
}

/// One request and its answer; the connection has work until it is dropped.
#[derive(Debug)]
pub(super) struct Exchange {
    activity: Arc<Activity>,
    slot: usize,
}

impl Exchange {
    /// The answer's head is ready; the HTTP layer has yet to request the body.
    pub(super) fn answered(&self, kind: AnswerKind) {
        self.change(|answer| {
            answer.kind = kind;
            answer.peers_turn = true;
        });
    }

    /// The service has no more data at the moment.
    pub(super) fn producing(&self) {
        self.change(|answer| answer.peers_turn = false);
    }

    /// Bytes of the body were handed over for sending.
    pub(super) fn handed_over(&self, bytes: usize) {
        self.change(|answer| {
            answer.peers_turn = true;
            answer.outstanding_bytes += bytes;
        });
    }

    /// The peer's side took bytes of the body, or they were given up.
    pub(super) fn taken(&self, bytes: usize) {
        self.change(|answer| answer.outstanding_bytes = answer.outstanding_bytes.saturating_sub(bytes));
    }

    fn change(&self, change: impl FnOnce(&mut Answer)) {
        self.activity.record.lock().change(self.slot, change);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut record = self.activity.record.lock();
        let answer = record.exchanges.get_mut(self.slot).and_then(Option::take);
        let was_waiting = answer.is_some_and(|answer| answer.counts_as_waiting());
        record.count_waiting(was_waiting, false, now);
        record.under_way -= 1;
        if record.under_way == 0 {
            record.quiet_since = now;
        }
    }
}
