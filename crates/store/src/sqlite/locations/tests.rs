//! Behaviour that only shows when several devices share a commit, which no public call can force.

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Origin, Reach};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{
    CompactionBudget, HistoryRequest, Latitude, Location, Longitude, Order, Outcome, Readings, TimeRange,
};
use perigee_core::store::{
    Accounts as _, Devices as _, Events as _, LocationMaintenance as _, Locations as _,
};

use super::compact::{pack, write};
use super::device_state::{DeviceEntry, ENTRIES_MAX};
use super::feed::EXAMINED_MAX;
use super::ingest::ingest;
use super::save::save_all;
use super::unpacked::{FULL_CHUNK, Owner};
use crate::sql::locations::{Submission, exclude_changes};
use crate::testing::{START, Scratch, new_account};
use crate::{Database, Engine};

const ALL: CompactionBudget = CompactionBudget { devices: 10, everything: true };

/// A store with two devices, the one with the lower id first.
struct Two {
    scratch: Scratch,
    store: Database,
    actor: Actor,
    devices: [DeviceId; 2],
}

impl Two {
    async fn new() -> Self {
        let scratch = Scratch::new(Engine::Sqlite).await;
        let store = scratch.open().await;
        let new = new_account(2);
        let actor = Actor::operator(store.create_account(&Origin::command(), new).await.unwrap().0.id);
        let mut devices = [DeviceId::from_i64(0); 2];
        for device in &mut devices {
            let settings = DeviceSettings { name: "tracker".into(), ..DeviceSettings::default() };
            *device = store.create_device(&actor, settings, None).await.unwrap().into_inner().id;
        }
        devices.sort_unstable();
        Self { scratch, store, actor, devices }
    }

    /// Stores what both devices sent in one commit.
    async fn store(&self, tracks: [Vec<Location>; 2]) -> [Vec<Outcome>; 2] {
        let memory = self.store.sqlite_memory().unwrap().clone();
        let both = self.devices.iter().zip(tracks);
        let both: Vec<_> =
            both.map(|(device, track)| Submission::new(self.actor.scope, *device, &track)).collect();
        let job = self.store.write(move |tx| async move { ingest(tx, &memory, &both).await }.boxed());
        let [one, other] = job.await.unwrap().results.try_into().unwrap();
        [one.unwrap(), other.unwrap()]
    }

    /// Stores what the first device sent.
    async fn send(&self, track: Vec<Location>) -> Vec<Outcome> {
        let [outcomes, _] = self.store([track, Vec::new()]).await;
        outcomes
    }

    /// Whether a location of the first device and of this second would be looked for in chunks.
    fn may_be_packed(&self, second: i64) -> bool {
        let states = self.store.sqlite_memory().unwrap().device_states();
        let entry = states.get((self.actor.scope.account, self.devices[0])).unwrap();
        entry.packed().may_contain(START.plus_seconds(second))
    }

    async fn reopen(&mut self) {
        self.store.close().await;
        self.store = self.scratch.open().await;
    }

    async fn history(&self, device: DeviceId) -> usize {
        let range = TimeRange::ALL;
        let request = HistoryRequest { range, order: Order::Ascending, after: None, limit: 10_000 };
        self.store.list_locations(self.actor.scope, device, request).await.unwrap().items.len()
    }
}

fn track(count: usize) -> Vec<Location> {
    (0..i64::try_from(count).unwrap()).map(at).collect()
}

/// A location this many seconds after the start.
fn at(second: i64) -> Location {
    Location {
        time: START.plus_seconds(second),
        latitude: Latitude::from_e7(1),
        longitude: Longitude::from_e7(1),
        readings: Readings::default(),
    }
}

