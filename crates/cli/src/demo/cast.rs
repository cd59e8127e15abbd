//! Who takes part in a demonstration: devices with names, and how each of them reports.

use perigee_cli::fleet::{Fix, Kind, SimulatedDevice, Smooth};

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

/// The devices of a demonstration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cast {
    seed: u64,
    /// How many there are.
    pub(crate) devices: u32,
    /// When their lives begin.
    pub(crate) start_ms: i64,
    /// When the demonstration does.
    pub(crate) now_ms: i64,
}

/// A device of the cast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    device: SimulatedDevice,
    index: u32,
    cast: Cast,
}

impl Cast {
    /// So many devices that have lived from this instant to the other.
    pub(crate) fn new(seed: u64, devices: u32, start_ms: i64, now_ms: i64) -> Self {
        Self { seed, devices, start_ms, now_ms }
    }

    /// The devices.
    pub(crate) fn roles(&self) -> impl Iterator<Item = Role> + use<> {
        let cast = *self;
        (0..self.devices).map(move |index| Role {
            device: SimulatedDevice::new(cast.seed, index),
            index,
            cast,
        })
    }
}

impl Role {
    /// Its place in the cast.
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// What carries it.
    pub(crate) fn kind(&self) -> Kind {
        self.device.kind()
    }

    /// What it says of itself.
    pub(crate) fn identifier(&self) -> String {
        self.device.identifier()
    }

    /// What people call it.
    pub(crate) fn name(&self) -> String {
        // Of twenty devices five are vessels and three are hikers, in turn.
        let place = (0..self.index)
            .filter(|index| SimulatedDevice::new(self.cast.seed, *index).kind() == self.kind())
            .count();
        let named = match self.kind() {
            Kind::Vessel => VESSELS.get(place).map(|name| format!("MV {name}")),
            Kind::Hiker => HIKERS.get(place).map(|name| (*name).to_owned()),
            Kind::Vehicle => Some(format!("{} {}", if place % 3 == 0 { "Truck" } else { "Van" }, place + 1)),
        };
        named.unwrap_or_else(|| self.device.name())
    }

    /// When it falls silent, if it does: some are late, some have been away for long, one was never heard.
    pub(crate) fn silent_from_ms(&self) -> Option<i64> {
        match self.index {
            5 => Some(self.cast.now_ms - HOUR_MS),
            11 => Some(self.cast.now_ms - 9 * HOUR_MS),
            23 => Some(self.cast.now_ms - 30 * HOUR_MS),
            19 => Some(i64::MIN),
            _ => None,
        }
    }

    /// What it has reported until the demonstration begins.
    pub(crate) fn history(&self) -> impl Iterator<Item = Fix> {
        let until = self.silent_from_ms().unwrap_or(self.cast.now_ms).min(self.cast.now_ms);
        let fixes = self.device.track(self.cast.start_ms).take_while(move |fix| fix.time_ms < until);
        fixes.filter(move |_| until > i64::MIN)
    }

    /// What it reports from then on, often enough to see it move; none for who has fallen silent.
    pub(crate) fn live(&self) -> Option<Smooth> {
        let step_ms = match self.kind() {
            Kind::Vehicle => 3_000,
            Kind::Vessel => 5_000,
            Kind::Hiker => 10_000,
        };
        if self.silent_from_ms().is_some() {
            return None;
        }
        // Not all at the same instant.
        let shift = i64::from(self.index) * 137 % step_ms;
        Smooth::new(self.device.track(self.cast.start_ms), self.cast.now_ms - shift, step_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_name_and_some_are_silent() {
        let cast = Cast::new(1, 60, 1_700_000_000_000, 1_700_100_000_000);
        let mut names: Vec<String> = cast.roles().map(|role| role.name()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 60, "names are unique");
        assert_eq!(cast.roles().filter(|role| role.live().is_none()).count(), 4);
        let last = cast.roles().next().and_then(|role| role.history().last()).unwrap();
        assert!(last.time_ms < cast.now_ms && last.time_ms > cast.now_ms - 600_000);
        assert_eq!(cast.roles().nth(19).unwrap().history().count(), 0);
        let first = cast.roles().next().and_then(|role| role.live()?.next()).unwrap();
        assert!(first.time_ms > cast.now_ms);
    }
}
