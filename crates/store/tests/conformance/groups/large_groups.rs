//! Groups that change by many devices: in slices that let others write, and yet whole or not at all.

use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::idempotency::Created;
use perigee_core::revision::Revision;
use perigee_core::store::{Devices as _, Groups as _, Maintenance as _};
use perigee_store::params;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{group_of, named};

/// More than two slices.
const MANY: usize = 600;

async fn fleet(on: &Fixture) -> (Tenant, Vec<DeviceId>) {
    let tenant = on.tenant("acme").await;
    let mut devices = Vec::new();
    for _ in 0..MANY {
        devices.push(on.device(&tenant, None).await);
    }
    devices.sort_unstable();
    (tenant, devices)
}

async fn count(on: &Fixture, sql: &'static str) -> i64 {
    let read =
        on.store.read(move |tx| Box::pin(async move { Ok(tx.query_one(sql, &[]).await?.i64("count")?) }));
    read.await.unwrap()
}

/// Members that are written down, shown or not, and changes that are under way.
async fn rows(on: &Fixture) -> (i64, i64) {
    let members = count(on, "SELECT COUNT(*) AS count FROM group_membership").await;
    (members, count(on, "SELECT COUNT(*) AS count FROM group_change").await)
}

/// How many changes of devices are in the event log.
async fn device_updates(on: &Fixture) -> i64 {
    count(on, "SELECT COUNT(*) AS count FROM event WHERE kind = 'device.updated'").await
}

pub(crate) async fn a_large_change_is_made_in_slices(on: Fixture) {
    let (tenant, devices) = fleet(&on).await;
    let jobs = || on.store.stats().jobs_committed;
    let before = jobs();
    let group = on.add_group(&tenant, group_of("many", &devices)).await;
    assert!(jobs() - before >= 8, "{} transactions", jobs() - before);
    assert_eq!(group, on.look_group(&tenant, group.id).await);
    assert_eq!(group.settings.devices, devices);
    assert_eq!(device_updates(&on).await, 600, "each device once");
    assert_eq!(on.look(&tenant, devices[0]).await.revision, Revision(2));
    assert_eq!(on.look(&tenant, devices[0]).await.settings.groups, [group.id]);

    on.clock().advance_seconds(1);
    let before = jobs();
    let some = group_of("some", &devices[..100]);
    let changed =
        on.store.replace_group(&tenant.actor(), group.id, group.revision, some.clone()).await.unwrap();
    assert!(jobs() - before >= 5, "{} transactions", jobs() - before);
    assert_eq!((&changed.settings, changed.revision), (&some, Revision(2)));
    assert_eq!(changed, on.look_group(&tenant, group.id).await);
    assert_eq!(on.look(&tenant, devices[0]).await.revision, Revision(2), "it stayed");
    let removed = on.look(&tenant, devices[MANY - 1]).await;
    assert_eq!(
        (removed.revision, removed.settings.groups, removed.last_modified),
        (Revision(3), vec![], on.now())
    );
    assert_eq!(device_updates(&on).await, 1_100);
    assert_eq!(rows(&on).await, (100, 0), "nothing is left of what was before");

    let all = group_of("many", &devices);
    let all = on.store.replace_group(&tenant.actor(), group.id, changed.revision, all).await.unwrap();
    let before = jobs();
    on.store.delete_group(&tenant.actor(), group.id, Some(all.revision)).await.unwrap();
    assert!(jobs() - before >= 4, "{} transactions", jobs() - before);
    assert_eq!(rows(&on).await, (0, 0));
    assert_eq!(on.look(&tenant, devices[300]).await.settings.groups, []);
    assert_eq!(device_updates(&on).await, 2_200);
    let updates = count(&on, "SELECT COUNT(*) AS count FROM event WHERE kind = 'group.updated'").await;
    let others = "SELECT COUNT(*) AS count FROM event WHERE kind IN ('group.created', 'group.deleted')";
    assert_eq!(
        (updates, count(&on, others).await),
        (2, 2),
        "each is announced once, however many slices it took"
    );
}

pub(crate) async fn a_large_change_that_fails_leaves_nothing(on: Fixture) {
    let (tenant, devices) = fleet(&on).await;
    let group = on.add_group(&tenant, group_of("few", &devices[..3])).await;
    let unknown = DeviceId::from_i64(devices[MANY - 1].as_i64() + 1);
    let bad = group_of("bad", &[&devices[..], &[unknown]].concat());
    let refused = on.store.replace_group(&tenant.actor(), group.id, group.revision, bad.clone()).await;
    assert_fails!(refused, StoreError::UnknownReference { kind: Kind::Device, .. });
    assert_fails!(
        on.store.create_group(&tenant.actor(), bad, None).await,
        StoreError::UnknownReference { kind: Kind::Device, .. }
    );
    let all = group_of("all", &devices);
    let stale = on.store.replace_group(&tenant.actor(), group.id, Revision(7), all).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::Group));
    assert_eq!(on.look_group(&tenant, group.id).await, group);
    assert_eq!((rows(&on).await, device_updates(&on).await), ((3, 0), 3));
}

