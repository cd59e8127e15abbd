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

use super::device_places::{DevicePlace, DevicePlaces};
use super::newcomers::{Newcomer, Newcomers};
use super::pace::Pace;
use super::session::{Answer, Session};
use crate::config::GatewaysSection;
use crate::ingest::{Ingest, NextCommand};

/// Bytes read at a time. They are on the stack of the thread while they are read, and nowhere while a connection waits.
const CHUNK: usize = 4_096;
/// Bytes by which every protocol is told.
const SNIFFED_MAX: usize = 256;
/// How long a connection may take to name a known device.
const IDENTIFY_WITHIN: Duration = Duration::from_mins(1);
/// How long nothing may follow bytes that are a whole frame unless more comes. Bytes of one frame come in one segment, or in
/// segments right after each other.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a peer may take to accept a reply.
const WRITE_WITHIN: Duration = Duration::from_secs(10);

/// What connections of a listener have in common.
#[derive(Clone)]
pub(super) struct Connections {
    pub(super) ingest: Arc<Ingest>,
    /// `None` for the port that tells the protocol by the first bytes.
    pub(super) protocol: Option<&'static Protocol>,
    pub(super) config: Arc<GatewaysSection>,
    pub(super) stop: CancellationToken,
    /// Those that have not named a known device.
    pub(super) newcomers: Arc<Newcomers>,
    /// Those of known devices.
    pub(super) devices: Arc<DevicePlaces>,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The peer closed it, or it broke.
    Peer,
    /// The peer was silent, or took no reply.
    Timeout,
    /// The first bytes are of no protocol.
    NoProtocol,
    /// The protocol is not heard from this address.
    Address,
    /// Its place was given to somebody else.
    Displaced,
    /// An unfinished frame is too long.
    Frame,
    /// What came was no TLS, or the peer refused the certificate.
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

/// A connection, once its protocol is told.
struct Speaker {
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
    let speaker = |protocol: &'static Protocol| Speaker {
        session: Session::new(Arc::clone(&connections.ingest), protocol, peer, false),
        frames: FrameBuffer::new((protocol.framer)(), protocol.max_frame),
    };
    let is_heard = |protocol: &Protocol| connections.config.admits(protocol.name, peer.ip());
    if connections.protocol.is_some_and(|protocol| !is_heard(protocol)) {
        return End::Address;
    }
    let idle = Duration::from_secs(connections.config.idle_seconds);
    let mut speaking = connections.protocol.map(speaker);
    let mut heard = begin;
    let mut counts_as = Place::New(newcomer);
    loop {
        let is_known = speaking.as_ref().is_some_and(|speaker| speaker.session.device().is_some());
        let deadline = if is_known { heard + idle } else { begin + IDENTIFY_WITHIN };
        let wake = speaking.as_ref().and_then(|speaker| speaker.session.wake());
        let may_end = speaking.as_ref().is_some_and(|speaker| speaker.frames.may_end());
        let arrived = tokio::select! {
            arrived = read(stream) => arrived.map(Some),
            () = tokio::time::sleep_until(heard + PAUSE), if may_end => Ok(None),
            () = woken(wake) => {
                let Some(speaker) = &mut speaking else { continue };
                match send_commands(stream, &mut speaker.session).await {
                    Some(end) => return end,
                    None => continue,
                }
            },
            () = tokio::time::sleep_until(deadline) => return End::Timeout,
            () = counts_as.displaced().cancelled() => return End::Displaced,
            () = connections.stop.cancelled() => return End::Stopping,
        };
        let mut frames = Vec::new();
        match (arrived, &mut speaking) {
            // Nothing follows: what waits is a frame.
            (Ok(None), Some(speaker)) => speaker.frames.end(|frame| frames.push(frame.to_vec())),
            (Ok(None), None) => continue,
            (Ok(Some(arrived)), speaker) if !arrived.is_empty() => {
                heard = Instant::now();
                match speaker {
                    Some(speaker) => speaker.frames.push(&arrived, |frame| frames.push(frame.to_vec())),
                    None => sniffed.extend_from_slice(&arrived),
                }
            }
            (_, speaker) => {
                // The last frame of a connection counts as well.
                if let Some(speaker) = speaker {
                    finish(stream, speaker).await;
                }
                return End::Peer;
            }
        }
        let speaker = match &mut speaking {
            Some(speaker) => speaker,
            None => match sniff(&sniffed) {
                (Some(protocol), _) if !is_heard(protocol) => return End::Address,
                (Some(protocol), _) => {
                    let speaker = speaking.insert(speaker(protocol));
                    speaker.frames.push(&std::mem::take(&mut sniffed), |frame| frames.push(frame.to_vec()));
                    speaker
                }
                (None, true) if sniffed.len() < SNIFFED_MAX => continue,
                (None, _) => return End::NoProtocol,
            },
        };
        if !speaker.session.holds_frame(speaker.frames.unfinished()).await {
            return End::Frame;
        }
        if frames.is_empty() {
            continue;
        }
        let count = frames.len();
        let answer = speaker.session.handle(frames).await;
        if let Some(end) = reply(stream, answer).await {
            return end;
        }
        let device = speaker.session.device();
        match counts_as.moved(device.map(|device| device.device), peer, &connections) {
            Some(now) => counts_as = now,
            None => return End::Displaced,
        }
        let account_pause = device.and_then(|device| connections.ingest.pause(device, count));
        if let Some(pause) = pace.count(count, Instant::now()).max(account_pause) {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = connections.stop.cancelled() => return End::Stopping,
            }
        }
    }
}

