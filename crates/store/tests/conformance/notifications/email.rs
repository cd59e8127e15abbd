//! Caps on e-mail, and what its recipients say.

use perigee_core::access::actor::Origin;
use perigee_core::accounts::operator_notice::NoticeKind;
use perigee_core::notifications::notification::{
    Channel, ConfirmationPolicy, ConsentChange, EmailCaps, EmailConsent, NotificationState, Occasion,
    SendOutcome, SendingPolicy,
};
use perigee_core::notifications::routing::{Preferences, RoutingHolder};
use perigee_core::store::{
    Accounts as _, EmailRecipients as _, Maintenance as _, Notifications as _, OperatorNotices as _,
    Outbox as _,
};

use crate::fixture::{Fixture, Tenant};
use crate::notifications::outbox::{candidates, mail, policy, sent};
use crate::sample::named;

fn capped(daily: u32, critical_daily: u32, recipient_hourly: u32) -> SendingPolicy {
    let caps = EmailCaps {
        daily: Some(daily),
        critical_daily: Some(critical_daily),
        recipient_hourly: Some(recipient_hourly),
        ceiling: None,
    };
    SendingPolicy { email_caps: caps, ..policy() }
}

/// Reserves everything that is due and settles it so; returns how many were let through.
async fn send(on: &Fixture, policy: &SendingPolicy, delivery: &SendOutcome) -> usize {
    let due = candidates(&on.due(Channel::EMAIL).await, 1);
    let held = on.store.reserve(due, policy).await.unwrap().granted;
    on.settle_all(&held, delivery).await;
    held.len()
}

/// How many messages were not sent for this reason.
async fn suppressed(on: &Fixture, tenant: &Tenant, reason: &str) -> usize {
    let messages = on.messages(tenant).await;
    let is_so = |state, why: Option<&str>| state == NotificationState::Suppressed && why == Some(reason);
    messages.iter().filter(|message| is_so(message.state, message.reason.as_deref())).count()
}

pub(crate) async fn caps_on_email_hold_and_critical_alerts_pass(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    on.route(&tenant, RoutingHolder::Account, vec![mail("Ana@example.com"), mail("bob@example.com")]).await;
    let caps = capped(3, 3, 10);
    for name in ["RPM", "Route", "Mileage"] {
        on.raise(&tenant, device, name).await;
    }
    assert_eq!(send(&on, &caps, &sent()).await, 3);
    assert_eq!(suppressed(&on, &tenant, "email-daily-cap").await, 3);
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(send(&on, &caps, &sent()).await, 2, "a critical alert passes");
    on.clock().advance_seconds(600);
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(send(&on, &caps, &sent()).await, 1, "but makes no relay");
    on.clock().advance_seconds(3_600);
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(send(&on, &caps, &sent()).await, 2, "its first message is never held back");
    let other = on.add(&tenant, named("two")).await.id;
    on.raise(&tenant, other, "SOSButton").await;
    assert_eq!(send(&on, &caps, &sent()).await, 2, "nor that of another device");
    on.clock().advance_seconds(86_400);
    on.raise(&tenant, device, "Route").await;
    assert_eq!(send(&on, &caps, &sent()).await, 2, "the next day has its own");
}

pub(crate) async fn nothing_exceeds_the_ceiling_and_operators_see_it(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.route(&tenant, RoutingHolder::Account, vec![mail("Ana@example.com"), mail("bob@example.com")]).await;
    let mut policy = capped(3, 3, 10);
    policy.email_caps.ceiling = Some(5);
    for name in ["one", "two", "three"] {
        let device = on.add(&tenant, named(name)).await.id;
        on.raise(&tenant, device, "SOSButton").await;
    }
    assert_eq!(send(&on, &policy, &sent()).await, 5, "first messages of critical alerts obey it too");
    assert_eq!(suppressed(&on, &tenant, "email-ceiling").await, 1);
    let notices = on.store.list_notices().await.unwrap();
    let [notice] = notices.as_slice() else { panic!("one notice in {notices:?}") };
    assert_eq!((notice.account, notice.kind), (tenant.account.id, NoticeKind::EmailCeiling));

    let raise = async |name: &str| {
        let device = on.add(&tenant, named(name)).await.id;
        on.raise(&tenant, device, "SOSButton").await;
        send(&on, &policy, &sent()).await
    };
    assert_eq!(raise("four").await, 0);
    on.store.set_email_ceiling(&Origin::command(), tenant.account.id, Some(6)).await.unwrap();
    assert_eq!(raise("five").await, 1, "the ceiling of the account holds instead of the server's");
    on.store.set_email_ceiling(&Origin::command(), tenant.account.id, None).await.unwrap();
    assert_eq!(raise("six").await, 0);
    let notices = on.store.list_notices().await.unwrap();
    assert_eq!(notices.len(), 1, "once a day");
    assert!(on.store.dismiss_notice(notices[0].id).await.unwrap());
    assert!(!on.store.dismiss_notice(notices[0].id).await.unwrap());
    assert_eq!(raise("seven").await, 0);
    assert_eq!(on.store.list_notices().await.unwrap(), [], "not again for the same day");
    let entry = on.audits(&tenant).await.into_iter().find(|entry| entry.action == "account.emailCeiling");
    assert_eq!(entry.unwrap().detail.as_deref(), Some("email ceiling default"));
}

