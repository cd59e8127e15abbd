//! Bad days of the outbox: a storm, a clock that jumps, a zone that changes, an alert that never ends.

use perigee_core::accounts::account::AccountSettings;
use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::severity::Severity;
use perigee_core::notifications::notification::{
    Channel, Content, NotificationFilter, NotificationState, Occasion, SendOutcome, SendingPolicy,
};
use perigee_core::notifications::routing::RoutingHolder;
use perigee_core::page::PageRequest;
use perigee_core::store::{Accounts as _, Alerts as _, Maintenance as _, Notifications as _, Outbox as _};
use perigee_store::params;

use crate::fixture::{Fixture, zone};
use crate::notifications::outbox::{candidates, daily, mail, policy, sent};
use crate::sample::{alert, at, named};

use NotificationState::{Sent, Suppressed};

pub(crate) async fn a_storm_is_written_whole_and_sent_within_limits(on: Fixture) {
    const DEVICES: usize = 4;
    const ALERTS: usize = 1_000;
    let tenant = on.tenant("acme").await;
    let mut devices = Vec::new();
    for _ in 0..DEVICES {
        let device = on.limited(&tenant, daily(5, 5)).await;
        let storm = |index| alert(on.now().plus_millis(-i64::from(index)), &format!("alert {}", index % 50));
        let storm: Vec<Alert> = (0..i32::try_from(ALERTS).unwrap()).map(storm).collect();
        on.store.store_alerts(&tenant.actor(), device, storm).await.unwrap();
        devices.push(device);
    }
    let policy = SendingPolicy { on: vec![Channel::EMAIL], ..policy() };
    for channel in [Channel::EMAIL, Channel::SMS] {
        loop {
            let due = on.store.due_notifications(channel, 500).await.unwrap();
            if due.is_empty() {
                break;
            }
            let held = on.store.reserve(candidates(&due, 1), &policy).await.unwrap().granted;
            on.settle_all(&held, &sent()).await;
        }
    }
    for device in devices {
        assert_eq!(on.look(&tenant, device).await.counters.by(Channel::EMAIL).messages, 5);
    }
    let count = |sql: &'static str| {
        let read =
            on.store.read(move |tx| Box::pin(async move { Ok(tx.query_one(sql, &[]).await?.i64("count")?) }));
        async move { usize::try_from(read.await.unwrap()).unwrap() }
    };
    let all = count("SELECT COUNT(*) AS count FROM notification WHERE alert_id IS NOT NULL").await;
    assert_eq!(all, DEVICES * ALERTS * 2, "every alert has its messages");
    let sent =
        count("SELECT COUNT(*) AS count FROM notification WHERE alert_id IS NOT NULL AND state = 'sent'");
    assert_eq!(sent.await, DEVICES * 5);
    let rest =
        count("SELECT COUNT(*) AS count FROM notification WHERE state = 'suppressed' AND reason IS NOT NULL");
    assert_eq!(rest.await, DEVICES * (ALERTS * 2 - 5));
    let off = count("SELECT COUNT(*) AS count FROM notification WHERE reason = 'channel-off'").await;
    assert_eq!(off, DEVICES * 50, "what could not be sent at all is distinguished from what repeats");
}

pub(crate) async fn a_clock_going_back_reopens_no_day(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(2, 2)).await;
    let today = on.now();
    for (days, name, expect) in [
        (0, "a", 1),
        (1, "b", 1),
        (0, "c", 1),
        (0, "d", 0),
        (1, "e", 1),
        (-1, "f", 1),
        (1, "g", 0),
        (-1, "h", 1),
        (-1, "i", 0),
    ] {
        on.clock().set(today.plus_seconds(days * 86_400));
        on.raise(&tenant, device, name).await;
        let due = on.due(Channel::EMAIL).await;
        let due: Vec<_> = due.into_iter().filter(|content| content.to == "ana@example.com").collect();
        let held = on.store.reserve(candidates(&due, 1), &policy()).await.unwrap().granted;
        on.settle_all(&held, &sent()).await;
        assert_eq!(held.len(), expect, "{name}");
    }
}

pub(crate) async fn a_clock_that_was_ahead_holds_nothing_back(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(9, 9)).await;
    let right = on.now();
    on.clock().advance_seconds(30 * 86_400);
    on.raise(&tenant, device, "RPM").await;
    on.clock().set(right);
    assert_eq!(on.due(Channel::EMAIL).await.len(), 1, "what was written in the future is due now");
    assert_eq!(on.reserve_all(Channel::EMAIL).await.len(), 1);
    on.raise(&tenant, device, "RPM").await;
    assert_eq!(
        on.reserve_all(Channel::EMAIL).await.len(),
        1,
        "what was notified in the future repeats nothing"
    );
}

pub(crate) async fn a_change_of_zone_gives_no_second_day(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(1, 1)).await;
    on.clock().set(at("2026-03-10T12:00:00Z"));
    let mut fresh = 0;
    let mut check_sent = async |expect: usize, why: &str| {
        fresh += 1;
        on.raise(&tenant, device, &format!("alert {fresh}")).await;
        let due = on.due(Channel::EMAIL).await;
        let due: Vec<_> = due.into_iter().filter(|content| content.to == "ana@example.com").collect();
        let held = on.store.reserve(candidates(&due, 1), &policy()).await.unwrap().granted;
        on.settle_all(&held, &sent()).await;
        assert_eq!(held.len(), expect, "{why} at {}", on.now());
    };
    check_sent(1, "Madrid's tenth").await;
    for to in ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Tokyo"] {
        let account = on.store.find_account(tenant.account.id).await.unwrap().unwrap();
        let settings = AccountSettings { time_zone: zone(to), ..account.settings };
        on.store.replace_account(&tenant.actor(), account.revision, settings).await.unwrap();
        check_sent(0, to).await;
    }
    on.clock().set(at("2026-03-11T10:59:59Z"));
    check_sent(0, "the tenth runs on until it is over in Pago Pago too").await;
    on.clock().set(at("2026-03-11T11:00:00Z"));
    check_sent(1, "Tokyo's eleventh").await;
    check_sent(0, "there is one").await;
    on.clock().set(at("2026-03-11T15:00:00Z"));
    check_sent(1, "Tokyo's twelfth").await;
}

