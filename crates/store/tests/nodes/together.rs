//! Nodes that store into the same devices while one packs, one trims and one follows the feed.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use perigee_core::access::actor::Actor;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{CompactionBudget, Location, Outcome, StoredLocation};
use perigee_core::store::{LocationMaintenance as _, Locations as _};
use perigee_core::time::Timestamp;
use perigee_store::Database;

use crate::support::{Nodes, fix, follow, history, number};

const ROUNDS: i64 = 8;
const DEVICES: usize = 4;
const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };
const HOUR_MS: i64 = 60 * 60 * 1_000;

/// The locations that a node sends in a round: half of it is sent by another too, and some of it is late.
fn batches(start: Timestamp, round: i64, node: i64) -> Vec<Vec<Location>> {
    let base = start.plus_seconds(round * 600);
    let shared =
        (0..4).map(|part| (0..20).map(|second| fix(base.plus_seconds(part * 20 + second))).collect());
    let own = (0..3).map(|part| {
        let late = if part == 2 { -1_000_000 } else { 100 };
        (0..20).map(|second| fix(base.plus_seconds(late + node * 100 + part * 20 + second))).collect()
    });
    if node % 2 == 0 { shared.chain(own).collect() } else { own.chain(shared).collect() }
}

/// Sends to every device and gives how many were accepted.
async fn send(node: &Database, actor: &Actor, devices: &[DeviceId], batches: Vec<Vec<Location>>) -> usize {
    let mut accepted = 0;
    for batch in batches {
        let jobs = devices.iter().map(|device| node.store_locations(actor, *device, batch.clone()));
        for outcomes in join_all(jobs).await {
            accepted += outcomes.unwrap().into_iter().filter(|each| *each == Outcome::Accepted).count();
        }
    }
    accepted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_equal_a_model() {
    let nodes = Nodes::new(5).await;
    let [one, two, three, four, reader] = &nodes.all[..] else { unreachable!("five nodes") };
    let actor = nodes.account("acme").await;
    let mut devices = Vec::new();
    for _ in 0..DEVICES {
        devices.push(nodes.device(&actor).await);
    }
    let start = nodes.now().plus_seconds(-10_000);
    let mut model: BTreeMap<Timestamp, Location> = BTreeMap::new();
    let (mut accepted, mut packed, mut trimmed) = (0, 0, 0);
    let (mut cursor, mut followed) = (0, Vec::new());
    for round in 0..ROUNDS {
        let (first, second) = (batches(start, round, 1), batches(start, round, 2));
        model.extend(first.iter().chain(&second).flatten().map(|sent| (sent.time, sent.clone())));
        let storing =
            async { tokio::join!(send(one, &actor, &devices, first), send(two, &actor, &devices, second)) };
        let packing = async {
            let mut count = 0;
            for _ in 0..4 {
                count += three.compact(ALL).await.unwrap().locations;
            }
            count
        };
        let trimming = async {
            four.trim_location_log(HOUR_MS).await.unwrap() + four.trim_location_log(HOUR_MS).await.unwrap()
        };
        let following = async {
            let mut seen = Vec::new();
            for _ in 0..4 {
                seen.extend(follow(reader, &actor, &mut cursor).await);
            }
            seen
        };
        let ((by_one, by_two), moved, deleted, seen) = tokio::join!(storing, packing, trimming, following);
        accepted += by_one + by_two;
        packed += moved;
        trimmed += deleted;
        followed.extend(seen);
        followed.extend(follow(reader, &actor, &mut cursor).await);
        nodes.clock().advance_seconds(1_500);
    }
    assert!(packed > 0 && trimmed > 0, "packed {packed}, trimmed {trimmed}");
    assert_eq!(accepted, model.len() * DEVICES);
    compare(reader, &actor, &devices, &model, &followed).await;
    check_counters(reader).await;
}

async fn compare(
    node: &Database,
    actor: &Actor,
    devices: &[DeviceId],
    model: &BTreeMap<Timestamp, Location>,
    followed: &[(DeviceId, StoredLocation)],
) {
    let expected: Vec<&Location> = model.values().collect();
    assert!(followed.is_sorted_by(|before, after| before.1.number < after.1.number), "in order, none twice");
    for device in devices {
        let listed = history(node, actor, *device).await;
        assert_eq!(listed.iter().map(|stored| &stored.location).collect::<Vec<_>>(), expected);
        let number = |stored: &StoredLocation| stored.number;
        let of_device = followed.iter().filter(|(of, _)| of == device).map(|(_, stored)| number(stored));
        let listed_numbers: BTreeSet<i64> = listed.iter().map(number).collect();
        assert_eq!(of_device.collect::<BTreeSet<_>>(), listed_numbers, "the feed returned each");
        let last = node.find_last_location(actor.scope, *device).await.unwrap();
        assert_eq!(last.as_ref(), listed.last());
    }
}

/// The number of locations waiting to be packed is correct.
async fn check_counters(node: &Database) {
    let wrong = "SELECT COUNT(*) FROM device_live v WHERE v.unpacked <> (SELECT COALESCE(SUM(l.count), 0) \
                 FROM location_log l WHERE l.account_id = v.account_id AND l.device_id = v.device_id \
                 AND l.last_number > v.packed_to)";
    assert_eq!(number(node, wrong, &[]).await, 0);
}
