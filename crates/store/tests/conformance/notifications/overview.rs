//! Reports for owners: due once for each period, claimed by one node, sent once and to the right people.

use std::collections::HashMap;

use perigee_core::error::StoreError;
use perigee_core::id::GroupId;
use perigee_core::notifications::notification::{Channel, Occasion};
use perigee_core::notifications::overview::{
    DeviceCounts, Frequency, Overview, OverviewRecipient, OverviewSettings, OverviewTask, Period,
    StoredOverview, Totals,
};
use perigee_core::notifications::routing::Preferences;
use perigee_core::store::{Overviews as _, Result};
use perigee_store::Database;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{alert, at, group_of, named};

const LEASE_MS: i64 = 60_000;

fn daily() -> OverviewSettings {
    OverviewSettings { frequency: Frequency::Daily, ..OverviewSettings::default() }
}

fn nothing_happened(period: Period) -> Overview {
    let total = Totals { devices: 7, ..Totals::default() };
    Overview { frequency: Frequency::Daily, period, total, groups: Vec::new(), more_groups: 0 }
}

impl Fixture {
    async fn want(&self, tenant: &Tenant, settings: OverviewSettings) -> Result<StoredOverview> {
        let seen = self.store.get_overview(tenant.scope()).await?.revision;
        self.store.replace_overview(&tenant.actor(), seen, settings).await
    }

    async fn claim(&self) -> Option<OverviewTask> {
        self.store.claim_overview(LEASE_MS).await.unwrap()
    }

    async fn addresses(&self, tenant: &Tenant) -> Vec<String> {
        self.messages(tenant).await.into_iter().map(|message| message.address).collect()
    }
}

async fn file(store: &Database, task: &OverviewTask) -> bool {
    store.finish_overview(task.clone(), nothing_happened(task.period)).await.unwrap()
}

pub(crate) async fn settings_are_stored_by_revision(on: Fixture) {
    let tenant = on.tenant("acme").await;
    assert_eq!(on.store.get_overview(tenant.scope()).await.unwrap(), StoredOverview::unset());
    let trawlers = on.add_group(&tenant, group_of("Trawlers", &[])).await.id;
    let recipient = OverviewRecipient {
        address: "ana@example.com".parse().unwrap(),
        preferences: Preferences::default(),
    };
    let settings = OverviewSettings { recipients: vec![recipient], groups: [trawlers].into(), ..daily() };
    let stored = on.want(&tenant, settings.clone()).await.unwrap();
    assert_eq!((stored.revision.0, &stored.settings), (1, &settings));
    assert_eq!(on.store.get_overview(tenant.scope()).await.unwrap(), stored);
    let stale =
        on.store.replace_overview(&tenant.actor(), perigee_core::revision::Revision(0), daily()).await;
    assert_fails!(stale, StoreError::RevisionMismatch(_));
    let foreign = OverviewSettings { groups: [trawlers, GroupId::from_i64(7)].into(), ..daily() };
    assert_fails!(on.want(&tenant, foreign).await, StoreError::UnknownReference { .. });
    assert!(on.audits(&tenant).await.iter().any(|entry| entry.action == "overviewReport.update"));
    let other = on.tenant("other").await;
    assert_eq!(on.store.get_overview(other.scope()).await.unwrap(), StoredOverview::unset());
}

pub(crate) async fn each_period_is_reported_once(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    on.want(&tenant, daily()).await.unwrap();
    assert_eq!(on.claim().await, None, "what is over when it is switched on is not reported");
    on.clock().set(at("2026-05-05T04:59:59Z"));
    assert_eq!(on.claim().await, None);
    on.clock().set(at("2026-05-05T05:00:00Z"));
    let task = on.claim().await.unwrap();
    assert_eq!(
        (task.period.first, task.period.last),
        ("2026-05-04".parse().unwrap(), "2026-05-04".parse().unwrap())
    );
    let other = on.other_node().await;
    assert_eq!(other.claim_overview(LEASE_MS).await.unwrap(), None, "somebody is at it");
    on.clock().advance_seconds(61);
    on.restart().await;
    let again = on.claim().await.unwrap();
    assert_eq!(again.period, task.period, "who claimed it was not heard of again");
    assert!(file(&on.store, &again).await);
    assert!(!file(&on.store, &task).await, "a node that comes back after its lease reports nothing");
    assert_eq!(on.claim().await, None);
    assert_eq!(on.addresses(&tenant).await, ["owner@acme.example"]);
    let due = on.due(Channel::EMAIL).await;
    assert_eq!(due[0].occasion, Occasion::Overview(Box::new(nothing_happened(task.period))));
    // The server was down for a fortnight: one report, of the last day.
    on.clock().set(at("2026-05-20T12:00:00Z"));
    let late = on.claim().await.unwrap();
    assert_eq!(late.period.last.to_string(), "2026-05-19");
    assert!(file(&on.store, &late).await);
    assert_eq!(on.claim().await, None);
    let stored = on.store.get_overview(tenant.scope()).await.unwrap();
    assert_eq!(
        (stored.mark, stored.revision.0),
        (Some(late.period.mark()), 1),
        "which is no change of a client's"
    );
}

