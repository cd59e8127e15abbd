//! The random steps, each made on the store and on the model.

use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    CompactionBudget, FixSource, HistoryRequest, LastFilter, Latitude, Location, Longitude, Milli, Order,
    Readings, StoredLocation, TimeRange,
};
use perigee_core::page::PageRequest;
use perigee_core::store::{Devices as _, LocationMaintenance as _, Locations as _, Maintenance as _};
use perigee_core::time::Timestamp;
use perigee_store::Engine;

use crate::actual::Actual;
use crate::chance::Chance;
use crate::expected::Model;

const DEVICES: usize = 4;
const ALL: CompactionBudget = CompactionBudget { devices: 1_000, everything: true };

struct Run {
    actual: Actual,
    model: Model,
    chance: Chance,
    devices: Vec<DeviceId>,
    sent: Vec<(DeviceId, Vec<Location>)>,
}

/// Runs this many steps. Prints the seed and each step, so that a failure can be reproduced.
pub(crate) async fn run(engine: Engine, seed: u64, steps: usize) {
    let mut run = Run {
        actual: Actual::new(engine).await,
        model: Model::default(),
        chance: Chance::new(seed),
        devices: Vec::new(),
        sent: Vec::new(),
    };
    for _ in 0..DEVICES {
        let device = run.actual.add_device().await;
        run.model.add_device(device);
        run.devices.push(device);
    }
    for step in 0..steps {
        println!("seed {seed}, step {step}");
        run.step().await;
        run.compare_some().await;
    }
    run.actual.restart().await;
    run.compare_all().await;
    let report = perigee_store::verify(&run.actual.store, &mut |_progress| {}).await.unwrap();
    assert!(report.is_sound(), "{:?}", report.damaged);
}

impl Run {
    fn device(&mut self) -> DeviceId {
        self.devices[self.chance.below(self.devices.len())]
    }

    async fn step(&mut self) {
        match self.chance.below(100) {
            0..35 => self.submit_fresh().await,
            35..55 => self.submit_late().await,
            55..65 => self.submit_again().await,
            65..75 => self.compact_some().await,
            75..80 => self.compact_all().await,
            80..84 => self.delete_range().await,
            84..86 => self.retire().await,
            86..89 => self.trim().await,
            89 => self.actual.restart().await,
            90 => self.actual.crash().await,
            91 => self.replace_device().await,
            92 => self.compare_all().await,
            _ => self.pass_time().await,
        }
    }

    /// Advances the clock. Like a running service, reads the clock afterwards, so that no time passes unnoticed
    /// before a restart.
    async fn pass_time(&mut self) {
        self.actual.clock().advance_seconds(self.chance.below_i64(900));
        self.actual.store.watch_clock().await.unwrap();
    }

    async fn submit(&mut self, device: DeviceId, batch: Vec<Location>) {
        let expected = self.model.submit(device, &batch, self.actual.now());
        let outcomes = self.actual.store.store_locations(&self.actual.actor(), device, batch.clone()).await;
        assert_eq!(outcomes.unwrap(), expected);
        self.sent.push((device, batch));
    }

    async fn submit_fresh(&mut self) {
        let device = self.device();
        let count = if self.chance.one_in(20) { 700 } else { 1 + self.chance.below(25) };
        let start = self.actual.now().plus_seconds(-i64::try_from(count).unwrap());
        let batch = (0..count).map(|second| {
            let time = start.plus_seconds(i64::try_from(second).unwrap());
            sample_location(&mut self.chance, time)
        });
        let batch = batch.collect();
        self.submit(device, batch).await;
        self.actual.clock().advance_seconds(self.chance.below_i64(30));
        self.actual.store.watch_clock().await.unwrap();
    }

    /// Few times and few positions, so that many locations are duplicates and many share a time.
    async fn submit_late(&mut self) {
        let device = self.device();
        let count = 1 + self.chance.below(40);
        let now = self.actual.now();
        let batch = (0..count).map(|_| {
            let back = 10 * self.chance.below_i64(400);
            let ahead = if self.chance.one_in(50) { 5_000 } else { 0 };
            let whole = Timestamp::from_millis(now.as_millis() / 10_000 * 10_000);
            sample_location(&mut self.chance, whole.plus_seconds(ahead - back))
        });
        let batch = batch.collect();
        self.submit(device, batch).await;
    }

    async fn submit_again(&mut self) {
        if self.sent.is_empty() {
            return;
        }
        let (device, batch) = self.sent[self.chance.below(self.sent.len())].clone();
        if self.devices.contains(&device) {
            self.submit(device, batch).await;
        }
    }

    async fn compact_some(&mut self) {
        let budget =
            CompactionBudget { devices: 1 + self.chance.below(2), everything: !self.chance.one_in(3) };
        self.actual.store.compact(budget).await.unwrap();
    }

    async fn compact_all(&mut self) {
        while self.actual.store.compact(ALL).await.unwrap().more {}
    }

    async fn delete_range(&mut self) {
        let device = self.device();
        let range = self.range();
        let expected = self.model.delete(device, range);
        let deleted = self.actual.store.delete_locations(&self.actual.actor(), device, range).await;
        assert_eq!(deleted.unwrap(), expected);
    }

