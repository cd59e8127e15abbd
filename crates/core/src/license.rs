//! Licences: which devices use one, and what a change of expiry does to them.

use crate::day::{Date, end_of_date};
use crate::time::Timestamp;
use crate::zone::Zone;

/// How a device stands with its account's licences.
///
/// The state follows from the instant: a device is active while it is licensed and its expiry is ahead.
/// `licensed` is taken away by the first transaction that sees the expiry behind it and comes back only
/// through the licence check, so neither a clock nor a zone that moves can bring a device back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct License {
    /// Whether the device holds a licence, unless it ran out since.
    pub licensed: bool,
    /// The instant from which it is expired.
    pub expires: Option<Timestamp>,
}

/// Whether a device uses a licence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// It does.
    Active,
    /// It does no longer.
    Expired,
}

impl DeviceState {
    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
        }
    }
}

/// What a change does to the licences in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LicenseChange {
    /// The device goes on as it was.
    None,
    /// It needs a licence it does not hold.
    Take,
    /// It gives its licence back.
    Free,
}

/// The instant at which a device with this expiration date expires: the end of that date in the zone.
pub fn expiry_instant(date: Option<Date>, zone: &Zone) -> Option<Timestamp> {
    date.map(|date| end_of_date(date, zone))
}

impl License {
    /// Whether the device uses a licence at this instant.
    pub fn state(self, now: Timestamp) -> DeviceState {
        let running = self.expires.is_none_or(|expires| now < expires);
        if self.licensed && running { DeviceState::Active } else { DeviceState::Expired }
    }

    /// What it means to set this expiry now, and how the device stands after it.
    ///
    /// For a new device start from `License { licensed: false, .. }`.
    pub fn with_expiry(self, expires: Option<Timestamp>, now: Timestamp) -> (Self, LicenseChange) {
        let runs = expires.is_none_or(|expires| now < expires);
        let change = match (self.state(now), runs) {
            (DeviceState::Active, true) | (DeviceState::Expired, false) => LicenseChange::None,
            (DeviceState::Expired, true) => LicenseChange::Take,
            (DeviceState::Active, false) => LicenseChange::Free,
        };
        (Self { licensed: runs, expires }, change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const PAST: Option<Timestamp> = Some(Timestamp::from_millis(999_999));
    const FUTURE: Option<Timestamp> = Some(Timestamp::from_millis(1_000_001));

    fn check(licensed: bool, from: Option<Timestamp>, to: Option<Timestamp>, expect: LicenseChange) {
        let (after, change) = License { licensed, expires: from }.with_expiry(to, NOW);
        assert_eq!(change, expect, "licensed {licensed} from {from:?} to {to:?}");
        let runs = to.is_none_or(|expires| NOW < expires);
        assert_eq!(after.state(NOW) == DeviceState::Active, runs);
    }

    #[test]
    fn a_device_that_comes_back_takes_a_licence() {
        check(true, None, None, LicenseChange::None);
        check(true, None, FUTURE, LicenseChange::None);
        check(true, None, PAST, LicenseChange::Free);
        check(true, FUTURE, None, LicenseChange::None);
        check(true, PAST, None, LicenseChange::Take);
        check(true, PAST, FUTURE, LicenseChange::Take);
        check(false, PAST, PAST, LicenseChange::None);
        check(false, FUTURE, FUTURE, LicenseChange::Take);
        check(false, None, None, LicenseChange::Take);
    }

    #[test]
    fn the_instant_of_expiry_is_already_expired() {
        let license = License { licensed: true, expires: Some(NOW) };
        assert_eq!(license.state(NOW), DeviceState::Expired);
        assert_eq!(license.state(NOW.plus_millis(-1)), DeviceState::Active);
    }
}
