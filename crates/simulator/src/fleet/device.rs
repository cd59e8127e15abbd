//! The devices of the fleet and their tracks.

use super::delivery::Deliveries;
use super::fix::Fix;
use super::hiker::Hiker;
use super::random::Random;
use super::vehicle::Vehicle;
use super::vessel::Vessel;

/// The kind of carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A fix every ten seconds on the road, every five minutes while parked.
    Vehicle,
    /// A fix every three minutes.
    Vessel,
    /// A fix every hour.
    Hiker,
}

/// A device of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedDevice {
    seed: u64,
    index: u32,
}

impl SimulatedDevice {
    /// The device with this number under this seed. It does not depend on the number of other devices.
    pub fn new(seed: u64, index: u32) -> Self {
        Self { seed, index }
    }

    /// Its kind: of twenty devices twelve are vehicles, five vessels and three hikers.
    pub fn kind(&self) -> Kind {
        match self.index % 20 {
            2 | 6 | 10 | 14 | 18 => Kind::Vessel,
            4 | 9 | 17 => Kind::Hiker,
            _ => Kind::Vehicle,
        }
    }

    /// Its hardware identifier, unique under this seed.
    pub fn identifier(&self) -> String {
        format!("sim-{}-{:05}", self.seed, self.index)
    }

    /// Its name, as shown on the map.
    pub fn name(&self) -> String {
        let kind = match self.kind() {
            Kind::Vehicle => "Vehicle",
            Kind::Vessel => "Vessel",
            Kind::Hiker => "Hiker",
        };
        format!("{kind} {}", self.index + 1)
    }

    /// Its track from this moment on, without end.
    pub fn track(&self, start_ms: i64) -> Track {
        let random = self.random(1);
        Track(match self.kind() {
            Kind::Vehicle => Mover::Vehicle(Vehicle::new(random, start_ms)),
            Kind::Vessel => Mover::Vessel(Vessel::new(random, start_ms)),
            Kind::Hiker => Mover::Hiker(Hiker::new(random, start_ms)),
        })
    }

    /// The deliveries of its track, without end.
    pub fn deliveries(&self, start_ms: i64) -> Deliveries {
        Deliveries::new(self.track(start_ms), self.kind(), self.random(2))
    }

    fn random(&self, purpose: u64) -> Random {
        Random::new(self.seed, (u64::from(self.index) << 8) | purpose)
    }
}

/// The fixes of a device, in order of fix time.
#[derive(Clone, Debug)]
pub struct Track(Mover);

#[derive(Clone, Debug)]
enum Mover {
    Vehicle(Vehicle),
    Vessel(Vessel),
    Hiker(Hiker),
}

impl Iterator for Track {
    type Item = Fix;

    fn next(&mut self) -> Option<Fix> {
        Some(match &mut self.0 {
            Mover::Vehicle(vehicle) => vehicle.next_fix(),
            Mover::Vessel(vessel) => vessel.next_fix(),
            Mover::Hiker(hiker) => hiker.next_fix(),
        })
    }
}

#[cfg(test)]
mod tests;