pub(crate) async fn nodes_at_once_report_a_period_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    on.want(&tenant, daily()).await.unwrap();
    let other = on.other_node().await;
    for _ in 0..5 {
        on.clock().advance_seconds(86_400);
        let claims = tokio::join!(on.store.claim_overview(LEASE_MS), other.claim_overview(LEASE_MS));
        let tasks: Vec<OverviewTask> = [claims.0.unwrap(), claims.1.unwrap()].into_iter().flatten().collect();
        assert_eq!(tasks.len(), 1);
        let filed = tokio::join!(file(&on.store, &tasks[0]), file(&other, &tasks[0]));
        assert!(filed.0 != filed.1, "{filed:?}");
    }
    assert_eq!(on.addresses(&tenant).await.len(), 5);
}

pub(crate) async fn a_change_is_obeyed_at_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.clock().set(at("2026-05-04T06:00:00Z"));
    on.want(&tenant, daily()).await.unwrap();
    on.clock().advance_seconds(86_400);
    let task = on.claim().await.unwrap();
    let ana = OverviewRecipient {
        address: "ana@example.com".parse().unwrap(),
        preferences: Preferences::default(),
    };
    on.want(&tenant, OverviewSettings { recipients: vec![ana], ..daily() }).await.unwrap();
    assert!(!file(&on.store, &task).await, "the report was asked for otherwise");
    let task = on.claim().await.unwrap();
    assert!(file(&on.store, &task).await);
    assert_eq!(on.addresses(&tenant).await, ["ana@example.com"]);
    on.want(&tenant, OverviewSettings { hour: 9, ..daily() }).await.unwrap();
    on.clock().advance_seconds(3 * 3_600);
    assert_eq!(on.claim().await, None, "another hour reports no day twice");
    on.want(&tenant, OverviewSettings::default()).await.unwrap();
    on.clock().advance_seconds(10 * 86_400);
    assert_eq!(on.claim().await, None, "off is off");
    on.want(&tenant, daily()).await.unwrap();
    assert_eq!(on.claim().await, None);
    // A clock that was a year ahead and is put right holds nothing back for longer than a day.
    on.clock().advance_seconds(365 * 86_400);
    let ahead = on.claim().await.unwrap();
    assert!(file(&on.store, &ahead).await);
    on.clock().advance_seconds(-365 * 86_400);
    assert_eq!(on.claim().await, None);
    on.clock().advance_seconds(86_400);
    assert!(on.claim().await.is_some());
}

pub(crate) async fn events_are_counted_by_device(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (busy, quiet) = (on.add(&tenant, named("busy")).await.id, on.add(&tenant, named("quiet")).await.id);
    let people = vec![crate::notifications::outbox::mail("ana@example.com")];
    on.route(&tenant, perigee_core::notifications::routing::RoutingHolder::Account, people).await;
    let (begins, ends) = (on.now(), on.now().plus_seconds(3_600));
    let alerts = [(0, "RPM"), (10, "RPM"), (20, "SOSButton"), (3_600, "RPM")];
    let alerts = alerts.map(|(after, name)| alert(begins.plus_seconds(after), name)).to_vec();
    perigee_core::store::Alerts::store_alerts(&on.store, &tenant.actor(), busy, alerts).await.unwrap();
    let date = "2026-01-01".parse().unwrap();
    let period = Period { first: date, last: date, begins, ends };
    let counts = on.store.overview_counts(tenant.account.id, period, vec![busy, quiet]).await.unwrap();
    // Of the three notified at the same time, two are repetitions.
    assert_eq!(counts, HashMap::from([(busy, DeviceCounts { alerts: 3, critical: 1, suppressed: 2 })]));
    let group = on.add_group(&tenant, group_of("Trawlers", &[busy])).await.id;
    let names = on.store.group_names(tenant.account.id, vec![group, GroupId::from_i64(9)]).await.unwrap();
    assert_eq!(names, HashMap::from([(group, "Trawlers".to_owned())]));
}
