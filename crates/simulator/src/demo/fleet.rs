//! The devices of the demo: their names, and how each of them reports.

use crate::fleet::{Fix, Kind, SimulatedDevice, SmoothTrack};

const VESSELS: [&str; 16] = [
    "Aurora",
    "Kittiwake",
    "Estrella do Mar",
    "Nordlys",
    "Albatros",
    "Costa da Morte",
    "Petrel",
    "Sirius",
    "Maré Alta",
    "Cormorant",
    "Punta Lagoa",
    "Vega",
    "Tramontana",
    "Northern Star",
    "Galerna",
    "Procyon",
];
const HIKERS: [&str; 10] = [
    "Ana Castro",
    "Iker Etxeberria",
    "Mei Tanaka",
    "Jonas Berg",
    "Lucía Ramos",
    "Tom Barker",
    "Nora Lind",
    "Paulo Reis",
    "Aisha Khan",
    "Émile Roux",
];
const HOUR_MS: i64 = 3_600_000;

/// The devices of the demo.
#[derive(Clone, Copy, Debug)]
pub struct DemoFleet {
    seed: u64,
    /// How many devices are simulated.
    pub count: u32,
    /// Start of their history, in milliseconds since 1970.
    pub start_ms: i64,
    /// Start of the demo, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A device of the demo.
#[derive(Clone, Copy, Debug)]
pub struct DemoDevice {
    device: SimulatedDevice,
    index: u32,
    fleet: DemoFleet,
}

impl DemoFleet {
    /// Makes `count` devices with a history between these instants.
    pub fn new(seed: u64, count: u32, start_ms: i64, now_ms: i64) -> Self {
        Self { seed, count, start_ms, now_ms }
    }

    /// The devices, in order.
    pub fn devices(&self) -> impl Iterator<Item = DemoDevice> + use<> {
        let fleet = *self;
        (0..self.count).map(move |index| DemoDevice {
            device: SimulatedDevice::new(fleet.seed, index),
            index,
            fleet,
        })
    }
}

impl DemoDevice {
    /// Its index among the devices.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Vehicle, vessel or hiker.
    pub fn kind(&self) -> Kind {
        self.device.kind()
    }

    /// Its hardware identifier, unique under this seed.
    pub fn identifier(&self) -> String {
        self.device.identifier()
    }

    /// Its name, as shown on the map.
    pub fn name(&self) -> String {
        // Of twenty devices five are vessels and three are hikers, in turn.
        let index = (0..self.index)
            .filter(|index| SimulatedDevice::new(self.fleet.seed, *index).kind() == self.kind())
            .count();
        let named = match self.kind() {
            Kind::Vessel => VESSELS.get(index).map(|name| format!("MV {name}")),
            Kind::Hiker => HIKERS.get(index).map(|name| (*name).to_owned()),
            Kind::Vehicle => Some(format!("{} {}", if index % 3 == 0 { "Truck" } else { "Van" }, index + 1)),
        };
        named.unwrap_or_else(|| self.device.name())
    }

    /// When it becomes silent, if it does: some are late, some offline for a long time, one never reports.
    pub fn silent_from_ms(&self) -> Option<i64> {
        match self.index {
            5 => Some(self.fleet.now_ms - HOUR_MS),
            11 => Some(self.fleet.now_ms - 9 * HOUR_MS),
            23 => Some(self.fleet.now_ms - 30 * HOUR_MS),
            19 => Some(i64::MIN),
            _ => None,
        }
    }

    /// Its reports before the start of the demo.
    pub fn history(&self) -> impl Iterator<Item = Fix> {
        let until = self.silent_from_ms().unwrap_or(self.fleet.now_ms).min(self.fleet.now_ms);
        let fixes = self.device.track(self.fleet.start_ms).take_while(move |fix| fix.time_ms < until);
        fixes.filter(move |_| until > i64::MIN)
    }

    /// Its reports from the start of the demo on, often enough to see it move; `None` if it is silent.
    pub fn live(&self) -> Option<SmoothTrack> {
        let step_ms = match self.kind() {
            Kind::Vehicle => 3_000,
            Kind::Vessel => 5_000,
            Kind::Hiker => 10_000,
        };
        if self.silent_from_ms().is_some() {
            return None;
        }
        // Spread over time, so that not all report at the same instant.
        let shift = i64::from(self.index) * 137 % step_ms;
        SmoothTrack::new(self.device.track(self.fleet.start_ms), self.fleet.now_ms - shift, step_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_name_and_some_are_silent() {
        let fleet = DemoFleet::new(1, 60, 1_700_000_000_000, 1_700_100_000_000);
        let mut names: Vec<String> = fleet.devices().map(|device| device.name()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 60, "names are unique");
        assert_eq!(fleet.devices().filter(|device| device.live().is_none()).count(), 4);
        let last = fleet.devices().next().and_then(|device| device.history().last()).unwrap();
        assert!(last.time_ms < fleet.now_ms && last.time_ms > fleet.now_ms - 600_000);
        assert_eq!(fleet.devices().nth(19).unwrap().history().count(), 0);
        let first = fleet.devices().next().and_then(|device| device.live()?.next()).unwrap();
        assert!(first.time_ms > fleet.now_ms);
    }
}
