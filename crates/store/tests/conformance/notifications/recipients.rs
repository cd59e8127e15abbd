//! Who is notified of alerts: users, contact groups and watch lists; escalations; acknowledgements by link.

use perigee_core::access::actor::{Origin, Reach};
use perigee_core::access::preference::{ConsoleLanguage, Preferences as ConsolePreferences};
use perigee_core::access::user::UserProfile;
use perigee_core::alerts::severity::Severity;
use perigee_core::devices::watch_list::WatchList;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AlertId, ContactGroupId, DeviceId, NotificationId, UserId};
use perigee_core::idempotency::Created;
use perigee_core::notifications::contact::{Contact, ContactGroup, ContactGroupSettings};
use perigee_core::notifications::escalation::{Escalation, EscalationRepeat, EscalationStep};
use perigee_core::notifications::notification::{Channel, NotificationState, Source};
use perigee_core::notifications::routing::{
    AlertRouting, Destination, Preferences, RoutedContacts, RoutedUser, RoutingHolder, Units,
};
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::store::{
    Alerts as _, ContactGroups as _, Escalations as _, Routing as _, Users as _, WatchLists as _,
};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, profile};
use crate::notifications::outbox::{daily, mail};
use crate::sample::{EVERYTHING, named};

fn contact(address: &str) -> Contact {
    let destination = Destination::Email(address.parse().unwrap());
    Contact { destination, preferences: Preferences::default() }
}

async fn contact_group(on: &Fixture, tenant: &Tenant, addresses: &[&str]) -> ContactGroup {
    let contacts = addresses.iter().map(|address| contact(address)).collect();
    let settings = ContactGroupSettings { name: "Night watch".into(), contacts };
    on.store.create_contact_group(&tenant.actor(), settings, None).await.unwrap().into_inner()
}

fn routed(group: ContactGroupId) -> RoutedContacts {
    RoutedContacts { group, minimum_severity: Severity::Info, schedule: None }
}

fn routed_user(user: UserId) -> RoutedUser {
    RoutedUser { user, minimum_severity: Severity::Info, schedule: None }
}

async fn set(
    on: &Fixture,
    tenant: &Tenant,
    holder: RoutingHolder,
    routing: AlertRouting,
) -> Result<(), StoreError> {
    let seen = on.store.get_routing(tenant.scope(), holder).await.unwrap().revision;
    on.store.replace_routing(&tenant.actor(), holder, seen, Some(routing)).await.map(drop)
}

/// Addresses of the messages so far, with the step they belong to.
async fn notified(on: &Fixture, tenant: &Tenant) -> Vec<(String, u32)> {
    on.messages(tenant).await.into_iter().map(|message| (message.address, message.step)).collect()
}

async fn only_alert(on: &Fixture, tenant: &Tenant, device: DeviceId) -> AlertId {
    on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items.pop().unwrap().id
}

pub(crate) async fn contact_groups_are_kept_and_not_deleted_while_named(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("beta").await);
    let group = contact_group(&on, &tenant, &["a@example.com"]).await;
    let found = on.store.find_contact_group(tenant.scope(), group.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&group));
    assert_eq!(on.store.find_contact_group(other.scope(), group.id).await.unwrap(), None);
    let part = tenant.within(Reach::Device(DeviceId::from_i64(1))).scope;
    assert_eq!(on.store.find_contact_group(part, group.id).await.unwrap(), None, "of the whole account");
    assert_eq!(
        on.store.list_contact_groups(tenant.scope(), PageRequest::first(10)).await.unwrap().items.len(),
        1
    );

    let settings = ContactGroupSettings { name: "Day watch".into(), contacts: Vec::new() };
    let stale =
        on.store.replace_contact_group(&tenant.actor(), group.id, Revision(9), settings.clone()).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::ContactGroup));
    let changed =
        on.store.replace_contact_group(&tenant.actor(), group.id, group.revision, settings).await.unwrap();
    assert_eq!((&*changed.settings.name, changed.revision), ("Day watch", Revision(2)));

    let routing = AlertRouting { contact_groups: vec![routed(group.id)], ..AlertRouting::default() };
    assert_fails!(
        set(&on, &other, RoutingHolder::Account, routing.clone()).await,
        StoreError::UnknownReference { kind: Kind::ContactGroup, .. }
    );
    set(&on, &tenant, RoutingHolder::Account, routing).await.unwrap();
    let refused = on.store.delete_contact_group(&tenant.actor(), group.id, None).await;
    assert_fails!(refused, StoreError::InUse(Kind::ContactGroup));
    set(&on, &tenant, RoutingHolder::Account, AlertRouting::default()).await.unwrap();
    on.store.delete_contact_group(&tenant.actor(), group.id, None).await.unwrap();
    assert_eq!(on.store.find_contact_group(tenant.scope(), group.id).await.unwrap(), None);
}

