//! The same batch sent to two nodes at once is accepted once in sum and is in the feed once.

use futures_util::future::join_all;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{Location, Outcome};
use perigee_core::store::Locations as _;

use crate::support::{Nodes, fix, follow, history};

const ROUNDS: i64 = 30;
const BATCH: i64 = 25;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_accepted_once() {
    let nodes = Nodes::new(2).await;
    let actors = [nodes.account("alfa").await, nodes.account("beta").await];
    let mut devices = Vec::new();
    for actor in &actors {
        for _ in 0..2 {
            devices.push((actor, nodes.device(actor).await));
        }
    }
    let mut sent: Vec<Location> = Vec::new();
    for round in 0..ROUNDS {
        let start = nodes.now().plus_seconds(round * BATCH);
        let batch: Vec<Location> = (0..BATCH).map(|second| fix(start.plus_seconds(second))).collect();
        // One is in it twice, and one is of the round before.
        let twice = [&batch[..], &batch[..1], &sent[sent.len().saturating_sub(1)..]].concat();
        // Every device of every account by both nodes, one of them the other way round.
        let there = devices.iter().map(|to| (&nodes.all[0], *to));
        let back = devices.iter().rev().map(|to| (&nodes.all[1], *to));
        let jobs = there.chain(back).map(|(node, (actor, device))| {
            let batch = twice.clone();
            async move { (device, node.store_locations(actor, device, batch).await.unwrap()) }
        });
        let outcomes = join_all(jobs).await;
        for (_, device) in &devices {
            let of_device = |(of, _): &&(DeviceId, Vec<Outcome>)| of == device;
            let both: Vec<_> = outcomes.iter().filter(of_device).map(|(_, outcome)| outcome).collect();
            let [one, two] = both[..] else { unreachable!("two nodes") };
            let accepted: Vec<_> = one
                .iter()
                .zip(two)
                .map(|pair| <[_; 2]>::from(pair).into_iter().filter(|it| **it == Outcome::Accepted).count())
                .collect();
            let mut expected = vec![1; batch.len()];
            expected.resize(twice.len(), 0);
            assert_eq!(accepted, expected, "round {round}");
        }
        sent.extend(batch);
    }
    for actor in &actors {
        let feed = follow(&nodes.all[0], actor, &mut 0).await;
        assert!(feed.is_sorted_by(|one, two| one.1.number < two.1.number));
        for (_, device) in devices.iter().filter(|(of, _)| of.scope == actor.scope) {
            let of_device = feed.iter().filter(|(of, _)| of == device);
            let stored_locations: Vec<Location> =
                of_device.map(|(_, stored)| stored.location.clone()).collect();
            assert_eq!(stored_locations, sent);
            let listed = history(&nodes.all[1], actor, *device).await;
            assert_eq!(listed.into_iter().map(|stored| stored.location).collect::<Vec<_>>(), sent);
        }
    }
}
