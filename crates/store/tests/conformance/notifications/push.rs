//! Push subscriptions: whose they are, how they end, who is notified by them, and the keys of push services.

use std::slice;

use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{NewSession, Session, SigningKey};
use perigee_core::access::user::{User, UserProfile};
use perigee_core::alerts::severity::Severity;
use perigee_core::devices::watch_list::WatchList;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{PushSubscriptionId, UserId};
use perigee_core::idempotency::Created;
use perigee_core::notifications::notification::{Channel, Notification, NotificationState, Occasion};
use perigee_core::notifications::push::{
    NewPushSubscription, PushEndpoint, PushResult, PushSettings, PushSubscription,
};
use perigee_core::notifications::routing::{AlertRouting, RoutedUser, RoutingHolder};
use perigee_core::revision::Revision;
use perigee_core::rules::schedule::{Schedule, Weekday};
use perigee_core::store::{
    Credentials as _, Maintenance as _, PushSubscriptions as _, Routing as _, TEST_MESSAGES_AN_HOUR,
    Users as _, WatchLists as _,
};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, profile};
use crate::sample::named;

fn settings(minimum_severity: Severity) -> PushSettings {
    PushSettings {
        name: "Firefox on Linux".into(),
        minimum_severity,
        quiet_hours: None,
        critical_in_quiet_hours: true,
    }
}

fn endpoint(url: &str) -> PushEndpoint {
    PushEndpoint { url: url.into(), p256dh: vec![4; 65], auth: vec![7; 16], key_id: "one".into() }
}

fn new(session: &Session, url: &str, settings: PushSettings) -> NewPushSubscription {
    // The store takes any text as the hash.
    NewPushSubscription { session: session.id, endpoint: endpoint(url), endpoint_hash: url.into(), settings }
}

async fn sign_in(on: &Fixture, user: &User, number: u8) -> Session {
    let expires = on.now().plus_seconds(3_600);
    let new = NewSession { user: user.id, hash: [number; 32], expires };
    on.store.create_session(&Origin::command(), new).await.unwrap()
}

async fn subscribe(
    on: &Fixture,
    tenant: &Tenant,
    user: UserId,
    new: NewPushSubscription,
) -> PushSubscription {
    on.store.create_push_subscription(&tenant.actor(), user, new, None).await.unwrap().into_inner()
}

async fn ids(on: &Fixture, tenant: &Tenant, user: UserId) -> Vec<PushSubscriptionId> {
    let all = on.store.list_push_subscriptions(tenant.scope(), user).await.unwrap();
    all.into_iter().map(|one| one.id).collect()
}

async fn pushes(on: &Fixture, tenant: &Tenant) -> Vec<Notification> {
    on.messages(tenant).await.into_iter().filter(|one| one.channel == Channel::PUSH).collect()
}

/// Routes the alerts of the account to this user.
async fn route_to(on: &Fixture, tenant: &Tenant, user: UserId) {
    let routed = RoutedUser { user, minimum_severity: Severity::Info, schedule: None };
    let routing = AlertRouting { users: vec![routed], ..AlertRouting::default() };
    let seen = on.store.get_routing(tenant.scope(), RoutingHolder::Account).await.unwrap().revision;
    on.store.replace_routing(&tenant.actor(), RoutingHolder::Account, seen, Some(routing)).await.unwrap();
}

