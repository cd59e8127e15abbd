//! Connections of trackers.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::ready;
use std::time::Duration;

use perigee_core::id::DeviceId;
use perigee_gateways::{FrameBuffer, Protocol, sniff};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::device_slots::{DeviceSlot, DeviceSlots};
use super::newcomers::{Newcomer, Newcomers};
use super::pace::Pace;
use super::session::{Answer, Session};
use crate::config::GatewaysSection;
use crate::ingest::{Ingest, NextCommand};

/// Bytes read at a time. They are on the stack of the thread during the read, so that a waiting connection needs no
/// buffer.
const CHUNK: usize = 4_096;
/// Number of bytes by which every protocol can be recognised.
const SNIFFED_MAX: usize = 256;
/// How long a connection may take to identify a known device.
const IDENTIFY_WITHIN: Duration = Duration::from_mins(1);
/// How long to wait for more bytes after bytes that may be a whole frame. Bytes of one frame arrive in one segment, or
/// in segments right after each other.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a peer may take to accept a reply.
const WRITE_WITHIN: Duration = Duration::from_secs(10);

/// State that the connections of a listener share.
#[derive(Clone)]
pub(super) struct Connections {
    pub(super) ingest: Arc<Ingest>,
    /// `None` for the port that detects the protocol by the first bytes.
    pub(super) protocol: Option<&'static Protocol>,
    pub(super) config: Arc<GatewaysSection>,
    pub(super) stop: CancellationToken,
    /// The slots of connections without a known device.
    pub(super) newcomers: Arc<Newcomers>,
    /// The slots of known devices.
    pub(super) devices: Arc<DeviceSlots>,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The peer closed it, or it broke.
    Peer,
    /// The peer was silent, or did not accept a reply.
    Timeout,
    /// The first bytes do not match any protocol.
    NoProtocol,
    /// The protocol is not accepted from this address.
    Address,
    /// Its slot was given to another connection.
    Displaced,
    /// An unfinished frame is too long.
    Frame,
    /// The peer did not speak TLS, or refused the certificate.
    Handshake,
    /// The store could not commit, so nothing was acknowledged.
    Store,
    /// The service is shutting down.
    Stopping,
}

impl End {
    /// Its name in metrics.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Peer => "peer",
            Self::Timeout => "timeout",
            Self::NoProtocol => "no-protocol",
            Self::Address => "address",
            Self::Displaced => "displaced",
            Self::Frame => "frame",
            Self::Handshake => "handshake",
            Self::Store => "store",
            Self::Stopping => "stopping",
        }
    }
}

/// The session of a connection whose protocol is known, and the bytes of its unfinished frame.
struct FramedSession {
    session: Session,
    frames: FrameBuffer,
}

/// A connection: plain, or in TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

/// Serves a connection until it ends.
pub(super) async fn serve(
    stream: &mut impl Stream,
    peer: SocketAddr,
    connections: Connections,
    newcomer: Newcomer,
) -> End {
    let begin = Instant::now();
    let (mut pace, mut sniffed) = (Pace::new(begin), Vec::new());
    let new_session = |protocol: &'static Protocol| FramedSession {
        session: Session::new(Arc::clone(&connections.ingest), protocol, peer, false),
        frames: FrameBuffer::new((protocol.framer)(), protocol.max_frame),
    };
    let is_admitted = |protocol: &Protocol| connections.config.admits(protocol.name, peer.ip());
    if connections.protocol.is_some_and(|protocol| !is_admitted(protocol)) {
        return End::Address;
    }
    let idle = Duration::from_secs(connections.config.idle_seconds);
    let mut framed_session = connections.protocol.map(new_session);
    let mut last_received = begin;
    let mut slot = Slot::New(newcomer);
    loop {
        let is_known = framed_session.as_ref().is_some_and(|tracker| tracker.session.device().is_some());
        let deadline = if is_known { last_received + idle } else { begin + IDENTIFY_WITHIN };
        let wake = framed_session.as_ref().and_then(|tracker| tracker.session.wake());
        let may_end = framed_session.as_ref().is_some_and(|tracker| tracker.frames.may_end());
        let arrived = tokio::select! {
            arrived = read(stream) => arrived.map(Some),
            () = tokio::time::sleep_until(last_received + PAUSE), if may_end => Ok(None),
            () = woken(wake) => {
                let Some(tracker) = &mut framed_session else { continue };
                match send_commands(stream, &mut tracker.session).await {
                    Some(end) => return end,
                    None => continue,
                }
            },
            () = tokio::time::sleep_until(deadline) => return End::Timeout,
            () = slot.displaced().cancelled() => return End::Displaced,
            () = connections.stop.cancelled() => return End::Stopping,
        };
        let mut frames = Vec::new();
        match (arrived, &mut framed_session) {
            // Nothing follows: the waiting bytes are a frame.
            (Ok(None), Some(tracker)) => tracker.frames.end(|frame| frames.push(frame.to_vec())),
            (Ok(None), None) => continue,
            (Ok(Some(arrived)), tracker) if !arrived.is_empty() => {
                last_received = Instant::now();
                match tracker {
                    Some(tracker) => tracker.frames.push(&arrived, |frame| frames.push(frame.to_vec())),
                    None => sniffed.extend_from_slice(&arrived),
                }
            }
            (_, tracker) => {
                // The last frame of a connection counts as well.
                if let Some(tracker) = tracker {
                    finish(stream, tracker).await;
                }
                return End::Peer;
            }
        }
        let tracker = match &mut framed_session {
            Some(tracker) => tracker,
            None => match sniff(&sniffed) {
                (Some(protocol), _) if !is_admitted(protocol) => return End::Address,
                (Some(protocol), _) => {
                    let tracker = framed_session.insert(new_session(protocol));
                    tracker.frames.push(&std::mem::take(&mut sniffed), |frame| frames.push(frame.to_vec()));
                    tracker
                }
                (None, true) if sniffed.len() < SNIFFED_MAX => continue,
                (None, _) => return End::NoProtocol,
            },
        };
        if !tracker.session.holds_frame(tracker.frames.unfinished()).await {
            return End::Frame;
        }
        if frames.is_empty() {
            continue;
        }
        let count = frames.len();
        let answer = tracker.session.handle(frames).await;
        if let Some(end) = reply(stream, answer).await {
            return end;
        }
        let device = tracker.session.device();
        match slot.moved(device.map(|device| device.device), peer, &connections) {
            Some(moved) => slot = moved,
            None => return End::Displaced,
        }
        let account_pause = device.and_then(|device| connections.ingest.admission.pause(device, count));
        if let Some(pause) = pace.count(count, Instant::now()).max(account_pause) {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = connections.stop.cancelled() => return End::Stopping,
            }
        }
    }
}

