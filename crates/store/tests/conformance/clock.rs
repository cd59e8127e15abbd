//! The store's clock is set ahead or back: nothing waits it out, and nothing is deleted because of it.

use perigee_core::accounts::account::AccountSettings;
use perigee_core::devices::device::DeviceStatus;
use perigee_core::locations::location::CompactionBudget;
use perigee_core::notifications::notification::{Channel, SendOutcome};
use perigee_core::notifications::overview::{Frequency, OverviewSettings};
use perigee_core::revision::Revision;
use perigee_core::store::{
    AccountLease, Accounts as _, Credentials as _, Devices as _, Events as _, LocationMaintenance as _,
    Locations as _, Maintenance as _, Outbox as _, Overviews as _, RuleEngineStore as _, WebhookWork as _,
};
use perigee_core::webhooks::webhook::AttemptOutcome;
use perigee_store::params;

use crate::access::credentials::session;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{EVERYTHING, fix, named, until};
use crate::webhooks;

const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 24 * HOUR_S;
const DAY_MS: i64 = DAY_S * 1_000;
const CLAIM_MS: i64 = 600_000;
const NODE: AccountLease<'_> = AccountLease { owner: "node", duration_ms: 10_000 };
const OTHER: AccountLease<'_> = AccountLease { owner: "other", ..NODE };
const ALL: CompactionBudget = CompactionBudget { devices: 100, everything: true };

/// Sets the clock ahead, and has the store notice.
async fn step(on: &Fixture, seconds: i64) {
    on.clock().step_seconds(seconds);
    on.store.watch_clock().await.unwrap();
}

pub(crate) async fn a_lease_of_a_clock_ahead_is_over(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let follow = async |lease| on.store.lease_account(tenant.account.id, lease).await.unwrap().is_some();
    on.clock().step_seconds(HOUR_S);
    assert!(follow(NODE).await);
    assert!(!follow(OTHER).await, "it is leased");
    // Even before anybody notices the step.
    on.clock().step_seconds(-HOUR_S);
    assert!(follow(OTHER).await);
    assert!(!follow(NODE).await);
    on.clock().advance_seconds(10);
    assert!(follow(NODE).await);
}

pub(crate) async fn a_restart_after_a_step_back_goes_on(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.device(&tenant, None).await;
    step(&on, HOUR_S).await;
    let sql = "INSERT INTO device_watch (account_id, device_id, status, due) VALUES (?1, ?2, ?3, ?4)";
    let (offline, due) = (DeviceStatus::Offline.name(), on.now().plus_seconds(900));
    on.sql(sql, params![tenant.account.id, device, offline, due]).await;
    on.clock().step_seconds(-HOUR_S);
    on.restart().await;
    assert_eq!(on.store.accounts_with_work().await.unwrap(), []);
    on.clock().advance_seconds(900);
    assert_eq!(on.store.accounts_with_work().await.unwrap(), [tenant.account.id]);
}

pub(crate) async fn deliveries_do_not_wait_out_a_step_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let webhook = webhooks::make(&on, &tenant).await;
    webhooks::queue(&on, &webhook, &["retried", "lent"]).await;
    step(&on, HOUR_S).await;
    let lent = webhooks::work(&on, &webhook, Vec::new(), 2).await;
    let failed = webhooks::settled(&lent[0], AttemptOutcome::Retry { wait_ms: 5_000, all: true });
    webhooks::work(&on, &webhook, vec![failed], 0).await;
    step(&on, -HOUR_S).await;
    assert_eq!(on.store.webhooks_due().await.unwrap(), [], "the back-off holds");
    on.clock().advance_seconds(5);
    assert_eq!(on.store.webhooks_due().await.unwrap(), [(tenant.account.id, webhook.id)]);
    assert_eq!(webhooks::work(&on, &webhook, Vec::new(), 9).await.len(), 1);
    on.clock().advance_seconds(55);
    let free = webhooks::work(&on, &webhook, Vec::new(), 9).await;
    assert_eq!(free[0].id, lent[1].id, "what was lent then is free again");
}

pub(crate) async fn messages_do_not_wait_out_a_step_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, perigee_core::accounts::limits::Limits::default()).await;
    step(&on, HOUR_S).await;
    on.raise(&tenant, device, "RPM").await;
    for channel in [Channel::EMAIL, Channel::SMS] {
        let held = on.reserve_all(channel).await;
        assert_eq!(held.len(), 1, "{channel:?}");
        on.settle_all(&held, &SendOutcome::RetryLater { reason: "busy".into(), wait: None }).await;
    }
    let wait_ms = async |channel| {
        let next = on.store.next_due(channel).await.unwrap().expect("something waits");
        next.as_millis() - on.now().as_millis()
    };
    let (email, sms) = (wait_ms(Channel::EMAIL).await, wait_ms(Channel::SMS).await);
    step(&on, -HOUR_S).await;
    assert_eq!((wait_ms(Channel::EMAIL).await, wait_ms(Channel::SMS).await), (email, sms));
}

pub(crate) async fn reports_do_not_wait_out_a_step_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let daily = OverviewSettings { frequency: Frequency::Daily, ..OverviewSettings::default() };
    on.store.replace_overview(&tenant.actor(), Revision(0), daily).await.unwrap();
    on.clock().advance_seconds(2 * DAY_S);
    step(&on, 300).await;
    assert!(on.store.claim_overview(CLAIM_MS).await.unwrap().is_some());
    step(&on, -300).await;
    on.clock().advance_seconds(600);
    assert!(
        on.store.claim_overview(CLAIM_MS).await.unwrap().is_some(),
        "the claim ended when it was meant to"
    );
}

