//! Tests that last locations in a separate table, as older versions stored them, move into the states of devices.

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::locations::location::{Latitude, Location, Longitude, Outcome, Readings};
use perigee_core::store::{Accounts as _, Devices as _, Locations as _};

use crate::Engine;
use crate::testing::{START, Scratch, new_account};

const MIGRATION: &str = include_str!("../../../../migrations/postgres/0025_one_state.sql");

/// Restores the tables of the previous version. One device loses its state, but must keep its last location.
const BEFORE: &str = "DROP VIEW last_location;
    CREATE TABLE last_location AS SELECT account_id, device_id, last_number AS number, last_time AS time,
        last_received_at AS received_at, last_latitude AS latitude, last_longitude AS longitude, last_late AS late,
        last_readings AS readings, last_checksum AS checksum
        FROM device_live WHERE last_number IS NOT NULL;
    ALTER TABLE device_live DROP COLUMN last_number, DROP COLUMN last_time, DROP COLUMN last_received_at,
        DROP COLUMN last_latitude, DROP COLUMN last_longitude, DROP COLUMN last_late, DROP COLUMN last_readings,
        DROP COLUMN last_checksum;
    DELETE FROM device_live WHERE device_id = (SELECT MAX(id) FROM device);";

fn fix(second: i64) -> Location {
    Location {
        time: START.plus_seconds(second),
        latitude: Latitude::from_e7(1),
        longitude: Longitude::from_e7(7),
        readings: Readings::default(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn last_locations_are_kept() {
    let scratch = Scratch::new(Engine::Postgres).await;
    let store = scratch.open().await;
    let new = new_account(3);
    let actor = Actor::operator(store.create_account(&Origin::command(), new).await.unwrap().0.id);
    let mut devices = Vec::new();
    for second in 0..3 {
        let settings = DeviceSettings { name: "device".into(), ..DeviceSettings::default() };
        let device = store.create_device(&actor, settings, None).await.unwrap().into_inner().id;
        // The first device has none.
        if second > 0 {
            store.store_locations(&actor, device, vec![fix(second)]).await.unwrap();
        }
        devices.push((device, store.find_last_location(actor.scope, device).await.unwrap()));
    }
    drop(store);
    scratch.run(BEFORE).await;
    scratch.run(MIGRATION).await;
    let store = scratch.open().await;
    for (device, last) in &devices {
        assert_eq!(store.find_last_location(actor.scope, *device).await.unwrap(), *last);
    }
    // Each continues from there.
    for (device, _) in devices {
        let later = store.store_locations(&actor, device, vec![fix(60)]).await.unwrap();
        assert_eq!(later, [Outcome::Accepted]);
        let last = store.find_last_location(actor.scope, device).await.unwrap().unwrap();
        assert_eq!(last.location.time, START.plus_seconds(60));
    }
}
