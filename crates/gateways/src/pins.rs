//! Digital inputs or outputs, up to 32 of them.

/// The pins that a frame contains, and which of them are on. Pins count from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    sent: u32,
    on: u32,
}

impl Pins {
    /// Pins 1 to 32.
    pub const MAX: u32 = 32;

    /// Records a pin; false if there is no such pin.
    pub fn set(&mut self, pin: u32, on: bool) -> bool {
        let Some(mask) = pin.checked_sub(1).and_then(|index| 1_u32.checked_shl(index)) else {
            return false;
        };
        self.sent |= mask;
        self.on = if on { self.on | mask } else { self.on & !mask };
        true
    }

    /// The state of a pin, if it was sent.
    pub fn get(self, pin: u32) -> Option<bool> {
        let mask = pin.checked_sub(1).and_then(|index| 1_u32.checked_shl(index))?;
        (self.sent & mask != 0).then_some(self.on & mask != 0)
    }

    /// All pins up to the last one that was sent; missing ones before it are off. None if none was sent.
    pub fn list(self) -> Option<Vec<bool>> {
        let count = u32::BITS - self.sent.leading_zeros();
        (count > 0).then(|| (1..=count).map(|pin| self.get(pin).unwrap_or(false)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_up_to_the_last_sent() {
        let mut pins = Pins::default();
        assert_eq!(pins.list(), None);
        assert!(pins.set(3, true) && pins.set(4, false));
        assert_eq!(pins.list(), Some(vec![false, false, true, false]));
        assert!(pins.set(32, true) && !pins.set(33, true) && !pins.set(0, true));
        assert_eq!(pins.list().map(|list| list.len()), Some(32));
        assert_eq!((pins.get(3), pins.get(5)), (Some(true), None));
    }
}
