//! A device that is deleted by one node while another stores for it leaves nothing behind.

use futures_util::future::join;
use perigee_core::error::{Kind, StoreError};
use perigee_core::locations::location::{Location, Outcome};
use perigee_core::store::{Devices as _, Locations as _};
use perigee_store::params;

use crate::support::{Holder, Nodes, fix, follow, lock, waiting_for};

const TABLES: [&str; 4] = ["location_log", "location_chunk", "last_location", "device_live"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_submissions_are_refused() {
    let nodes = Nodes::new(2).await;
    let [node, other] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    let (deleted, stays) = (nodes.device(&actor).await, nodes.device(&actor).await);
    let before = vec![fix(nodes.now().plus_seconds(-9))];
    node.store_locations(&actor, deleted, before).await.unwrap();
    let account = actor.scope.account;
    let delete = ("DELETE FROM device WHERE account_id = ?1 AND id = ?2", params![account, deleted].to_vec());
    let holder = Holder::new(other, vec![lock(account), delete]).await;
    let send = |device| {
        let (node, actor, batch) = (node.clone(), actor.clone(), vec![fix(nodes.now())]);
        tokio::spawn(async move { node.store_locations(&actor, device, batch).await })
    };
    let (refused, stored) = (send(deleted), send(stays));
    let over = || refused.is_finished() && stored.is_finished();
    assert!(waiting_for(other, holder.pid, over).await.is_some());
    holder.let_go().await;
    let refused = refused.await.unwrap();
    assert!(matches!(refused, Err(StoreError::NotFound(Kind::Device))), "{refused:?}");
    assert_eq!(stored.await.unwrap().unwrap(), [Outcome::Accepted]);
    for table in TABLES {
        assert_eq!(nodes.rows(table, deleted).await, 0, "{table}");
    }
    assert_eq!(nodes.rows("location_log", stays).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_first_nothing_is_half_stored() {
    let nodes = Nodes::new(2).await;
    let [node, other] = &nodes.all[..] else { unreachable!("two nodes") };
    let actor = nodes.account("acme").await;
    for round in 0..20 {
        let device = nodes.device(&actor).await;
        let batch: Vec<Location> = (0..40).map(|second| fix(nodes.now().plus_seconds(second))).collect();
        let count = batch.len();
        let store = node.store_locations(&actor, device, batch);
        let delete = other.delete_device(&actor, device, None);
        // Polled first, one of them gets there first.
        let (stored, deleted) = if round % 2 == 0 {
            join(store, delete).await
        } else {
            let (deleted, stored) = join(delete, store).await;
            (stored, deleted)
        };
        deleted.unwrap();
        match stored {
            Ok(outcomes) => assert_eq!(outcomes, vec![Outcome::Accepted; count]),
            Err(error) => assert!(matches!(error, StoreError::NotFound(Kind::Device)), "{error}"),
        }
        for table in TABLES {
            assert_eq!(nodes.rows(table, device).await, 0, "{table}");
        }
    }
    assert_eq!(follow(node, &actor, &mut 0).await, []);
}
