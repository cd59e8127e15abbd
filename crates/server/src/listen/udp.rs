//! Datagrams of trackers.
//!
//! The sender's address may be forged, so an answer never has more bytes than the datagram, and unknown devices get none.
//! Commands are sent by `udp_commands`.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perigee_gateways::{Context, Options, Protocol, sniff};
use tokio::net::UdpSocket;
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::session::{Answer, Session, frames_of};
use super::udp_commands::{Sender, send_while_reachable};
use crate::cache::BoundedMap;
use crate::config::GatewaysSection;
use crate::ingest::Ingest;

/// The largest datagram that there is.
const DATAGRAM_MAX: usize = 65_535;
/// Datagrams of a socket that are worked on at the same time; further ones are dropped, and their trackers send again.
const AT_ONCE: usize = 512;

/// Senders that are remembered: some protocols name the device in their first datagram only.
const SENDERS_MAX: usize = 10_000;

/// The sessions of senders that have named a known device, so that forged addresses fill no memory.
pub(super) struct Senders(Mutex<BoundedMap<SocketAddr, Arc<AsyncMutex<Sender>>>>);

impl Default for Senders {
    fn default() -> Self {
        Self(Mutex::new(BoundedMap::new(SENDERS_MAX)))
    }
}

impl Senders {
    fn lock(&self) -> MutexGuard<'_, BoundedMap<SocketAddr, Arc<AsyncMutex<Sender>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A socket and what its datagrams need.
pub(super) struct Datagrams {
    pub(super) socket: Arc<UdpSocket>,
    pub(super) ingest: Arc<Ingest>,
    /// `None` for the port that tells the protocol by the first bytes.
    pub(super) protocol: Option<&'static Protocol>,
    pub(super) config: Arc<GatewaysSection>,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
    pub(super) senders: Senders,
}

impl Datagrams {
    /// Receives datagrams until the service stops.
    pub(super) async fn serve(self) {
        let senders = Arc::new(self.senders);
        let mut buffer = vec![0_u8; DATAGRAM_MAX];
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            let received = tokio::select! {
                received = self.socket.recv_from(&mut buffer) => received,
                () = self.stop.cancelled() => return,
            };
            // An error is about an earlier answer whose receiver is gone.
            let Ok((count, peer)) = received else { continue };
            let datagram = buffer.get(..count).unwrap_or_default();
            let Some(protocol) = self.protocol.or_else(|| sniff(datagram).0) else { continue };
            let is_heard = self.config.admits(protocol.name, peer.ip());
            if count == 0
                || count > protocol.max_frame
                || !is_heard
                || !self.ingest.admits_datagram(peer.ip())
            {
                dropped(protocol);
                continue;
            }
            let Ok(permit) = Arc::clone(&at_once).try_acquire_owned() else {
                dropped(protocol);
                continue;
            };
            let (socket, ingest, senders) =
                (Arc::clone(&self.socket), Arc::clone(&self.ingest), Arc::clone(&senders));
            let datagram = Datagram { protocol, peer, bytes: datagram.to_vec() };
            let (tasks, stop) = (self.tasks.clone(), self.stop.clone());
            self.tasks.spawn(async move {
                let (replies, reached) = replies(ingest, &senders, datagram).await;
                for reply in replies {
                    if socket.send_to(&reply, peer).await.is_err() {
                        break;
                    }
                }
                if let Some(sender) = reached {
                    drop(tasks.spawn(send_while_reachable(socket, peer, sender, stop)));
                }
                drop(permit);
            });
        }
    }
}

fn dropped(protocol: &Protocol) {
    metrics::counter!("perigee_gateway_datagrams_dropped_total", "source" => protocol.name).increment(1);
}

struct Datagram {
    protocol: &'static Protocol,
    peer: SocketAddr,
    bytes: Vec<u8>,
}

/// Stores a datagram and gives the replies, together no longer than it; and the sender, if commands may be sent to it from
/// now on.
async fn replies(
    ingest: Arc<Ingest>,
    senders: &Senders,
    datagram: Datagram,
) -> (Vec<Vec<u8>>, Option<Arc<AsyncMutex<Sender>>>) {
    let Datagram { protocol, peer, bytes } = datagram;
    let options = Options::default();
    let context = Context {
        known: true,
        identifier: None,
        model: None,
        options: &options,
        datagram: true,
        now: ingest.now(),
    };
    let frames = frames_of(protocol, &bytes, &context);
    let known = senders.lock().get(&peer).cloned();
    let is_new = known.is_none();
    let sender = known.unwrap_or_else(|| {
        let session = Session::new(Arc::clone(&ingest), protocol, peer, true);
        Arc::new(AsyncMutex::new(Sender::new(session, ingest.monotonic())))
    });
    let mut held = sender.lock().await;
    if held.session.protocol().name != protocol.name {
        held.session = Session::new(ingest, protocol, peer, true);
    }
    let Answer { mut replies, .. } = held.session.handle(frames).await;
    let mut left = bytes.len();
    let fitting = replies.iter().take_while(|reply| {
        let rest = left.checked_sub(reply.len());
        left = rest.unwrap_or(left);
        rest.is_some()
    });
    let fitting = fitting.count();
    replies.truncate(fitting);
    let is_known = held.session.device().is_some();
    let begins = is_known && held.heard(peer, left);
    drop(held);
    if is_new && is_known {
        senders.lock().insert(peer, Arc::clone(&sender), |_| true);
    } else if !is_new && !is_known {
        senders.lock().remove(&peer);
    }
    (replies, begins.then_some(sender))
}