/// A log row whose first part is packed and whose second is not: the first must not be unpacked again after replay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_is_needed_in_part_is_read_in_part() {
    let mut two = Two::new().await;
    two.store([track(FULL_CHUNK), track(5)]).await;
    let ordinary = CompactionBudget { devices: 10, everything: false };
    assert_eq!(two.store.compact(ordinary).await.unwrap().devices, 1);
    two.reopen().await;
    assert_eq!(two.store.sqlite_memory().unwrap().unpacked().count(), 5, "the rest is in a chunk");
    two.store.compact(ALL).await.unwrap();
    let sql = "SELECT CAST(SUM(count) AS BIGINT) AS count FROM location_chunk";
    let stored =
        two.store.read(move |tx| async move { Ok(tx.query_one(sql, &[]).await?.i64("count")?) }.boxed());
    assert_eq!(stored.await.unwrap(), i64::try_from(FULL_CHUNK + 5).unwrap());
    assert_eq!(two.history(two.devices[0]).await, FULL_CHUNK);
    assert_eq!(two.history(two.devices[1]).await, 5);
}

/// Evicting other devices must not evict those that the running commit relies on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eviction_spares_the_devices_of_the_commit() {
    let mut two = Two::new().await;
    two.store([track(20), track(20)]).await;
    two.store.compact(ALL).await.unwrap();
    two.reopen().await;
    let nobody =
        |id: usize| -> Owner { (AccountId::from_i64(-1), DeviceId::from_i64(i64::try_from(id).unwrap())) };
    {
        let mut states = two.store.sqlite_memory().unwrap().device_states_mut();
        let evictions = states.evictions();
        for id in 0..ENTRIES_MAX {
            states.put_read(evictions, nobody(id), DeviceEntry::default());
        }
        assert!(states.is_over_capacity());
    }
    let again = two.store([track(10), track(10)]).await;
    assert_eq!(again, [vec![Outcome::Duplicate; 10], vec![Outcome::Duplicate; 10]]);
    for device in two.devices {
        let last = two.store.find_last_location(two.actor.scope, device).await.unwrap().unwrap();
        assert_eq!(last.location, track(20)[19], "what is older does not move it");
    }
    assert!(
        !two.store.sqlite_memory().unwrap().device_states().is_over_capacity(),
        "and the others are evicted"
    );
}

/// Erased locations must not be written again by a save at the same time.
#[tokio::test]
async fn nothing_is_saved_while_locations_are_erased() {
    let two = Two::new().await;
    two.store([track(1), track(1)]).await;
    let memory = two.store.sqlite_memory().unwrap().clone();
    let erasing = exclude_changes(&two.store).await;
    let saving = tokio::spawn({
        let (store, memory) = (two.store.clone(), memory.clone());
        async move { save_all(&store, &memory).await }
    });
    // The save runs until it blocks, and the writer until its queue is empty.
    tokio::task::yield_now().await;
    two.store.write(|_tx| async { Ok(()) }.boxed()).await.unwrap();
    assert!(memory.device_states().unsaved_from().is_some(), "it waits");
    drop(erasing);
    saving.await.unwrap().unwrap();
    assert_eq!(memory.device_states().unsaved_from(), None);
}

/// Events are requested in parts, whatever the rows of the log they are read from.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_a_commit_come_in_parts() {
    let two = Two::new().await;
    for count in [30, 60] {
        two.store([track(count), track(count)]).await;
    }
    let all = two.store.list_events(two.actor.scope, 0, 1_000).await.unwrap();
    assert!(all.len() > 120);
    let (mut parts, mut after) = (Vec::new(), 0);
    loop {
        let part = two.store.list_events(two.actor.scope, after, 7).await.unwrap();
        let Some(last) = part.last() else { break };
        after = last.number;
        parts.extend(part);
    }
    assert_eq!(parts, all);
}

/// A reader finds its own locations also behind more of others than one call examines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_behind_many_of_others_are_found() {
    let two = Two::new().await;
    for part in track(EXAMINED_MAX + 1).chunks(EXAMINED_MAX / 16) {
        two.store([part.to_vec(), Vec::new()]).await;
    }
    two.store([Vec::new(), track(5)]).await;
    let scope = two.actor.scope.limited_to(Reach::Device(two.devices[1]));
    let events = two.store.list_events(scope, 0, 1_000).await.unwrap();
    let locations = events.iter().filter(|event| event.kind == EventKind::LocationCreated);
    assert_eq!(locations.count(), 5);
}