pub(crate) async fn users_and_contact_groups_are_notified_once_each(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let ana = on.user(&tenant, "ana").await;
    let disabled_user = on.user(&tenant, "former").await;
    let chosen = ConsolePreferences {
        language: Some(ConsoleLanguage::Spanish),
        units: Units::Nautical,
        ..ConsolePreferences::default()
    };
    on.store.set_preferences(ana.id, None, chosen).await.unwrap();
    let group = contact_group(&on, &tenant, &["b@example.com", ana.profile.email.as_str()]).await;
    let routing = AlertRouting {
        users: vec![routed_user(ana.id), routed_user(disabled_user.id)],
        contact_groups: vec![routed(group.id)],
        ..AlertRouting::default()
    };
    set(&on, &tenant, RoutingHolder::Account, routing).await.unwrap();
    let disabled = UserProfile { disabled: true, ..profile("former") };
    on.store
        .replace_user(&tenant.actor(), disabled_user.id, disabled_user.revision, disabled, None)
        .await
        .unwrap();

    on.raise(&tenant, device, "RPM").await;
    let ana_address = ana.profile.email.as_str().to_owned();
    assert_eq!(notified(&on, &tenant).await, [(ana_address, 0), ("b@example.com".to_owned(), 0)]);
    let first = on.messages(&tenant).await.swap_remove(0).preferences;
    assert_eq!((first.language.as_str(), first.units), ("es", Units::Nautical), "as she reads the console");
    let audience = on.store.find_audience(tenant.scope(), device, None).await.unwrap();
    assert!(audience.recipients.iter().all(|(source, _)| *source == Source::Account));
}

pub(crate) async fn a_watch_list_reaches_who_sees_the_device(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (device, other) = (on.add(&tenant, named("one")).await.id, on.add(&tenant, named("two")).await.id);
    let (ana, bob) = (on.user(&tenant, "ana").await, on.user(&tenant, "bob").await);
    let everything = WatchList { enabled: true, minimum_severity: Severity::Info, ..WatchList::default() };
    let empty = on.store.get_watch_list(tenant.scope(), ana.id).await.unwrap();
    assert_eq!((empty.revision, empty.list.enabled), (Revision(0), false));
    for user in [&ana, &bob] {
        let list = everything.clone();
        on.store.replace_watch_list(&tenant.actor(), user.id, Revision(0), list).await.unwrap();
    }
    let stale = on.store.replace_watch_list(&tenant.actor(), ana.id, Revision(0), everything.clone()).await;
    assert_fails!(stale, StoreError::RevisionMismatch(Kind::WatchList));
    let bound = UserProfile { device: Some(other), ..profile("bob") };
    on.store.replace_user(&tenant.actor(), bob.id, bob.revision, bound, None).await.unwrap();

    on.raise(&tenant, device, "RPM").await;
    assert_eq!(notified(&on, &tenant).await, [(ana.profile.email.as_str().to_owned(), 0)]);
    let critical = WatchList { minimum_severity: Severity::Critical, ..everything };
    on.store.replace_watch_list(&tenant.actor(), ana.id, Revision(1), critical).await.unwrap();
    on.raise(&tenant, device, "Route").await;
    assert_eq!(notified(&on, &tenant).await.len(), 1, "a warning is not critical");
    let hidden = WatchList { devices: vec![other], all_devices: false, ..WatchList::default() };
    let part = tenant.within(Reach::Device(device));
    let refused = on.store.replace_watch_list(&part, ana.id, Revision(2), hidden).await;
    assert_fails!(refused, StoreError::UnknownReference { kind: Kind::Device, .. });
}

fn step(after_minutes: u32, address: &str) -> EscalationStep {
    EscalationStep { after_minutes, recipients: vec![mail(address)], ..EscalationStep::default() }
}

