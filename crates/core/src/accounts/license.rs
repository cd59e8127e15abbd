//! Licences: which devices use one, and how a change of expiry affects that.

use crate::day::{Date, end_of_date};
use crate::time::Timestamp;
use crate::zone::Zone;

/// Whether a device holds a licence, and until when.
///
/// The state follows from the time: a device is active while it is licensed and its expiry is in the future. The
/// first transaction that sees the expiry in the past clears `licensed`; it is set again only by the licence check.
/// So neither a clock that goes back nor a change of time zone can make a device active again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct License {
    /// Whether the device held a licence when it was last written. It may have expired since.
    pub licensed: bool,
    /// The instant from which it is expired.
    pub expires: Option<Timestamp>,
}

/// Whether a device uses a licence at some instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// It uses a licence and takes data.
    Active,
    /// Its expiry has passed; it takes no data.
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

/// How a change affects the number of licences in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LicenseChange {
    /// The number stays the same.
    None,
    /// The device needs a licence; the licence check must pass.
    Take,
    /// The device frees its licence.
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

    /// The licence after setting this expiry now, and how the number of licences in use changes.
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