pub(crate) async fn expiries_are_announced_after_a_step_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    step(&on, 30 * DAY_S).await;
    on.store.announce_expiries().await.unwrap();
    step(&on, -30 * DAY_S).await;
    let device = on.add(&tenant, until("one", "2026-01-03")).await;
    assert_eq!(on.store.announce_expiries().await.unwrap().len(), 1, "it is near");
    on.clock().set(device.expires.unwrap());
    assert_eq!(on.store.announce_expiries().await.unwrap().len(), 1, "it has come");
}

pub(crate) async fn few_locations_are_packed_after_a_step_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    step(&on, HOUR_S).await;
    on.store.store_locations(&tenant.actor(), device, vec![fix(on.now(), 1.0)]).await.unwrap();
    step(&on, -HOUR_S).await;
    // Locations are packed every second: at once on SQLite, after an hour on PostgreSQL.
    let few = CompactionBudget { devices: 100, everything: false };
    let at_once = on.store.compact(few).await.unwrap().locations;
    on.clock().advance_seconds(HOUR_S + 1);
    assert_eq!(at_once + on.store.compact(few).await.unwrap().locations, 1);
}

/// Something of each kind that goes with age.
async fn fill(on: &Fixture) -> Tenant {
    let tenant = on.tenant("acme").await;
    let account = on.store.find_account(tenant.account.id).await.unwrap().unwrap();
    let settings = AccountSettings { retention_days: Some(7), ..account.settings };
    on.store.replace_account(&tenant.actor(), account.revision, settings).await.unwrap();
    let device = on.limited(&tenant, perigee_core::accounts::limits::Limits::default()).await;
    on.store.store_locations(&tenant.actor(), device, vec![fix(on.now(), 1.0)]).await.unwrap();
    on.raise(&tenant, device, "RPM").await;
    for channel in [Channel::EMAIL, Channel::SMS] {
        let held = on.reserve_all(channel).await;
        on.settle_all(&held, &SendOutcome::Sent { reference: None }).await;
    }
    session(on, &tenant.owner, 1).await;
    let webhook = webhooks::make(on, &tenant).await;
    webhooks::queue(on, &webhook, &["delivered", "waiting"]).await;
    let lent = webhooks::work(on, &webhook, Vec::new(), 2).await;
    webhooks::work(on, &webhook, vec![webhooks::settled(&lent[0], AttemptOutcome::Delivered)], 0).await;
    // All of the log was read.
    on.sql("UPDATE webhook SET read_to = 1000000", &[]).await;
    while on.store.compact(ALL).await.unwrap().more {}
    tenant
}

/// How much goes of each kind, with the age at which each goes.
async fn delete_old(on: &Fixture) -> [u64; 6] {
    [
        // On PostgreSQL locations that are retired are deleted from the log too.
        on.store.trim_location_log(3 * DAY_MS).await.unwrap(),
        on.store.delete_expired_locations().await.unwrap(),
        on.store.trim_events(3 * DAY_MS).await.unwrap(),
        on.store.trim_deliveries(7 * DAY_MS).await.unwrap(),
        on.store.trim_notifications(7 * DAY_MS).await.unwrap(),
        on.store.delete_expired().await.unwrap(),
    ]
}

pub(crate) async fn a_clock_ahead_deletes_nothing(mut on: Fixture) {
    let tenant = fill(&on).await;
    on.clock().step_seconds(30 * DAY_S);
    assert_eq!(delete_old(&on).await, [0; 6]);
    // Nor after a start.
    on.restart().await;
    assert_eq!(delete_old(&on).await, [0; 6]);
    on.clock().advance_seconds(HOUR_S);
    let deleted = delete_old(&on).await;
    assert_eq!(deleted[..5], [0; 5], "an hour has passed, no more");
    step(&on, -30 * DAY_S).await;
    assert_eq!(on.store.list_location_feed(tenant.scope(), 0, 10).await.unwrap().items.len(), 1);
    assert!(!on.events(&tenant).await.is_empty());
    // Time that passes deletes.
    on.clock().advance_seconds(30 * DAY_S);
    assert!(delete_old(&on).await[..5].iter().all(|deleted| *deleted > 0));
}

pub(crate) async fn a_boot_days_ahead_deletes_nothing(mut on: Fixture) {
    let tenant = fill(&on).await;
    on.store.close().await;
    on.clock().step_seconds(30 * DAY_S);
    on.restart().await;
    assert_eq!(delete_old(&on).await, [0; 6]);
    on.clock().step_seconds(-30 * DAY_S);
    on.restart().await;
    assert_eq!(delete_old(&on).await, [0; 6]);
    let device = on.store.list_location_feed(tenant.scope(), 0, 10).await.unwrap().items[0].0;
    assert_eq!(on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items.len(), 1);
    assert!(on.store.find_session(&[1; 32]).await.unwrap().is_some());
}

pub(crate) async fn a_step_is_believed_once_the_service_has_run_for_a_day(on: Fixture) {
    fill(&on).await;
    step(&on, 30 * DAY_S).await;
    on.clock().advance_seconds(DAY_S - 1);
    assert_eq!(on.store.trim_events(3 * DAY_MS).await.unwrap(), 0);
    on.clock().advance_seconds(1);
    assert!(on.store.trim_events(3 * DAY_MS).await.unwrap() > 0);
}

pub(crate) async fn a_store_that_never_noted_its_clock_goes_by_its_events(mut on: Fixture) {
    fill(&on).await;
    on.sql("DELETE FROM store_clock", &[]).await;
    on.clock().step_seconds(30 * DAY_S);
    on.restart().await;
    assert_eq!(delete_old(&on).await, [0; 6]);
}
