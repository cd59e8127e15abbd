//! Datagrams of trackers.
//!
//! The address of the sender may be forged, so a reply never has more bytes than the datagram, and unknown devices get
//! none. Commands are sent by `udp_commands`.

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::id::DeviceId;
use perigee_gateways::{Context, Options, Protocol, sniff};
use tokio::net::UdpSocket;
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::session::{Admitted, Answer, Session, frames_of};
use super::udp_commands::{Sender, send_while_reachable};
use crate::cache::BoundedMap;
use crate::config::GatewaysSection;
use crate::ingest::Ingest;

/// The maximum size of a datagram.
const DATAGRAM_MAX: usize = 65_535;
/// Maximum number of datagrams of a socket that are processed at the same time. Of further ones only an SOS is stored;
/// trackers send the others again.
const AT_ONCE: usize = 512;
/// Maximum number of further datagrams that are processed at the same time to look for an SOS.
const EXAMINED_AT_ONCE: usize = 128;

/// Maximum number of remembered senders: some protocols identify the device only in their first datagram.
const SENDERS_MAX: usize = 10_000;

/// The senders that have identified a known device, with that device. Others are not remembered, so that forged
/// addresses use no memory.
pub(super) struct Senders(Mutex<BoundedMap<SocketAddr, Known>>);

struct Known {
    device: DeviceId,
    sender: Arc<AsyncMutex<Sender>>,
}

impl Default for Senders {
    fn default() -> Self {
        Self(Mutex::new(BoundedMap::new(SENDERS_MAX)))
    }
}

impl Senders {
    /// What of a datagram is accepted; `None` if it is dropped. If its address sends too many, it is accepted from the
    /// address and port of a known device that is within its own rate. Otherwise others behind the same address could
    /// suppress its SOS. Of other ports, an SOS is accepted within an allowance of the address. The session is not locked for this, because it is locked while a datagram is stored or a command
    /// is sent.
    fn admit(&self, ingest: &Ingest, peer: SocketAddr) -> Option<Admitted> {
        if ingest.admission.admits_datagram(peer.ip()) {
            return Some(Admitted::All);
        }
        let Some(device) = self.0.lock().get(&peer).map(|known| known.device) else {
            return ingest.admission.examines_datagram_from(peer.ip()).then_some(Admitted::Sos);
        };
        if ingest.admission.admits_datagram_of(device) {
            return Some(Admitted::All);
        }
        ingest.admission.examines_datagram_of(device).then_some(Admitted::Sos)
    }

    fn find(&self, peer: SocketAddr) -> Option<Arc<AsyncMutex<Sender>>> {
        self.0.lock().get(&peer).map(|known| Arc::clone(&known.sender))
    }

    fn remember(&self, peer: SocketAddr, device: DeviceId, sender: Arc<AsyncMutex<Sender>>) {
        self.0.lock().insert(peer, Known { device, sender }, |_| true);
    }

    fn remove(&self, peer: SocketAddr) {
        self.0.lock().remove(&peer);
    }
}

/// A socket and the state that its datagrams need.
pub(super) struct Datagrams {
    pub(super) socket: Arc<UdpSocket>,
    pub(super) ingest: Arc<Ingest>,
    /// `None` for the port that detects the protocol by the first bytes.
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
        let places = Places::default();
        loop {
            let received = tokio::select! {
                received = self.socket.recv_from(&mut buffer) => received,
                () = self.stop.cancelled() => return,
            };
            // An error concerns an earlier reply whose receiver no longer listens.
            let Ok((count, peer)) = received else { continue };
            let datagram = buffer.get(..count).unwrap_or_default();
            let Some(protocol) = self.protocol.or_else(|| sniff(datagram).0) else { continue };
            if count == 0 || count > protocol.max_frame || !self.config.admits(protocol.name, peer.ip()) {
                dropped(protocol);
                continue;
            }
            let Some(admitted) = senders.admit(&self.ingest, peer) else {
                dropped(protocol);
                continue;
            };
            let Some((permit, admitted)) = places.take(admitted) else {
                dropped(protocol);
                continue;
            };
            let (socket, ingest, senders) =
                (Arc::clone(&self.socket), Arc::clone(&self.ingest), Arc::clone(&senders));
            let datagram = Datagram { protocol, peer, bytes: datagram.to_vec(), admitted };
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

/// How many datagrams of a socket are processed at the same time.
struct Places {
    all: Arc<Semaphore>,
    examined: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(AT_ONCE)), examined: Arc::new(Semaphore::new(EXAMINED_AT_ONCE)) }
    }
}

impl Places {
    /// A place for a datagram, and what of it is accepted there; `None` if it is dropped.
    fn take(&self, admitted: Admitted) -> Option<(OwnedSemaphorePermit, Admitted)> {
        let take = |places: &Arc<Semaphore>| Arc::clone(places).try_acquire_owned().ok();
        match take(&self.all) {
            Some(place) => Some((place, admitted)),
            None => take(&self.examined).map(|place| (place, Admitted::Sos)),
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
    admitted: Admitted,
}

/// Stores a datagram and returns the replies, together no longer than it; and the sender, if commands may be sent to it
/// from now on.
async fn replies(
    ingest: Arc<Ingest>,
    senders: &Senders,
    datagram: Datagram,
) -> (Vec<Vec<u8>>, Option<Arc<AsyncMutex<Sender>>>) {
    let Datagram { protocol, peer, bytes, admitted } = datagram;
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
    let known = senders.find(peer);
    let is_new = known.is_none();
    let sender = known.unwrap_or_else(|| {
        let session = Session::new(Arc::clone(&ingest), protocol, peer, true);
        Arc::new(AsyncMutex::new(Sender::new(session, ingest.monotonic())))
    });
    let mut held = sender.lock().await;
    if held.session.protocol().name != protocol.name {
        held.session = Session::new(ingest, protocol, peer, true);
    }
    let Answer { mut replies, .. } = held.session.handle_datagram(frames, admitted).await;
    let mut left = bytes.len();
    let fitting = replies.iter().take_while(|reply| {
        let rest = left.checked_sub(reply.len());
        left = rest.unwrap_or(left);
        rest.is_some()
    });
    let fitting = fitting.count();
    replies.truncate(fitting);
    let device = held.session.device().map(|reporter| reporter.device);
    let begins = device.is_some() && held.note_datagram(peer, left);
    drop(held);
    match device {
        Some(device) => senders.remember(peer, device, Arc::clone(&sender)),
        None if !is_new => senders.remove(peer),
        None => {}
    }
    (replies, begins.then_some(sender))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sos_has_a_place_when_all_others_are_taken() {
        let places = Places::default();
        let taken: Vec<_> = (0..AT_ONCE).map(|_| places.take(Admitted::All).unwrap()).collect();
        assert!(taken.iter().all(|(_, admitted)| *admitted == Admitted::All));
        let examined: Vec<_> = (0..EXAMINED_AT_ONCE).map(|_| places.take(Admitted::All).unwrap()).collect();
        assert!(examined.iter().all(|(_, admitted)| *admitted == Admitted::Sos));
        assert!(places.take(Admitted::Sos).is_none(), "memory is bounded");
        drop(taken);
        assert_eq!(places.take(Admitted::All).unwrap().1, Admitted::All);
    }
}