pub(crate) async fn subscriptions_belong_to_their_user(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("beta").await);
    let (ana, eva) = (on.user(&tenant, "ana").await, on.user(&tenant, "eva").await);
    let session = sign_in(&on, &ana, 1).await;
    let made = subscribe(&on, &tenant, ana.id, new(&session, "a", settings(Severity::Warning))).await;
    assert_eq!((made.user, made.session, made.revision), (ana.id, session.id, Revision(1)));
    let find = async |tenant: &Tenant, user| {
        on.store.find_push_subscription(tenant.scope(), user, made.id).await.unwrap()
    };
    assert_eq!(find(&tenant, ana.id).await.as_ref(), Some(&made));
    assert_eq!(find(&tenant, eva.id).await, None, "another user");
    assert_eq!(find(&other, ana.id).await, None, "another account");

    let changed = PushSettings { name: "Bridge".into(), ..settings(Severity::Critical) };
    let replace = async |user, seen| {
        on.store.replace_push_subscription(&tenant.actor(), user, made.id, seen, changed.clone()).await
    };
    assert_fails!(replace(ana.id, Revision(9)).await, StoreError::RevisionMismatch(Kind::PushSubscription));
    assert_fails!(replace(eva.id, Revision(1)).await, StoreError::NotFound(Kind::PushSubscription));
    let after = replace(ana.id, Revision(1)).await.unwrap();
    assert_eq!((after.settings.clone(), after.revision), (changed.clone(), Revision(2)));
    assert_eq!(replace(ana.id, Revision(2)).await.unwrap().revision, Revision(2), "nothing changed");

    let delete =
        async |user, seen| on.store.delete_push_subscription(&tenant.actor(), user, made.id, seen).await;
    assert_fails!(delete(eva.id, None).await, StoreError::NotFound(Kind::PushSubscription));
    assert_fails!(
        delete(ana.id, Some(Revision(1))).await,
        StoreError::RevisionMismatch(Kind::PushSubscription)
    );
    delete(ana.id, Some(Revision(2))).await.unwrap();
    assert_eq!(ids(&on, &tenant, ana.id).await, []);
}

pub(crate) async fn a_browser_has_one_subscription_and_a_user_few(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (ana, eva) = (on.user(&tenant, "ana").await, on.user(&tenant, "eva").await);
    let (of_ana, of_eva) = (sign_in(&on, &ana, 1).await, sign_in(&on, &eva, 2).await);
    let first = subscribe(&on, &tenant, ana.id, new(&of_ana, "a", settings(Severity::Info))).await;
    let again = sign_in(&on, &ana, 3).await;
    let renewed = subscribe(&on, &tenant, ana.id, new(&again, "a", settings(Severity::Critical))).await;
    assert_eq!((renewed.id, renewed.session, renewed.revision), (first.id, again.id, Revision(2)));
    let taken = subscribe(&on, &tenant, eva.id, new(&of_eva, "a", settings(Severity::Info))).await;
    assert_eq!(ids(&on, &tenant, ana.id).await, [], "the browser notifies who subscribed it last");
    assert_eq!(ids(&on, &tenant, eva.id).await, [taken.id]);

    let once = tenant.once("POST /api/account/pushSubscriptions", "k", 1);
    let repeated = async || {
        let new = new(&of_ana, "b", settings(Severity::Info));
        on.store.create_push_subscription(&tenant.actor(), ana.id, new, Some(once.clone())).await.unwrap()
    };
    let Created::Now(made) = repeated().await else { panic!("it was not created") };
    assert_eq!(repeated().await, Created::Before(made));
    for number in 1..PushSubscription::COUNT_MAX {
        let url = format!("c{number}");
        subscribe(&on, &tenant, ana.id, new(&of_ana, &url, settings(Severity::Info))).await;
    }
    let beyond = new(&of_ana, "d", settings(Severity::Info));
    let refused = on.store.create_push_subscription(&tenant.actor(), ana.id, beyond, None).await;
    assert_fails!(refused, StoreError::TooMany { kind: Kind::PushSubscription, most: 20 });
    let renewed = subscribe(&on, &tenant, ana.id, new(&again, "c1", settings(Severity::Info))).await;
    assert_eq!(renewed.revision, Revision(2), "renewing needs no place");
}

