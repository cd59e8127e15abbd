//! Simulated providers that accept messages to devices: Garmin IPC Inbound, `RockBLOCK` MT, Cloudloop, and Iridium
//! `DirectIP` MT, with their checks, errors and limits. They answer on a real socket.

mod cloudloop;
mod directip;
mod garmin;
mod http;
mod rockblock;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;

/// The interface that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// IPC Inbound, for gateways of the feed `garmin`.
    Garmin,
    /// MT messages, for gateways of the feed `rockblock`.
    Rockblock,
    /// The API for SBD messages, for gateways of the feed `cloudloop`.
    Cloudloop,
    /// MT messages over TCP, for gateways of the feed `directip`.
    DirectIp,
}

impl Interface {
    /// The feeds whose interfaces can be simulated.
    pub const FEEDS: [(&str, Self); 4] = [
        ("garmin", Self::Garmin),
        ("rockblock", Self::Rockblock),
        ("cloudloop", Self::Cloudloop),
        ("directip", Self::DirectIp),
    ];

    /// The interface for gateways of this feed.
    pub fn of(feed: &str) -> Option<Self> {
        Self::FEEDS.iter().find(|(name, _)| *name == feed).map(|(_, interface)| *interface)
    }
}

/// A fault that the provider has for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It takes no message. By HTTP, it asks to wait for this many seconds; `DirectIP` says that the queue is full.
    Busy(u32),
    /// It refuses the message with this code; of `DirectIP`, the status without its minus sign.
    Code(u32),
    /// It has an error, and answers with a page of HTML.
    Broken,
    /// It takes the message, and closes the connection without an answer.
    Silent,
}

/// A message that the provider took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The path of the request, without its query; empty for `DirectIP`.
    pub path: String,
    /// The IMEI of the recipient, or the ID of its Thing.
    pub to: String,
    /// The text; `None` for a message without one.
    pub text: Option<String>,
    /// The sender, if the interface has one.
    pub sender: String,
    /// The tracking interval, in seconds.
    pub interval_s: Option<u64>,
}

/// What the provider knows.
#[derive(Debug, Default)]
struct State {
    faults: VecDeque<Fault>,
    taken: Vec<Taken>,
    requests: usize,
}

/// A provider that accepts messages to devices. Clones share what it has taken.
#[derive(Clone, Debug)]
pub struct Downlink {
    interface: Interface,
    /// The key of Garmin, the password of `RockBLOCK`, or the token of Cloudloop.
    key: String,
    delay: Duration,
    state: Arc<Mutex<State>>,
}

impl Downlink {
    /// A provider that accepts this key, token, or password of any user.
    pub fn new(interface: Interface, key: impl Into<String>) -> Self {
        Self { interface, key: key.into(), delay: Duration::ZERO, state: Arc::default() }
    }

    /// Answers so long after it took a message.
    #[must_use]
    pub fn answering_after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Waits as long as the provider takes to answer.
    async fn wait(&self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a fault for the next request that has none yet.
    pub fn fail_next(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    /// The messages that it took, oldest first.
    pub fn taken(&self) -> Vec<Taken> {
        self.state().taken.clone()
    }

    /// How many requests it got.
    pub fn requests(&self) -> usize {
        self.state().requests
    }

    /// Answers requests until the listener fails.
    pub async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _peer)) = listener.accept().await {
            let provider = self.clone();
            tokio::spawn(async move {
                match provider.interface {
                    Interface::DirectIp => directip::talk(&provider, stream).await,
                    _ => http::talk(&provider, stream).await,
                }
            });
        }
    }

    /// Counts a request, and returns its fault.
    fn begin(&self) -> Option<Fault> {
        let mut state = self.state();
        state.requests += 1;
        state.faults.pop_front()
    }
}

/// The bytes of hexadecimal digits.
fn unhex(digits: &str) -> Option<Vec<u8>> {
    let byte =
        |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
    digits.as_bytes().chunks(2).map(byte).collect()
}