pub(crate) async fn few_strangers_get_mail_without_a_confirmation(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let user = on.user(&tenant, "ana").await.profile.email;
    let device = on.add(&tenant, named("one")).await.id;
    let people = vec![mail(user.as_str()), mail("a@x.test"), mail("b@x.test"), mail("c@x.test")];
    on.route(&tenant, RoutingHolder::Account, people).await;
    let policy = SendingPolicy { confirmation: ConfirmationPolicy { all: false, free: Some(2) }, ..policy() };
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(send(&on, &policy, &sent()).await, 3, "the user and two strangers");
    assert_eq!(suppressed(&on, &tenant, "unconfirmed").await, 1);
    assert_eq!(send(&on, &policy, &sent()).await, 1, "the third is asked");
    let consents = async || {
        let addresses = ["A@x.test", "b@x.test", "c@x.test"].map(str::to_owned).to_vec();
        on.store.list_email_consents(tenant.scope(), addresses).await.unwrap()
    };
    let held_back = |(consents, admitted): &(Vec<EmailConsent>, u32)| -> Vec<usize> {
        let is_held = |consent: &&EmailConsent| policy.confirmation.holds_back(**consent, *admitted);
        (0..3).filter(|index| is_held(&&consents[*index])).collect()
    };
    let before = consents().await;
    let [third] = held_back(&before)[..] else { panic!("one of {before:?} is held back") };
    let address = ["a@x.test", "b@x.test", "c@x.test"][third].parse().unwrap();

    on.clock().advance_seconds(7_200);
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(send(&on, &policy, &sent()).await, 3, "the same two again");
    on.store.change_email_consent(tenant.account.id, &address, ConsentChange::Subscribe).await.unwrap();
    on.clock().advance_seconds(7_200);
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(send(&on, &policy, &sent()).await, 4, "whoever confirmed gets mail");
    assert_eq!(held_back(&consents().await), [] as [usize; 0]);
    let other = on.tenant("other").await;
    let (_, admitted) = on.store.list_email_consents(other.scope(), Vec::new()).await.unwrap();
    assert_eq!(admitted, 0, "each account has its own");
}

pub(crate) async fn a_recipient_gets_so_many_an_hour(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    on.route(&tenant, RoutingHolder::Account, vec![mail("ana@example.com")]).await;
    let caps = capped(100, 100, 2);
    for name in ["RPM", "Route", "Mileage"] {
        on.raise(&tenant, device, name).await;
    }
    assert_eq!(send(&on, &caps, &sent()).await, 2);
    assert_eq!(suppressed(&on, &tenant, "email-recipient-cap").await, 1);
    on.route(&tenant, RoutingHolder::Account, vec![mail("ANA@EXAMPLE.COM")]).await;
    on.raise(&tenant, device, "IdleTime").await;
    assert_eq!(send(&on, &caps, &sent()).await, 0, "another spelling is the same person");
    on.clock().advance_seconds(3_600);
    on.raise(&tenant, device, "Vibration").await;
    assert_eq!(send(&on, &caps, &sent()).await, 1);
    on.clock().advance_seconds(3 * 3_600);
    assert!(on.store.delete_expired().await.unwrap() >= 2, "counts of past hours are deleted");
}

pub(crate) async fn a_message_is_counted_against_the_caps_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    on.route(&tenant, RoutingHolder::Account, vec![mail("ana@example.com")]).await;
    let caps = capped(1, 0, 1);
    on.raise(&tenant, device, "Route").await;
    let later = SendOutcome::RetryLater { reason: "450 later".into(), wait: None };
    assert_eq!(send(&on, &caps, &later).await, 1);
    on.clock().advance_seconds(900);
    assert_eq!(send(&on, &caps, &sent()).await, 1, "another attempt is not another message");
    on.raise(&tenant, device, "RPM").await;
    assert_eq!(send(&on, &caps, &sent()).await, 0);
    let kept = on.messages(&tenant).await.pop().unwrap();
    on.store.resend_notification(&tenant.actor(), kept.id).await.unwrap();
    assert_eq!(send(&on, &caps, &sent()).await, 0, "a resent message is counted again");
    assert_eq!(suppressed(&on, &tenant, "email-daily-cap").await, 1);
}