pub(crate) async fn subscriptions_end_with_the_session_and_the_user(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let ana = on.user(&tenant, "ana").await;
    let (here, there) = (sign_in(&on, &ana, 1).await, sign_in(&on, &ana, 2).await);
    let at = async |session: &Session, url: &str| {
        subscribe(&on, &tenant, ana.id, new(session, url, settings(Severity::Info))).await.id
    };
    let (kept, ended) = (at(&here, "a").await, at(&there, "b").await);
    assert_eq!(ids(&on, &tenant, ana.id).await, [kept, ended]);
    on.store.delete_session(&Origin::command(), there.id).await.unwrap();
    assert_eq!(ids(&on, &tenant, ana.id).await, [kept], "signed out");
    on.clock().advance_seconds(3_601);
    on.store.delete_expired().await.unwrap();
    assert_eq!(ids(&on, &tenant, ana.id).await, [kept], "a phone rings after its session has expired");

    let replace = async |profile: UserProfile| {
        let seen = on.store.find_user(tenant.scope(), ana.id).await.unwrap().unwrap().revision;
        on.store.replace_user(&tenant.actor(), ana.id, seen, profile, None).await.unwrap();
    };
    replace(UserProfile { description: Some("mate".into()), ..profile("ana") }).await;
    assert_eq!(ids(&on, &tenant, ana.id).await, [kept]);
    let device = on.add(&tenant, named("one")).await.id;
    replace(UserProfile { device: Some(device), ..profile("ana") }).await;
    assert_eq!(ids(&on, &tenant, ana.id).await, [], "the user sees other devices");

    let again = sign_in(&on, &ana, 3).await;
    at(&again, "c").await;
    replace(UserProfile { device: Some(device), disabled: true, ..profile("ana") }).await;
    assert_eq!(ids(&on, &tenant, ana.id).await, [], "disabled");
    replace(UserProfile { device: Some(device), ..profile("ana") }).await;
    let last = at(&again, "d").await;
    let seen = on.store.find_user(tenant.scope(), ana.id).await.unwrap().unwrap().revision;
    on.store.delete_user(&tenant.actor(), ana.id, Some(seen)).await.unwrap();
    assert!(on.store.find_push_target(tenant.scope().account, last).await.unwrap().is_none(), "deleted");
}

pub(crate) async fn a_user_is_notified_in_every_browser_by_its_limits(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let ana = on.user(&tenant, "ana").await;
    let session = sign_in(&on, &ana, 1).await;
    route_to(&on, &tenant, ana.id).await;
    let list = WatchList { enabled: true, ..WatchList::default() };
    on.store.replace_watch_list(&tenant.actor(), ana.id, Revision(0), list).await.unwrap();
    let quiet = Schedule {
        weekdays: Weekday::ALL.to_vec(),
        from: "00:00".parse().unwrap(),
        to: "24:00".parse().unwrap(),
        time_zone: None,
    };
    let asleep = PushSettings { quiet_hours: Some(quiet), ..settings(Severity::Info) };
    let all = subscribe(&on, &tenant, ana.id, new(&session, "a", settings(Severity::Info))).await.id;
    subscribe(&on, &tenant, ana.id, new(&session, "b", settings(Severity::Critical))).await;
    let night = subscribe(&on, &tenant, ana.id, new(&session, "c", asleep)).await.id;

    on.raise(&tenant, device, "GPSOff").await;
    let states = |messages: Vec<Notification>| {
        messages.into_iter().map(|one| (one.address, one.state, one.reason)).collect::<Vec<_>>()
    };
    let suppressed = (night.to_string(), NotificationState::Suppressed, Some("schedule".to_owned()));
    let waiting = (all.to_string(), NotificationState::Waiting, None);
    assert_eq!(states(pushes(&on, &tenant).await), [waiting.clone(), suppressed]);
    let content = on.due(Channel::PUSH).await.remove(0);
    assert_eq!(content.preferences.name.as_deref(), Some("ana"));
    assert!(matches!(content.occasion, Occasion::Alert { .. }));

    on.raise(&tenant, device, "SOSButton").await;
    let sent = pushes(&on, &tenant).await.split_off(2);
    assert!(sent.iter().all(|one| one.critical && one.state == NotificationState::Waiting));
    assert_eq!(sent.len(), 3, "critical alerts reach every browser once, though two sources name the user");
}

