//! Connections of trackers.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use perigee_gateways::{FrameBuffer, Protocol, sniff};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::pace::Pace;
use super::session::{Answer, Session};
use crate::config::GatewaysSection;
use crate::ingest::Ingest;

/// Bytes read at a time. They are on the stack of the thread while they are read, and nowhere while a connection waits.
const CHUNK: usize = 4_096;
/// Bytes by which every protocol is told.
const SNIFFED_MAX: usize = 256;
/// How long a connection may take to name a known device.
const IDENTIFY_WITHIN: Duration = Duration::from_mins(1);
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

/// Serves a connection until it ends.
pub(super) async fn serve(mut stream: TcpStream, peer: SocketAddr, connections: Connections) -> End {
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
    loop {
        let is_known = speaking.as_ref().is_some_and(|speaker| speaker.session.device().is_some());
        let deadline = if is_known { heard + idle } else { begin + IDENTIFY_WITHIN };
        let wake = speaking.as_ref().and_then(|speaker| speaker.session.wake());
        tokio::select! {
            ready = stream.readable() => if ready.is_err() { return End::Peer },
            () = woken(wake) => {
                let Some(speaker) = &mut speaking else { continue };
                match send_commands(&mut stream, &mut speaker.session).await {
                    Some(end) => return end,
                    None => continue,
                }
            },
            () = tokio::time::sleep_until(deadline) => return End::Timeout,
            () = connections.stop.cancelled() => return End::Stopping,
        }
        let mut frames = Vec::new();
        let read = match &mut speaking {
            Some(speaker) => read_frames(&stream, &mut speaker.frames, &mut frames),
            None => read_first(&stream, &mut sniffed),
        };
        match read {
            Ok(0) => return End::Peer,
            Ok(_) => heard = Instant::now(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(_) => return End::Peer,
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
        if frames.is_empty() {
            continue;
        }
        let count = frames.len();
        let answer = speaker.session.handle(frames).await;
        if let Some(end) = reply(&mut stream, answer).await {
            return end;
        }
        let account_pause = speaker.session.device().and_then(|device| connections.ingest.pause(device));
        if let Some(pause) = pace.count(count, Instant::now()).max(account_pause) {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = connections.stop.cancelled() => return End::Stopping,
            }
        }
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
async fn send_commands(stream: &mut TcpStream, session: &mut Session) -> Option<End> {
    while let Some(command) = session.next_command().await {
        let end = match timeout(WRITE_WITHIN, stream.write_all(&command.bytes)).await {
            Ok(Ok(())) => continue,
            Ok(Err(_)) => End::Peer,
            Err(_elapsed) => End::Timeout,
        };
        session.requeue(command).await;
        return Some(end);
    }
    None
}

/// Reads what has arrived into frames. Not asynchronous, so that no waiting connection holds the buffer.
fn read_frames(stream: &TcpStream, buffer: &mut FrameBuffer, frames: &mut Vec<Vec<u8>>) -> io::Result<usize> {
    let mut chunk = [0_u8; CHUNK];
    let count = stream.try_read(&mut chunk)?;
    buffer.push(chunk.get(..count).unwrap_or_default(), |frame| frames.push(frame.to_vec()));
    Ok(count)
}

fn read_first(stream: &TcpStream, sniffed: &mut Vec<u8>) -> io::Result<usize> {
    let mut chunk = [0_u8; CHUNK];
    let count = stream.try_read(&mut chunk)?;
    sniffed.extend_from_slice(chunk.get(..count).unwrap_or_default());
    Ok(count)
}

/// Writes the replies, and tells whether the connection ends.
async fn reply(stream: &mut TcpStream, answer: Answer) -> Option<End> {
    for bytes in &answer.replies {
        match timeout(WRITE_WITHIN, stream.write_all(bytes)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Some(End::Peer),
            Err(_elapsed) => return Some(End::Timeout),
        }
    }
    answer.failed.then_some(End::Store)
}