/// The category that a connection is counted in.
enum Slot {
    New(Newcomer),
    Device(DeviceSlot),
}

impl Slot {
    const fn displaced(&self) -> &CancellationToken {
        match self {
            Self::New(newcomer) => &newcomer.displaced,
            Self::Device(slot) => &slot.displaced,
        }
    }

    /// The slot after frames that identified this device, or no device. `None` if no slot is free.
    fn moved(self, device: Option<DeviceId>, peer: SocketAddr, connections: &Connections) -> Option<Self> {
        match (self, device) {
            (Self::Device(slot), Some(device)) if slot.device == device => Some(Self::Device(slot)),
            (same @ Self::New(_), None) => Some(same),
            (_, Some(device)) => Some(Self::Device(connections.devices.take(device))),
            (Self::Device(_), None) => connections.newcomers.admit(peer.ip()).map(Self::New),
        }
    }
}

/// Stores the waiting bytes at the end of a connection, if they are a whole frame.
async fn finish(stream: &mut impl Stream, tracker: &mut FramedSession) {
    let mut frames = Vec::new();
    tracker.frames.end(|frame| frames.push(frame.to_vec()));
    if !frames.is_empty() {
        let answer = tracker.session.handle(frames).await;
        // The connection ends in any case.
        let _end = reply(stream, answer).await;
    }
}

/// Waits until commands may wait for the device; for ever while the device is unknown.
async fn woken(wake: Option<Arc<tokio::sync::Notify>>) {
    match wake {
        Some(wake) => wake.notified().await,
        None => std::future::pending().await,
    }
}

/// Writes the waiting commands, and returns whether the connection ends.
async fn send_commands(stream: &mut impl Stream, session: &mut Session) -> Option<End> {
    while let NextCommand::Command(command) = session.next_command(usize::MAX).await {
        let end = match timeout(WRITE_WITHIN, write(stream, &command.bytes)).await {
            Ok(Ok(())) => continue,
            Ok(Err(_)) => End::Peer,
            Err(_elapsed) => End::Timeout,
        };
        session.requeue(command).await;
        return Some(end);
    }
    None
}

/// Waits for bytes and returns them; empty at the end of the stream. A waiting connection holds no buffer.
async fn read(stream: &mut impl Stream) -> io::Result<Vec<u8>> {
    poll_fn(|context| {
        let mut chunk = [0_u8; CHUNK];
        let mut buffer = ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
        Ok(buffer.filled().to_vec()).into()
    })
    .await
}

/// Writes and flushes all bytes; in TLS they may otherwise stay in a buffer.
async fn write(stream: &mut impl Stream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// Writes the replies, and returns whether the connection ends.
async fn reply(stream: &mut impl Stream, answer: Answer) -> Option<End> {
    for bytes in &answer.replies {
        match timeout(WRITE_WITHIN, write(stream, bytes)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Some(End::Peer),
            Err(_elapsed) => return Some(End::Timeout),
        }
    }
    answer.failed.then_some(End::Store)
}