/// What a connection counts as.
enum Place {
    New(Newcomer),
    Device(DevicePlace),
}

impl Place {
    const fn displaced(&self) -> &CancellationToken {
        match self {
            Self::New(newcomer) => &newcomer.displaced,
            Self::Device(place) => &place.displaced,
        }
    }

    /// The place after frames were read that named this device or none; `None` if there is none.
    fn moved(self, device: Option<DeviceId>, peer: SocketAddr, connections: &Connections) -> Option<Self> {
        match (self, device) {
            (Self::Device(place), Some(device)) if place.device == device => Some(Self::Device(place)),
            (same @ Self::New(_), None) => Some(same),
            (_, Some(device)) => Some(Self::Device(connections.devices.take(device))),
            (Self::Device(_), None) => connections.newcomers.admit(peer.ip()).map(Self::New),
        }
    }
}

/// Stores what waits at the end of a connection, if it is a whole frame now that nothing follows it.
async fn finish(stream: &mut impl Stream, speaker: &mut Speaker) {
    let mut frames = Vec::new();
    speaker.frames.end(|frame| frames.push(frame.to_vec()));
    if !frames.is_empty() {
        let answer = speaker.session.handle(frames).await;
        // It ends anyway.
        let _end = reply(stream, answer).await;
    }
}

/// Waits until commands may wait for the device; for ever while it is not known.
async fn woken(wake: Option<Arc<tokio::sync::Notify>>) {
    match wake {
        Some(wake) => wake.notified().await,
        None => std::future::pending().await,
    }
}

/// Writes the commands that wait for the device, and tells whether the connection ends.
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

/// Waits for bytes and gives what has arrived; nothing at the end of the stream. A connection that waits holds no buffer.
async fn read(stream: &mut impl Stream) -> io::Result<Vec<u8>> {
    poll_fn(|context| {
        let mut chunk = [0_u8; CHUNK];
        let mut buffer = ReadBuf::new(&mut chunk);
        ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer))?;
        Ok(buffer.filled().to_vec()).into()
    })
    .await
}

/// Writes all bytes; in TLS they may otherwise stay in a buffer.
async fn write(stream: &mut impl Stream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// Writes the replies, and tells whether the connection ends.
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
