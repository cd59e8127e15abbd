//! Decides when messages of devices are accepted: rate limits, and turns of devices and accounts.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::DeviceId;

use super::turns::{Turn, Turns};
use crate::access::RateLimits;

/// The rate limits and turns of devices.
pub struct Admission {
    rates: Arc<RateLimits>,
    turns: Turns,
}

impl Admission {
    pub(super) fn new(rates: Arc<RateLimits>) -> Self {
        Self { rates, turns: Turns::default() }
    }

    /// How long a device has to wait after this many messages before its next one is accepted; `None` if there is no
    /// need to wait. Messages are counted for the device on all its connections, and for its account.
    pub fn pause(&self, reporter: &Reporter, messages: usize) -> Option<Duration> {
        let of_device = self.rates.device_messages(reporter.device, messages);
        let of_account = self.rates.submission(reporter.scope.account).and_then(|rated| {
            let wait_s = u64::try_from(rated.allowance.wait_s).unwrap_or(0).max(1);
            (!rated.allowance.allowed).then(|| Duration::from_secs(wait_s))
        });
        of_device.max(of_account)
    }

    /// Waits until a batch of a device may be stored.
    pub async fn turn(&self, reporter: &Reporter, messages: usize) -> Turn {
        self.turns.take(reporter, messages).await
    }

    /// Whether a datagram of this address is accepted.
    pub fn admits_datagram(&self, address: IpAddr) -> bool {
        self.rates.datagram(address)
    }

    /// Whether a datagram from the known address of this device is accepted although its address sends too many. It is
    /// counted for the device before it is decoded, and again when it is stored, because an address can be forged.
    pub fn admits_datagram_of(&self, device: DeviceId) -> bool {
        self.rates.device_message(device)
    }

    /// Whether a datagram from the known address of this device is decoded although address and device send too many, to
    /// store it if it is an SOS.
    pub fn examines_datagram_of(&self, device: DeviceId) -> bool {
        self.rates.examined_datagram(device)
    }

    /// Whether a datagram from a port that is not that of a known device is decoded although its address sends too many, to
    /// store it if it is an SOS: a tracker may have a new port, or the service may have been restarted.
    pub fn examines_datagram_from(&self, address: IpAddr) -> bool {
        self.rates.examined_datagram_from(address)
    }

    /// Whether an SOS of this device is stored although the device sends too many messages.
    pub fn admits_sos_of(&self, device: DeviceId) -> bool {
        self.rates.device_alarm(device)
    }
}
