//! Claims on identifiers, for listeners that all accounts share. Anybody who sees a tracker can read its identifier, so
//! registering the identifier proves nothing.

use super::network::NetworkFinding;
use crate::id::{AccountId, DeviceId};
use crate::time::Timestamp;

/// Which claims decide to which account a report on a shared listener belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedClaims {
    /// Only proven claims.
    Proven,
    /// All claims, so that the account that registered the identifier first gets its reports. For servers whose
    /// accounts trust each other.
    All,
}

/// State of the claim of a device on an identifier, as shown to the account of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// This device has the identifier, and its claim is proven. Reports on shared listeners are stored.
    Proven,
    /// This device has the identifier, and no claim on it is proven yet. Reports on shared listeners are not stored.
    Unproven,
    /// Another account holds the identifier.
    Elsewhere,
}

impl ClaimState {
    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Unproven => "unproven",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// The claim of a device on one of its identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The identifier of the hardware.
    pub identifier: String,
    /// Whether the claim is proven, or another account holds the identifier.
    pub state: ClaimState,
    /// The interval in which the next report of the tracker proves the claim; `None` if no proof was started.
    pub window: Option<(Timestamp, Timestamp)>,
}

impl Claim {
    /// Length of the interval, in seconds: a tracker needs a minute to find its network.
    pub const WINDOW_S: i64 = 120;
    /// The shortest and the longest time until the interval begins, in seconds. A tracker that is in use reports
    /// before the interval begins, which fails the proof.
    pub const WAIT_S: (i64, i64) = (300, 900);
    /// Maximum number of proofs that an account may start for an identifier within 24 hours.
    pub const TRIES_A_DAY: u32 = 2;
    /// Maximum number of proofs that an account may start within 24 hours, for all identifiers together.
    pub const TRIES_A_DAY_IN_ALL: u32 = 50;
}

/// An identifier that is not proven, that several accounts registered or that reports from two networks, as shown to
/// operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenClaim {
    /// The identifier of the hardware.
    pub identifier: String,
    /// When the claim was proven; `None` if it is not.
    pub proven_at: Option<Timestamp>,
    /// Every device that has it, the holder first.
    pub devices: Vec<ClaimingDevice>,
    /// When it last reported as an unknown device, and from which address.
    pub heard: Option<(Timestamp, String)>,
    /// Two networks from which it reports, unless operators decided about them.
    pub networks: Option<NetworkFinding>,
}

/// A device that has a contested identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimingDevice {
    /// The account of the device.
    pub account: AccountId,
    /// Name of that account.
    pub account_name: String,
    /// A device of that account that has the identifier.
    pub device: DeviceId,
    /// Whether it holds the claim.
    pub is_holder: bool,
}