pub(crate) async fn a_test_reaches_one_browser_a_limited_number_of_times(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (ana, eva) = (on.user(&tenant, "ana").await, on.user(&tenant, "eva").await);
    let session = sign_in(&on, &ana, 1).await;
    let made = subscribe(&on, &tenant, ana.id, new(&session, "a", settings(Severity::Critical))).await.id;
    let test = async |user| on.store.test_push_subscription(&tenant.actor(), user, made).await;
    assert_fails!(test(eva.id).await, StoreError::NotFound(Kind::PushSubscription));
    for _ in 0..TEST_MESSAGES_AN_HOUR {
        assert!(test(ana.id).await.unwrap());
    }
    assert!(!test(ana.id).await.unwrap(), "enough for an hour");
    let content = on.due(Channel::PUSH).await.remove(0);
    assert_eq!((content.to, content.occasion), (made.to_string(), Occasion::Test));
    on.clock().advance_seconds(3_601);
    assert!(test(ana.id).await.unwrap());
}

pub(crate) async fn what_ends_is_the_subscription_that_was_sent_to(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let account = tenant.scope().account;
    let ana = on.user(&tenant, "ana").await;
    let session = sign_in(&on, &ana, 1).await;
    let made = subscribe(&on, &tenant, ana.id, new(&session, "a", settings(Severity::Info))).await;
    let key = SigningKey { kid: "one".into(), pkcs8: vec![1], creation: on.now(), expires: None };
    on.store.push_keys(key.clone()).await.unwrap();
    let target = on.store.find_push_target(account, made.id).await.unwrap().unwrap();
    assert_eq!((&target.endpoint, target.key.as_ref()), (&endpoint("a"), Some(&key)));
    let nobody = PushSubscriptionId::from_i64(1);
    assert!(on.store.find_push_target(account, nobody).await.unwrap().is_none());

    on.clock().advance_seconds(5);
    on.store.record_push(account, made.id, &target.endpoint, PushResult::Accepted).await.unwrap();
    let used = on.store.find_push_subscription(tenant.scope(), ana.id, made.id).await.unwrap().unwrap();
    assert_eq!((used.last_used, used.revision), (Some(on.now()), Revision(1)));

    let mut renewed = new(&session, "a", settings(Severity::Info));
    renewed.endpoint.auth = vec![8; 16];
    subscribe(&on, &tenant, ana.id, renewed.clone()).await;
    on.store.record_push(account, made.id, &target.endpoint, PushResult::Gone).await.unwrap();
    assert_eq!(ids(&on, &tenant, ana.id).await, [made.id], "it was renewed meanwhile");
    on.store.record_push(account, made.id, &renewed.endpoint, PushResult::Gone).await.unwrap();
    assert_eq!(ids(&on, &tenant, ana.id).await, []);
    on.store.record_push(account, made.id, &renewed.endpoint, PushResult::Gone).await.unwrap();
}

pub(crate) async fn a_rotated_key_of_web_push_serves_its_subscriptions_until_its_end(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let ana = on.user(&tenant, "ana").await;
    let session = sign_in(&on, &ana, 1).await;
    let key =
        |kid: &str| SigningKey { kid: kid.into(), pkcs8: kid.into(), creation: on.now(), expires: None };
    let first = key("one");
    assert_eq!(on.store.push_keys(first.clone()).await.unwrap(), slice::from_ref(&first));
    assert_eq!(on.store.push_keys(key("two")).await.unwrap(), slice::from_ref(&first));
    assert_eq!(on.store.list_signing_keys().await.unwrap(), [], "keys of tokens are others");
    let made = subscribe(&on, &tenant, ana.id, new(&session, "a", settings(Severity::Info))).await;
    let until = on.now().plus_seconds(3_600);
    on.store.rotate_push_key(key("two"), until).await.unwrap();
    let kids = on.store.list_push_keys().await.unwrap();
    assert_eq!(kids.iter().map(|key| &*key.kid).collect::<Vec<_>>(), ["two", "one"]);
    let kid = async || {
        let target = on.store.find_push_target(tenant.scope().account, made.id).await.unwrap();
        target.unwrap().key.map(|key| key.kid)
    };
    assert_eq!(kid().await.as_deref(), Some("one"));
    on.clock().set(until);
    assert_eq!(kid().await, None, "the browser must subscribe again");
    on.store.delete_expired().await.unwrap();
    assert_eq!(on.store.list_push_keys().await.unwrap().len(), 1);
}
