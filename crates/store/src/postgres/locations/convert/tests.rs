//! Tests that a log with one row for each location, as older versions wrote it, is packed.

use std::fmt::Write as _;

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Origin};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{
    CompactionBudget, HistoryRequest, Latitude, Location, Longitude, Order, Outcome, Readings,
    StoredLocation, TimeRange,
};
use perigee_core::store::{
    Accounts as _, Devices as _, LocationMaintenance as _, Locations as _, Metrics as _,
};

use super::pack_rows;
use crate::codec::{Point, PointRef};
use crate::postgres::locations::{LOG_COLUMNS, LogRow};
use crate::postgres::pool;
use crate::sql::identity::Identity;
use crate::testing::{START, Scratch, new_account};
use crate::url::DatabaseAddress;
use crate::{Database, Engine};

const ALL: CompactionBudget = CompactionBudget { devices: 10, everything: true };
const HISTORY: HistoryRequest =
    HistoryRequest { range: TimeRange::ALL, order: Order::Ascending, after: None, limit: 10_000 };
/// The table as the first version made it, but not in partitions, under the name that the migration gives it.
const UNPACKED: &str = "CREATE TABLE location_log_unpacked (
    number BIGINT NOT NULL, account_id BIGINT NOT NULL, device_id BIGINT NOT NULL, time BIGINT NOT NULL,
    received_at BIGINT NOT NULL, latitude INTEGER NOT NULL, longitude INTEGER NOT NULL, late BOOLEAN NOT NULL,
    suspect BOOLEAN NOT NULL, hash BYTEA NOT NULL, readings BYTEA NOT NULL,
    PRIMARY KEY (account_id, device_id, time, hash));
    DELETE FROM location_log;";

fn track(seconds: std::ops::Range<i64>) -> Vec<Location> {
    let location = |second| Location {
        time: START.plus_seconds(second),
        latitude: Latitude::from_e7(i32::try_from(second).unwrap()),
        longitude: Longitude::from_e7(7),
        readings: Readings::default(),
    };
    seconds.map(location).collect()
}

async fn account(store: &Database) -> Actor {
    let new = new_account(2);
    Actor::operator(store.create_account(&Origin::command(), new).await.unwrap().0.id)
}

/// Every location of the log, in its order.
async fn logged(store: &Database) -> Vec<(DeviceId, Point)> {
    let job = store.read(|tx| {
        async move {
            let sql = format!("SELECT {LOG_COLUMNS} FROM location_log ORDER BY account_id, last_number");
            let mut points = Vec::new();
            for row in tx.query(&sql, &[]).await? {
                let of_row = LogRow::of(&row)?.points().expect("the row is sound");
                points.extend(of_row.into_iter().map(|point| (point.device, PointRef::to_point(point))));
            }
            Ok(points)
        }
        .boxed()
    });
    job.await.unwrap()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The statement that writes a location as the older version did.
fn insert(actor: &Actor, device: DeviceId, point: &Point) -> String {
    format!(
        "INSERT INTO location_log_unpacked VALUES ({}, {}, {}, {}, {}, {}, {}, {}, {}, '\\x{}', '\\x{}');",
        point.number,
        actor.scope.account.as_i64(),
        device.as_i64(),
        point.time.as_millis(),
        point.received_at.as_millis(),
        point.latitude.as_e7(),
        point.longitude.as_e7(),
        point.trust.late,
        point.trust.suspect,
        hexadecimal(&Identity::of_point(point).hash),
        hexadecimal(&point.readings),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_reads_as_before_and_a_damaged_location_is_set_aside() {
    let scratch = Scratch::new(Engine::Postgres).await;
    let store = scratch.open().await;
    let actor = account(&store).await;
    let mut devices = Vec::new();
    for _ in 0..2 {
        let settings = DeviceSettings { name: "tracker".into(), ..DeviceSettings::default() };
        devices.push(store.create_device(&actor, settings, None).await.unwrap().into_inner().id);
    }
    let send = async |device: DeviceId, seconds: std::ops::Range<i64>| {
        store.store_locations(&actor, device, track(seconds)).await.unwrap()
    };
    // Packed locations, unpacked ones, and single locations of two devices in turn.
    send(devices[0], 0..50).await;
    store.compact(ALL).await.unwrap();
    send(devices[0], 100..120).await;
    for second in 200..210 {
        scratch.clock().advance_seconds(1);
        for device in &devices {
            send(*device, second..second + 1).await;
        }
    }
    let before = logged(&store).await;
    assert_eq!(before.len(), 50 + 20 + 20);
    let (_, damaged) = before.last().unwrap().clone();
    let mut script = UNPACKED.to_owned();
    for (device, point) in &before {
        script += &insert(&actor, *device, point);
    }
    let _ = write!(
        script,
        "UPDATE location_log_unpacked SET latitude = latitude + 4 WHERE number = {}",
        damaged.number
    );
    scratch.run(&script).await;
    assert_eq!(logged(&store).await, []);

    let DatabaseAddress::Postgres(address) = &scratch.url().0 else { unreachable!("it is PostgreSQL") };
    let mut client = pool::connect(address).await.unwrap();
    let tx = client.transaction().await.unwrap();
    pack_rows(&tx).await.unwrap();
    tx.commit().await.unwrap();

    assert_eq!(logged(&store).await, before[..before.len() - 1]);
    assert_eq!(store.damage_metrics().await.unwrap().set_aside, 1);
    let feed = store.list_location_feed(actor.scope, 0, 1_000).await.unwrap();
    let numbers: Vec<i64> = feed.items.iter().map(|(_, stored)| stored.number).collect();
    assert_eq!(numbers, before[..before.len() - 1].iter().map(|(_, point)| point.number).collect::<Vec<_>>());
    for (device, count) in [(devices[0], 80), (devices[1], 9)] {
        let history = store.list_locations(actor.scope, device, HISTORY).await.unwrap().items;
        assert_eq!(history.len(), count);
        let again: Vec<Location> =
            history.into_iter().map(|StoredLocation { location, .. }| location).collect();
        let outcomes = store.store_locations(&actor, device, again).await.unwrap();
        assert_eq!(outcomes, vec![Outcome::Duplicate; count]);
    }
    assert_eq!(store.compact(ALL).await.unwrap().locations, 20 + 10 + 9, "what was in no chunk");
    assert_eq!(store.compact(ALL).await.unwrap().locations, 0);
    let history = store.list_locations(actor.scope, devices[0], HISTORY).await.unwrap().items;
    assert_eq!(history.len(), 80);
}