pub(crate) async fn caps_hold_when_nodes_reserve_at_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let people: Vec<_> = (0..40).map(|number| mail(&format!("p{number}@example.com"))).collect();
    on.route(&tenant, RoutingHolder::Account, people).await;
    on.raise(&tenant, device, "Route").await;
    let (caps, other) = (capped(10, 0, 5), on.other_node().await);
    let due = on.due(Channel::EMAIL).await;
    let parts: Vec<_> = due.chunks(4).map(|part| candidates(part, 1)).collect();
    let reserve = async |number: usize, part| {
        let store = if number.is_multiple_of(2) { &on.store } else { &other };
        store.reserve(part, &caps).await.unwrap().granted.len()
    };
    let parts = parts.into_iter().enumerate().map(|(number, part)| reserve(number, part));
    let granted: usize = futures_util::future::join_all(parts).await.into_iter().sum();
    assert_eq!(granted, 10);
    assert_eq!(suppressed(&on, &tenant, "email-daily-cap").await, 30);
    if on.store.engine() == perigee_store::Engine::Postgres {
        other.close().await;
    }
}

pub(crate) async fn who_ended_it_gets_none_until_they_resume(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let (account, ana) = (tenant.account.id, "ana@example.com".parse().unwrap());
    let device = on.add(&tenant, named("one")).await.id;
    on.route(&tenant, RoutingHolder::Account, vec![mail("Ana@Example.com")]).await;
    let ended = on.store.change_email_consent(account, &ana, ConsentChange::Unsubscribe).await.unwrap();
    assert_eq!(ended.unsubscribed_at, Some(on.now()));
    on.clock().advance_seconds(60);
    let again = on.store.change_email_consent(account, &ana, ConsentChange::Unsubscribe).await.unwrap();
    assert_eq!(again, ended, "said twice is said once");
    on.raise(&tenant, device, "SOSButton").await;
    assert_eq!(send(&on, &policy(), &sent()).await, 0, "critical or not");
    assert_eq!(suppressed(&on, &tenant, "unsubscribed").await, 1);
    let elsewhere = on.store.find_mailed_account(other.account.id, &ana).await.unwrap().unwrap();
    assert_eq!((elsewhere.name.as_str(), elsewhere.consent), ("other", EmailConsent::default()));
    on.store.change_email_consent(account, &ana, ConsentChange::Subscribe).await.unwrap();
    on.raise(&tenant, device, "Route").await;
    assert_eq!(send(&on, &policy(), &sent()).await, 1);
}

pub(crate) async fn strangers_are_asked_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let user = on.user(&tenant, "eva").await;
    let device = on.add(&tenant, named("one")).await.id;
    let known = user.profile.email.as_str();
    on.route(&tenant, RoutingHolder::Account, vec![mail("ana@example.com"), mail(known)]).await;
    let strict = SendingPolicy { confirmation: ConfirmationPolicy { all: true, free: None }, ..policy() };
    on.raise(&tenant, device, "Route").await;
    assert_eq!(send(&on, &strict, &sent()).await, 1, "a user need not confirm");
    assert_eq!(suppressed(&on, &tenant, "unconfirmed").await, 1);
    let due = on.due(Channel::EMAIL).await;
    assert_eq!((due.len(), &due[0].occasion), (1, &Occasion::ConfirmRecipient));
    assert_eq!(due[0].to, "ana@example.com");
    assert_eq!(send(&on, &strict, &sent()).await, 1, "the question itself is sent");
    on.raise(&tenant, device, "RPM").await;
    send(&on, &strict, &sent()).await;
    assert!(on.due(Channel::EMAIL).await.is_empty(), "nobody is asked twice within a week");
    let ana = "ana@example.com".parse().unwrap();
    on.store.change_email_consent(tenant.account.id, &ana, ConsentChange::Subscribe).await.unwrap();
    on.raise(&tenant, device, "Mileage").await;
    assert_eq!(send(&on, &strict, &sent()).await, 2);

    let strangers = (0..150).map(|number| (format!("s{number}@example.com"), Preferences::default()));
    let asked = on.store.ask_to_confirm(tenant.account.id, strangers.collect()).await.unwrap();
    assert_eq!(asked, 99, "an account may ask a hundred people a day");
}

pub(crate) async fn the_key_of_links_is_made_once(on: Fixture) {
    let first = on.store.mail_link_key([1; 32]).await.unwrap();
    assert_eq!(first, [1; 32]);
    assert_eq!(on.store.mail_link_key([2; 32]).await.unwrap(), first);
}