/// Locations sent after an outage are looked up in chunks once, until some of them are packed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_locations_in_a_gap_are_looked_for_once() {
    let mut two = Two::new().await;
    two.send((0..100).chain(1_000..1_100).map(at).collect()).await;
    two.store.compact(ALL).await.unwrap();
    assert!(two.may_be_packed(200));
    assert_eq!(two.send(vec![at(200)]).await, [Outcome::Accepted]);
    for (second, may_be_packed) in [(99, true), (100, false), (300, false), (999, false), (1_000, true)] {
        assert_eq!(two.may_be_packed(second), may_be_packed, "{second}");
    }
    assert_eq!(two.send(vec![at(300), at(200), at(99)]).await, {
        [Outcome::Accepted, Outcome::Duplicate, Outcome::Duplicate]
    });
    two.store.compact(ALL).await.unwrap();
    assert!(two.may_be_packed(300), "the gap is no longer one");
    assert_eq!(two.send(vec![at(200), at(300)]).await, [Outcome::Duplicate; 2]);
    assert_eq!(two.send(vec![at(250)]).await, [Outcome::Accepted]);
    let packed = [199, 200, 201, 299, 300, 301].map(|second| two.may_be_packed(second));
    assert_eq!(packed, [true, true, false, false, true, true], "the gap is smaller");
    two.reopen().await;
    assert_eq!(two.send(vec![at(200), at(250), at(300)]).await, [Outcome::Duplicate; 3]);
    assert_eq!(two.history(two.devices[0]).await, 203);
}

/// A gap may lie between two chunks, whose bytes are then not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gap_lies_between_chunks() {
    let two = Two::new().await;
    let full = i64::try_from(FULL_CHUNK).unwrap();
    for begin in [0, 2 * full, 4 * full] {
        two.send((begin..begin + full).map(at).collect()).await;
        two.store.compact(ALL).await.unwrap();
    }
    assert_eq!(two.send(vec![at(3 * full + 5)]).await, [Outcome::Accepted]);
    let packed = [full, 3 * full - 1, 3 * full, 4 * full - 1, 4 * full];
    assert_eq!(packed.map(|second| two.may_be_packed(second)), [true, true, false, false, true]);
}

/// Locations that are packed and sent again in one commit are in memory until it ends, and in no gap afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_location_packed_in_the_same_commit_is_a_duplicate() {
    let two = Two::new().await;
    two.send((0..100).chain(1_000..1_100).map(at).collect()).await;
    two.store.compact(ALL).await.unwrap();
    two.send(vec![at(200)]).await;
    let (memory, scope, device) =
        (two.store.sqlite_memory().unwrap().clone(), two.actor.scope, two.devices[0]);
    let job = two.store.write(move |tx| {
        async move {
            let owner = (scope.account, device);
            let unpacked = memory.unpacked().first_arrived(owner, usize::MAX);
            write(tx, &memory, pack(tx, vec![(owner, unpacked)]).await?).await?;
            let again = [Submission::new(scope, device, &[at(200), at(250)])];
            ingest(tx, &memory, &again).await
        }
        .boxed()
    });
    let outcomes = job.await.unwrap().results.pop().unwrap().unwrap();
    assert_eq!(outcomes, [Outcome::Duplicate, Outcome::Accepted]);
    assert!(two.may_be_packed(200));
    assert_eq!(two.send(vec![at(200), at(250)]).await, [Outcome::Duplicate; 2]);
    assert_eq!(two.history(device).await, 202);
}

/// A chunk that cannot be read has no gap.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_chunk_has_no_gap() {
    let two = Two::new().await;
    two.send((0..100).chain(1_000..1_100).map(at).collect()).await;
    two.store.compact(ALL).await.unwrap();
    let damage = "UPDATE location_chunk SET points = zeroblob(length(points))";
    two.store.write(move |tx| async move { Ok(tx.execute(damage, &[]).await?) }.boxed()).await.unwrap();
    assert_eq!(two.send(vec![at(200)]).await, [Outcome::Accepted]);
    assert!(two.may_be_packed(200) && two.may_be_packed(300));
}
