//! How long audit entries, alerts and episodes of rules are kept.

use perigee_core::access::actor::Origin;
use perigee_core::access::audit::Refusals;
use perigee_core::accounts::retention::{DeletedRecords, RecordRetention};
use perigee_core::id::{AccountId, AlertId, DeviceId, RuleId};
use perigee_core::store::{Alerts as _, Audits as _, Maintenance as _};
use perigee_core::time::Timestamp;
use perigee_store::params;

use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, alert, named};

const DAY_MS: i64 = 86_400_000;

fn keeping(days: i64) -> RecordRetention {
    let keep = Some(days * DAY_MS);
    RecordRetention {
        audits_ms: keep,
        alerts_ms: keep,
        occurrences_ms: keep,
        messages_ms: keep,
        unused_messages_ms: None,
    }
}

async fn raise(on: &Fixture, tenant: &Tenant, device: DeviceId, name: &str) {
    on.store.store_alerts(&tenant.actor(), device, vec![alert(on.now(), name)]).await.unwrap();
}

async fn alerts(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<(String, AlertId)> {
    let listed = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items;
    listed.into_iter().map(|stored| (stored.alert.name, stored.id)).collect()
}

/// An episode of a rule row, over at this instant or under way.
async fn occurrence(
    on: &Fixture,
    tenant: &Tenant,
    device: DeviceId,
    alert: AlertId,
    ends: Option<Timestamp>,
) {
    let (account, rule, now) = (tenant.account.id, RuleId::random(on.now()), on.now());
    on.sql(
        "INSERT INTO rule (account_id, id, revision, generation, since, all_devices, settings, search, creation, last_modified)
         VALUES (?1, ?2, 1, 1, ?3, TRUE, '{}', '', ?3, ?3)",
        params![account, rule, now],
    )
    .await;
    on.sql(
        "INSERT INTO rule_occurrence (account_id, id, rule_id, generation, device_id, alert_id, begins, met, ends)
         VALUES (?1, ?2, ?3, 1, ?4, ?2, ?5, ?5, ?6)",
        params![account, alert, rule, device, now, ends],
    )
    .await;
}

async fn occurrences(on: &Fixture, account: AccountId) -> i64 {
    let sql = "SELECT COUNT(*) AS number FROM rule_occurrence WHERE account_id = ?1";
    let count = on.store.read(move |tx| {
        Box::pin(async move { Ok(tx.query_one(sql, params![account]).await?.i64("number")?) })
    });
    count.await.unwrap()
}

pub(crate) async fn records_are_kept_as_long_as_the_operator_says(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let device = on.add(&tenant, named("one")).await.id;
    for name in ["over", "under way"] {
        raise(&on, &tenant, device, name).await;
        on.clock().advance_seconds(1);
    }
    let stored = alerts(&on, &tenant, device).await;
    for (name, id) in &stored {
        occurrence(&on, &tenant, device, *id, (name == "over").then(|| on.now())).await;
    }
    on.clock().advance_seconds(2 * 86_400);
    raise(&on, &tenant, device, "new").await;
    on.user(&tenant, "ana").await;

    let nothing = DeletedRecords::default();
    assert_eq!(on.store.delete_old_records(RecordRetention::default()).await.unwrap(), nothing, "for ever");
    assert_eq!(on.store.delete_old_records(keeping(3)).await.unwrap(), nothing, "not old enough");
    let only = RecordRetention { alerts_ms: Some(DAY_MS), ..RecordRetention::default() };
    let deleted = on.store.delete_old_records(only).await.unwrap();
    assert_eq!(deleted, DeletedRecords { alerts: 1, ..nothing });
    let names: Vec<_> = alerts(&on, &tenant, device).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["under way", "new"], "a rule that holds keeps its alert");

    let old = on.audits(&tenant).await.len() + on.audits(&other).await.len() - 1;
    let deleted = on.store.delete_old_records(keeping(1)).await.unwrap();
    let audits = u64::try_from(old).unwrap();
    assert_eq!(deleted, DeletedRecords { audits, occurrences: 1, ..nothing });
    assert_eq!(on.audits(&tenant).await[0].action, "user.create");
    assert_eq!((on.audits(&tenant).await.len(), on.audits(&other).await.len()), (1, 0));
    assert_eq!(occurrences(&on, tenant.account.id).await, 1, "the one under way");
    assert_eq!(on.store.delete_old_records(keeping(1)).await.unwrap(), nothing);
}

pub(crate) async fn many_records_go_in_slices(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let refusals = (0..2_500).map(|number: i64| Refusals {
        account: tenant.account.id,
        kind: number.to_string(),
        origin: Origin::service(),
        action: "request.denied".into(),
        target: None,
        detail: None,
        count: 1,
        first_at: on.now(),
        last_at: on.now(),
    });
    let refusals: Vec<Refusals> = refusals.collect();
    // Several transactions, because one must end within the time limit of a write on a busy machine too.
    for part in refusals.chunks(250) {
        on.store.add_refusals(tenant.account.id, part.to_vec()).await.unwrap();
    }
    on.clock().advance_seconds(86_401);
    let deleted = on.store.delete_old_records(keeping(1)).await.unwrap();
    assert_eq!(deleted.audits, 2_502);
    assert_eq!(on.audits(&tenant).await, []);
}