/// An account whose critical alerts go to Ana, then to Bob after 5 minutes, and to Bob twice more every 10.
async fn escalating(on: &Fixture) -> (Tenant, DeviceId) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let repeat = Some(EscalationRepeat { every_minutes: 10, times: 2 });
    let routing = AlertRouting {
        recipients: vec![mail("ana@example.com")],
        escalation: Some(Escalation { steps: vec![step(5, "bob@example.com")], repeat }),
        ..AlertRouting::default()
    };
    set(on, &tenant, RoutingHolder::Account, routing).await.unwrap();
    (tenant, device)
}

/// Takes what is due, and says how many steps were.
async fn escalate(on: &Fixture) -> usize {
    let mut taken = 0;
    for step in on.store.due_steps(100).await.unwrap() {
        taken += usize::from(on.store.take_step(step).await.unwrap());
    }
    taken
}

pub(crate) async fn an_alert_nobody_acknowledges_goes_on_step_by_step(mut on: Fixture) {
    let (tenant, device) = escalating(&on).await;
    on.raise(&tenant, device, "RPM").await;
    assert_eq!(on.store.next_step_due().await.unwrap(), None, "a warning does not escalate");
    on.raise(&tenant, device, "SOSButton").await;
    let due = on.store.next_step_due().await.unwrap();
    assert_eq!(due, Some(on.now().plus_seconds(300)));
    on.clock().advance_seconds(299);
    assert_eq!(escalate(&on).await, 0);
    on.clock().advance_seconds(1);
    on.restart().await;
    let due = on.store.due_steps(100).await.unwrap();
    assert_eq!(due.len(), 1);
    let step = due[0];
    let node = on.other_node().await;
    let (one, two) = tokio::join!(on.store.take_step(step), node.take_step(step));
    assert_ne!(one.unwrap(), two.unwrap(), "two nodes take a step once");
    let bob = |step| ("bob@example.com".to_owned(), step);
    assert_eq!(notified(&on, &tenant).await[2..], [bob(1)]);
    for (step, minutes) in [(2, 10), (3, 10)] {
        on.clock().advance_seconds(60 * minutes - 1);
        assert_eq!(escalate(&on).await, 0);
        on.clock().advance_seconds(1);
        assert_eq!(escalate(&on).await, 1);
        assert_eq!(notified(&on, &tenant).await.pop(), Some(bob(step)));
    }
    on.clock().advance_seconds(86_400);
    assert_eq!((escalate(&on).await, on.store.next_step_due().await.unwrap()), (0, None), "it is bounded");
    node.close().await;
}

pub(crate) async fn acknowledging_and_ending_stop_an_escalation(on: Fixture) {
    let (tenant, device) = escalating(&on).await;
    for ends in [false, true] {
        on.raise(&tenant, device, "SOSButton").await;
        let alert = only_alert(&on, &tenant, device).await;
        if ends {
            on.store.end_alert(&tenant.actor(), alert).await.unwrap();
        } else {
            on.store.acknowledge_alert(&tenant.actor(), alert, Some("on my way".into())).await.unwrap();
            let notes = on.store.list_alert_notes(tenant.scope(), alert).await.unwrap();
            assert_eq!(notes.len(), 1);
            let note = &notes[0];
            assert_eq!((note.text.as_deref(), note.acknowledges), (Some("on my way"), true));
            assert_eq!(note.user, Some(tenant.owner.id));
        }
        assert_eq!(on.store.next_step_due().await.unwrap(), None);
        on.clock().advance_seconds(7_200);
        assert_eq!(escalate(&on).await, 0);
    }
    assert!(notified(&on, &tenant).await.iter().all(|(_, step)| *step == 0));
}

pub(crate) async fn steps_count_against_the_limits_of_the_device(on: Fixture) {
    let (tenant, _) = escalating(&on).await;
    let settings = perigee_core::devices::device::DeviceSettings { limits: daily(1, 0), ..named("two") };
    let device = on.add(&tenant, settings).await.id;
    on.raise(&tenant, device, "SOSButton").await;
    let held = on.reserve_all(Channel::EMAIL).await;
    assert_eq!(held.len(), 1);
    on.settle_all(&held, &crate::notifications::outbox::sent()).await;
    on.clock().advance_seconds(300);
    assert_eq!(escalate(&on).await, 1);
    assert!(on.reserve_all(Channel::EMAIL).await.is_empty());
    let last = on.messages(&tenant).await.into_iter().rev().find(|message| message.step == 1).unwrap();
    assert_eq!((last.state, last.reason.as_deref()), (NotificationState::Suppressed, Some("limit")));
}