pub(crate) async fn a_large_group_is_made_once(on: Fixture) {
    let (tenant, devices) = fleet(&on).await;
    let (actor, once) = (tenant.actor(), tenant.once("POST /api/groups", "key", 1));
    let request = || on.store.create_group(&actor, group_of("all", &devices), Some(once.clone()));
    let first = request().await.unwrap();
    assert!(matches!(first, Created::Now(_)), "it is the first");
    assert_eq!(request().await.unwrap(), Created::Before(first.into_inner()));
    assert_eq!(rows(&on).await, (i64::try_from(MANY).unwrap(), 0));
}

/// Shows an edition of the last hundred devices instead of all of them, as if the node had died right then.
async fn die_after_showing(on: &Fixture, tenant: &Tenant, group: GroupId, devices: &[DeviceId]) {
    let account = tenant.account.id;
    for device in &devices[MANY - 100..] {
        let sql =
            "INSERT INTO group_membership (account_id, group_id, edition, device_id) VALUES (?1, ?2, 5, ?3)";
        on.sql(sql, params![account, group, *device]).await;
    }
    on.sql("UPDATE device_group SET edition = 5, revision = 2 WHERE id = ?1", params![group]).await;
    let sql = "INSERT INTO group_change (account_id, group_id, edition, replaces, shown, after_device, creation) \
               VALUES (?1, ?2, 5, 0, TRUE, ?3, ?4)";
    on.sql(sql, params![account, group, i64::MIN, on.now()]).await;
}

pub(crate) async fn a_change_of_a_dead_node_is_finished(on: Fixture) {
    let (tenant, devices) = fleet(&on).await;
    let group = on.add_group(&tenant, group_of("all", &devices)).await;
    let updates_before = device_updates(&on).await;
    die_after_showing(&on, &tenant, group.id, &devices).await;
    assert_eq!(on.look_group(&tenant, group.id).await.settings.devices, devices[MANY - 100..]);

    // Whoever has read that the device is in the group cannot put it back by chance.
    let first = on.look(&tenant, devices[0]).await;
    assert_eq!((first.revision, &first.settings.groups), (Revision(2), &vec![]));
    let named = named("other");
    let stale = on.store.replace_device(&tenant.actor(), devices[0], Revision(2), named.clone()).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::Device));
    on.store.replace_device(&tenant.actor(), devices[0], Revision(3), named).await.unwrap();

    on.store.delete_expired().await.unwrap();
    assert_eq!(rows(&on).await, (100, 0));
    assert_eq!(on.look(&tenant, devices[0]).await.revision, Revision(4), "its change was noted already");
    assert_eq!(on.look(&tenant, devices[1]).await.revision, Revision(3));
    assert_eq!(on.look(&tenant, devices[MANY - 1]).await.revision, Revision(2));
    assert_eq!(device_updates(&on).await - updates_before, 500 + 1, "and one change of its own");
}

pub(crate) async fn members_that_were_never_shown_are_deleted(on: Fixture) {
    let (tenant, devices) = fleet(&on).await;
    let group = on.add_group(&tenant, group_of("few", &devices[..3])).await;
    let account = tenant.account.id;
    for device in &devices {
        let sql =
            "INSERT INTO group_membership (account_id, group_id, edition, device_id) VALUES (?1, ?2, 1, ?3)";
        on.sql(sql, params![account, group.id, *device]).await;
    }
    let sql = "INSERT INTO group_change (account_id, group_id, edition, replaces, shown, after_device, creation) \
               VALUES (?1, ?2, 1, -1, FALSE, ?3, ?4)";
    on.sql(sql, params![account, group.id, i64::MIN, on.now()]).await;
    on.store.delete_expired().await.unwrap();
    assert_eq!(rows(&on).await, (i64::try_from(MANY).unwrap() + 3, 1), "somebody may be writing it");
    on.clock().advance_seconds(11 * 60);
    on.store.delete_expired().await.unwrap();
    assert_eq!((rows(&on).await, on.look_group(&tenant, group.id).await), ((3, 0), group));
}