pub(crate) async fn the_same_alert_is_notified_ever_more_rarely(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    on.route(&tenant, RoutingHolder::Account, vec![mail("ana@example.com")]).await;
    let start = on.now();
    for minute in 0..30 {
        on.clock().set(start.plus_seconds(minute * 60));
        on.raise(&tenant, device, "RPM").await;
    }
    on.raise(&tenant, device, "Route").await;
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &sent()).await;
    let states = on.states(&tenant, Channel::EMAIL).await;
    let sent_minutes: Vec<usize> = states[..30]
        .iter()
        .enumerate()
        .filter(|(_, state)| state.0 == Sent)
        .map(|(minute, _)| minute)
        .collect();
    assert_eq!(sent_minutes, [0, 2, 6, 14]);
    assert_eq!(states[1], (Suppressed, Some("repeated".into())));
    assert_eq!(states[30].0, Sent, "another alert is another matter");
}

pub(crate) async fn no_account_waits_for_anothers_storm(on: Fixture) {
    let (loud, quiet) = (on.tenant("loud").await, on.tenant("quiet").await);
    for (tenant, alerts) in [(&loud, 300), (&quiet, 1)] {
        let device = on.limited(tenant, daily(1_000, 1_000)).await;
        let storm: Vec<Alert> = (0..alerts).map(|index| alert(on.now(), &format!("{index}"))).collect();
        on.store.store_alerts(&tenant.actor(), device, storm).await.unwrap();
    }
    for _ in 0..3 {
        on.clock().set(on.now().plus_millis(1));
        let due = on.store.due_notifications(Channel::EMAIL, 16).await.unwrap();
        assert!(due.iter().any(|content| content.account == quiet.account.id));
        assert!(due.iter().any(|content| content.account == loud.account.id));
    }
}

pub(crate) async fn messages_due_later_are_skipped(on: Fixture) {
    let mut tenants = Vec::new();
    for name in ["one", "two", "three"] {
        let tenant = on.tenant(name).await;
        let device = on.limited(&tenant, daily(9, 9)).await;
        tenants.push((tenant, device));
    }
    for (tenant, device) in &tenants {
        on.raise(tenant, *device, "RPM").await;
        on.raise(tenant, *device, "SOSButton").await;
    }
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &SendOutcome::RetryLater { reason: "busy".into(), wait: Some(600) }).await;
    assert!(on.due(Channel::EMAIL).await.is_empty());
    on.raise(&tenants[1].0, tenants[1].1, "Route").await;
    let due = on.due(Channel::EMAIL).await;
    assert_eq!((due.len(), due[0].account), (1, tenants[1].0.account.id));
    assert_eq!(on.store.next_due(Channel::EMAIL).await.unwrap(), Some(on.now()));
    on.clock().advance_seconds(600);
    assert_eq!(on.due(Channel::EMAIL).await.len(), 7);
    let few = on.store.due_notifications(Channel::EMAIL, 3).await.unwrap();
    let is_critical =
        |content: &Content| matches!(&content.occasion, Occasion::Alert { severity: Severity::Critical, .. });
    assert!(few.len() == 3 && few.iter().all(is_critical), "one of each account, the critical one first");
}

pub(crate) async fn old_messages_are_deleted(on: Fixture) {
    const DAY_MS: i64 = 86_400_000;
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(9, 9)).await;
    on.raise(&tenant, device, "RPM").await;
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &sent()).await;
    on.clock().advance_seconds(10 * 86_400);
    let since = on.now();
    on.raise(&tenant, device, "Route").await;
    let list = async |filter: NotificationFilter| {
        let page = on.store.list_notifications(tenant.scope(), &filter, PageRequest::first(10)).await;
        page.unwrap().items.len()
    };
    assert_eq!(list(NotificationFilter::default()).await, 4);
    assert_eq!(list(NotificationFilter { from: Some(since), ..NotificationFilter::default() }).await, 2);
    let waiting =
        NotificationFilter { state: Some(NotificationState::Waiting), ..NotificationFilter::default() };
    assert_eq!(list(waiting).await, 3);
    assert_eq!(on.store.trim_notifications(10 * DAY_MS).await.unwrap(), 0);
    assert_eq!(
        on.store.trim_notifications(9 * DAY_MS).await.unwrap(),
        1,
        "one that waits is never forgotten"
    );
    assert_eq!(on.store.trim_notifications(0).await.unwrap(), 0);
    assert_eq!(list(NotificationFilter::default()).await, 3);
    // More than one slice of what was notified.
    on.sql(
        "INSERT INTO notification_repetition (account_id, device_id, channel, address, name, told_at, met_at, pause_s) \
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500) \
         SELECT d.account_id, d.id, 'email', 'ana@example.com', 'name ' || i, 0, 0, 120 FROM n, device d \
         WHERE d.account_id = ?1",
        params![tenant.account.id],
    )
    .await;
    assert!(on.store.delete_expired().await.unwrap() >= 4_500);
    assert_eq!(on.store.delete_expired().await.unwrap(), 0);
}