    async fn retire(&mut self) {
        let before = self.actual.now().plus_seconds(-2_000 - self.chance.below_i64(3_000));
        let range = TimeRange { from: Timestamp::MIN, to: before.plus_millis(-1) };
        let one = self.chance.one_in(2).then(|| self.device());
        let devices = one.map_or_else(|| self.devices.clone(), |device| vec![device]);
        let expected: u64 = devices.iter().map(|device| self.model.delete(*device, range)).sum();
        let deleted = self.actual.store.apply_retention(self.actual.account, one, before).await;
        assert_eq!(deleted.unwrap(), expected);
    }

    async fn trim(&mut self) {
        self.compact_all().await;
        let keep_s = self.chance.below_i64(2_000);
        self.model.trim(self.actual.now().plus_seconds(-keep_s));
        self.actual.store.trim_location_log(keep_s * 1_000).await.unwrap();
    }

    async fn replace_device(&mut self) {
        let index = self.chance.below(self.devices.len());
        let old = self.devices[index];
        self.actual.store.delete_device(&self.actual.actor(), old, None).await.unwrap();
        self.model.remove_device(old);
        let new = self.actual.add_device().await;
        self.model.add_device(new);
        self.devices[index] = new;
    }

    fn range(&mut self) -> TimeRange {
        let now = self.actual.now();
        let from = now.plus_seconds(-self.chance.below_i64(5_000));
        TimeRange { from, to: from.plus_seconds(self.chance.below_i64(1_500)) }
    }

    /// Compares one read of each kind.
    async fn compare_some(&mut self) {
        let device = self.device();
        let order = if self.chance.one_in(2) { Order::Ascending } else { Order::Descending };
        let range = if self.chance.one_in(20) { TimeRange::ALL } else { self.range() };
        let limit = [7, 100, 1_000, 10_000][self.chance.below(4)];
        if limit > 7 || range != TimeRange::ALL {
            self.compare_history(device, HistoryRequest { range, order, after: None, limit }).await;
        }
        let last = self.actual.store.find_last_location(self.actual.actor().scope, device).await.unwrap();
        assert_eq!(last.map(bare), self.model.last(device).map(bare));
        if self.chance.one_in(25) {
            let feed: Vec<_> = self.actual.feed(500).await;
            assert!(feed.is_sorted_by_key(|(_, stored)| stored.number));
            let feed: Vec<_> = feed.into_iter().map(|(device, stored)| (device, bare(stored))).collect();
            let expected: Vec<_> =
                self.model.feed().iter().cloned().map(|(device, stored)| (device, bare(stored))).collect();
            assert!(feed == expected, "the feed has {} of {}", feed.len(), expected.len());
        }
    }

    async fn compare_history(&self, device: DeviceId, request: HistoryRequest) {
        let actual: Vec<_> = self.actual.history(device, request).await.into_iter().map(bare).collect();
        let expected: Vec<_> = self.model.history(device, &request).into_iter().map(bare).collect();
        let first = actual.iter().zip(&expected).find(|(actual, expected)| actual != expected);
        let counts = (actual.len(), expected.len());
        assert!(actual == expected, "{request:?} gave {counts:?}, first difference: {first:#?}");
    }

    async fn compare_all(&mut self) {
        for device in self.devices.clone() {
            for order in [Order::Ascending, Order::Descending] {
                let request = HistoryRequest { range: TimeRange::ALL, order, after: None, limit: 10_000 };
                self.compare_history(device, request).await;
            }
        }
        let scope = self.actual.actor().scope;
        let page = PageRequest::first(1_000);
        let last = self.actual.store.list_last_locations(scope, &LastFilter::default(), page).await.unwrap();
        let last: Vec<_> = last.items.into_iter().map(|(device, stored)| (device, bare(stored))).collect();
        let mut devices = self.devices.clone();
        devices.sort_unstable();
        let expected =
            devices.into_iter().filter_map(|device| Some((device, bare(self.model.last(device)?))));
        assert_eq!(last, expected.collect::<Vec<_>>());
    }
}

/// Without its number, which model and store do not share.
fn bare(stored: StoredLocation) -> StoredLocation {
    StoredLocation { number: 0, ..stored }
}

/// One of a few positions and readings at this time.
fn sample_location(chance: &mut Chance, time: Timestamp) -> Location {
    let kind = chance.below(12);
    // Some positions are close together, the others are too far away to be reached in the time.
    let number = f64::from(u32::try_from(kind).unwrap());
    let degrees = if kind < 6 { number / 1_000.0 } else { number };
    let readings = match kind {
        0..8 => Readings { speed: Milli::from_f64(number).ok(), ..Readings::default() },
        8..11 => Readings { source: Some(FixSource::Doppler), ..Readings::default() },
        _ => Readings { alerts: Some(vec!["SOSButton".into()]), ..Readings::default() },
    };
    Location {
        time,
        latitude: Latitude::from_degrees(degrees).unwrap(),
        longitude: Longitude::from_degrees(degrees).unwrap(),
        readings,
    }
}
