//! Claims of identifiers on listeners that all accounts share: an identifier can be read by anybody who sees the tracker, so
//! that registering it proves nothing.

use crate::id::{AccountId, DeviceId};
use crate::time::Timestamp;

/// Which claims decide whose a report on a shared listener is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedClaims {
    /// Only those that are proven.
    Proven,
    /// Whoever registered the identifier first. For servers whose accounts trust each other.
    All,
}

/// Whose an identifier is, as the account of a device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// It is this device's, and proven: what it reports on shared listeners is stored.
    Proven,
    /// It is this device's as long as nobody else proves it. What it reports is not shown to the account.
    Unproven,
    /// Another account holds it.
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
    /// What the hardware calls itself.
    pub identifier: String,
    /// Whose it is.
    pub state: ClaimState,
    /// The interval in which the tracker must report for the first time since the interval was stated; `None` without one.
    pub window: Option<(Timestamp, Timestamp)>,
}

impl Claim {
    /// Length of the interval, in seconds: a tracker needs a minute to find its network.
    pub const WINDOW_S: i64 = 120;
    /// The shortest and the longest time until the interval begins, in seconds. A tracker that is in use reports meanwhile,
    /// which fails the proof.
    pub const WAIT_S: (i64, i64) = (300, 900);
    /// Intervals that an account may have stated for an identifier within 24 hours.
    pub const TRIES_A_DAY: u32 = 2;
    /// Intervals that an account may have stated within 24 hours, of all identifiers.
    pub const TRIES_A_DAY_IN_ALL: u32 = 50;
}

/// An identifier that is not proven, or that several accounts registered, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenClaim {
    /// What the hardware calls itself.
    pub identifier: String,
    /// When the claim was proven; `None` if it is not.
    pub proven_at: Option<Timestamp>,
    /// Every device that has it, the holder first.
    pub devices: Vec<ClaimingDevice>,
    /// When it was last heard as an unknown device, and from where.
    pub heard: Option<(Timestamp, String)>,
}

/// A device that has a contested identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimingDevice {
    /// The account of the device.
    pub account: AccountId,
    /// Name of that account.
    pub account_name: String,
    /// The device.
    pub device: DeviceId,
    /// Whether it holds the claim.
    pub is_holder: bool,
}
