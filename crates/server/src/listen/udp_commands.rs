//! Commands to devices that report by UDP: sent to the address of their latest datagram, as long as routers on the way
//! let replies through.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::time::Monotonic;
use tokio::net::UdpSocket;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::session::Session;
use crate::ingest::NextCommand;

/// How long after a datagram commands are sent to its address: mobile networks drop a UDP mapping after about a minute.
const REACHABLE_FOR: Duration = Duration::from_mins(1);
/// Maximum credit of an address, in bytes.
const CREDIT_MAX: usize = 64 * 1024;

/// A sender of datagrams.
pub(super) struct Sender {
    pub(super) session: Session,
    last_heard: Monotonic,
    /// Bytes received from the address minus bytes sent to it. Commands are charged to this credit, so that a forged
    /// address never receives more than was sent in its name.
    credit: usize,
    /// Whether a task sends commands to the address.
    has_task: bool,
    /// Whether a command is longer than the credit.
    waits_for_credit: bool,
}

impl Sender {
    pub(super) fn new(session: Session, now: Monotonic) -> Self {
        Self { session, last_heard: now, credit: 0, has_task: false, waits_for_credit: false }
    }

    /// Records a datagram of a known device, with this many bytes of credit left after its replies. Returns whether a
    /// task must be started to send commands.
    pub(super) fn note_datagram(&mut self, peer: SocketAddr, left: usize) -> bool {
        let ingest = self.session.ingest();
        self.last_heard = ingest.monotonic();
        self.credit = self.credit.saturating_add(left).min(CREDIT_MAX);
        let Some(device) = self.session.device().map(|reporter| reporter.device) else { return false };
        let has_moved = ingest.commands.note_address(device, peer);
        let Some(wake) = self.session.wake() else { return false };
        if has_moved || std::mem::take(&mut self.waits_for_credit) {
            wake.notify_one();
        }
        !std::mem::replace(&mut self.has_task, true)
    }

    /// How much longer commands may be sent to the address; none if its device reports from another address by now.
    fn reachable_for(&self, peer: SocketAddr) -> Option<Duration> {
        let ingest = self.session.ingest();
        let device = self.session.device()?.device;
        let left = REACHABLE_FOR.checked_sub(ingest.monotonic().since(self.last_heard))?;
        ingest.commands.is_latest_address(device, peer).then_some(left).filter(|left| !left.is_zero())
    }

    /// Sends the waiting commands, as far as there is credit for them.
    async fn send_commands(&mut self, socket: &UdpSocket, peer: SocketAddr) {
        loop {
            match self.session.next_command(self.credit).await {
                NextCommand::Nothing => return,
                NextCommand::TooLong => {
                    self.waits_for_credit = true;
                    return;
                }
                NextCommand::Command(command) => {
                    if socket.send_to(&command.bytes, peer).await.is_err() {
                        self.session.requeue(command).await;
                        return;
                    }
                    self.credit = self.credit.saturating_sub(command.bytes.len());
                }
            }
        }
    }
}

/// Sends commands to an address until it is no longer reachable. The next datagram from it starts this again.
pub(super) async fn send_while_reachable(
    socket: Arc<UdpSocket>,
    peer: SocketAddr,
    sender: Arc<Mutex<Sender>>,
    stop: CancellationToken,
) {
    loop {
        let (wake, left) = {
            let mut held = sender.lock().await;
            let (Some(wake), Some(left)) = (held.session.wake(), held.reachable_for(peer)) else {
                held.session.detach();
                held.has_task = false;
                return;
            };
            (wake, left)
        };
        tokio::select! {
            () = wake.notified() => {}
            () = tokio::time::sleep(left) => continue,
            () = stop.cancelled() => return,
        }
        let mut held = sender.lock().await;
        if held.reachable_for(peer).is_some() {
            held.send_commands(&socket, peer).await;
        }
    }
}