pub(crate) async fn the_clock_set_back_delays_no_step(on: Fixture) {
    use perigee_core::store::Maintenance as _;
    let (tenant, device) = escalating(&on).await;
    on.store.watch_clock().await.unwrap();
    on.clock().step_seconds(86_400);
    on.store.watch_clock().await.unwrap();
    on.raise(&tenant, device, "SOSButton").await;
    on.clock().step_seconds(-86_400);
    on.store.watch_clock().await.unwrap();
    on.clock().advance_seconds(301);
    assert_eq!(escalate(&on).await, 1);
    let next = on.store.next_step_due().await.unwrap().unwrap();
    assert!(next <= on.now().plus_seconds(600), "{next}");
}

pub(crate) async fn a_note_that_is_sent_twice_is_stored_once(on: Fixture) {
    let (tenant, device) = escalating(&on).await;
    on.raise(&tenant, device, "SOSButton").await;
    let alert = on.store.list_alerts(tenant.scope(), device, None, EVERYTHING).await.unwrap().items[0].id;
    let add = async |text: &str, body: u8| {
        let once = tenant.once("POST notes", "key", body);
        on.store.add_alert_note(&tenant.actor(), alert, text.to_owned(), Some(once)).await
    };
    let made = add("On my way", 1).await.unwrap();
    assert!(matches!(made, Created::Now(_)), "it is new");
    let note = made.into_inner();
    assert_eq!(add("On my way", 1).await.unwrap(), Created::Before(note.clone()));
    assert_fails!(add("Or not", 2).await, StoreError::IdempotencyMismatch);
    assert_eq!(on.store.list_alert_notes(tenant.scope(), alert).await.unwrap(), [note]);
}

pub(crate) async fn people_without_an_account_acknowledge_once(on: Fixture) {
    let (tenant, device) = escalating(&on).await;
    on.raise(&tenant, device, "SOSButton").await;
    let (account, message) = (tenant.account.id, on.messages(&tenant).await[0].id);
    let found = on.store.find_notified_alert(account, message).await.unwrap().unwrap();
    assert_eq!((&*found.device, &*found.account), ("one", "acme"));
    assert_eq!(found.alert.acknowledged, None, "looking changes nothing");
    let origin = Origin::service();
    let (one, two) = tokio::join!(
        on.store.acknowledge_notified_alert(&origin, account, message, "Eva".into(), None),
        on.store.acknowledge_notified_alert(&origin, account, message, "Max".into(), Some("me too".into())),
    );
    let (one, two) = (one.unwrap().unwrap().alert, two.unwrap().unwrap().alert);
    let alert = on.store.find_alert(tenant.scope(), one.id).await.unwrap().unwrap();
    assert!(matches!(alert.acknowledged, Some((_, None))));
    let name = alert.acknowledged_name.clone().unwrap();
    assert!(["Eva", "Max"].contains(&&*name), "{name}");
    assert!([one, two].iter().any(|seen| seen.acknowledged_name == alert.acknowledged_name));
    let notes = on.store.list_alert_notes(tenant.scope(), alert.id).await.unwrap();
    assert_eq!(notes.iter().filter(|note| note.acknowledges).count(), 1);
    assert!(notes.iter().any(|note| note.text.as_deref() == Some("me too")));
    assert_eq!(on.store.next_step_due().await.unwrap(), None);
    let events = on.events(&tenant).await;
    let acknowledged = events.iter().filter(|event| event.kind == EventKind::AlertAcknowledged);
    assert_eq!(acknowledged.count(), 1);
    let unknown = on.store.find_notified_alert(account, NotificationId::from_i64(5)).await.unwrap();
    assert_eq!(unknown, None);
}

pub(crate) async fn a_test_reaches_everybody_and_is_bounded(on: Fixture) {
    let (tenant, device) = escalating(&on).await;
    let actor = tenant.actor();
    let count = on.store.send_test_messages(&actor, device, None).await.unwrap();
    assert_eq!(count, Some(2), "Ana, and Bob of the step");
    for _ in 1..100 {
        assert_eq!(on.store.send_test_messages(&actor, device, None).await.unwrap(), Some(2));
    }
    assert_eq!(on.store.send_test_messages(&actor, device, None).await.unwrap(), None);
    on.clock().advance_seconds(3_601);
    assert_eq!(on.store.send_test_messages(&actor, device, None).await.unwrap(), Some(2));
    assert_eq!(
        on.look(&tenant, device).await.counters.by(Channel::EMAIL).messages,
        0,
        "no alert of the device"
    );
}
