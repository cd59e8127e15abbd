//! Messages: written with their alerts, reserved against limits, settled once, and never sent by two.

use std::collections::BTreeMap;

use perigee_core::accounts::limits::Limits;
use perigee_core::alerts::severity::Severity;
use perigee_core::id::DeviceId;
use perigee_core::notifications::notification::{
    Candidate, Channel, ConfirmationPolicy, Content, EmailCaps, Notification, NotificationFilter,
    NotificationState, Occasion, Receipt, Reservation, SendOutcome, SendingPolicy,
};
use perigee_core::notifications::routing::{
    AlertRouting, Destination, Preferences, Recipient, RoutingHolder,
};
use perigee_core::page::PageRequest;
use perigee_core::store::{Alerts as _, Devices as _, Notifications as _, Outbox as _, Routing as _};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{alert, named};

use NotificationState::{Failed, Sending, Sent, Suppressed, Unclear, Waiting};
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;

/// Everything is allowed, and an attempt may take five minutes.
pub(crate) fn policy() -> SendingPolicy {
    SendingPolicy {
        on: Channel::all().to_vec(),
        caps: BTreeMap::new(),
        sms_prefixes: Vec::new(),
        email_caps: EmailCaps::default(),
        confirmation: ConfirmationPolicy::default(),
        lease_ms: 300_000,
    }
}

/// Somebody who is notified of everything at any time.
pub(crate) fn recipient(destination: Destination) -> Recipient {
    Recipient {
        destination,
        preferences: Preferences::default(),
        minimum_severity: Severity::Info,
        schedule: None,
    }
}

pub(crate) fn mail(address: &str) -> Recipient {
    recipient(Destination::Email(address.parse().expect("an address")))
}

pub(crate) fn phone(number: &str) -> Recipient {
    recipient(Destination::Sms(number.parse().expect("a number")))
}

impl Fixture {
    /// Sends the alerts of a routing holder to these people.
    pub(crate) async fn route(&self, tenant: &Tenant, holder: RoutingHolder, recipients: Vec<Recipient>) {
        let seen = self.store.get_routing(tenant.scope(), holder).await.expect("it is read").revision;
        let routing = Some(AlertRouting { recipients, ..AlertRouting::default() });
        let set = self.store.replace_routing(&tenant.actor(), holder, seen, routing).await;
        set.expect("it is set");
    }

    /// A device with these daily limits whose alerts go to one e-mail address and one telephone.
    pub(crate) async fn limited(&self, tenant: &Tenant, limits: Limits) -> DeviceId {
        let settings = perigee_core::devices::device::DeviceSettings { limits, ..named("one") };
        let device = self.add(tenant, settings).await.id;
        let people = vec![mail("ana@example.com"), phone("+34600123456")];
        self.route(tenant, RoutingHolder::Device(device), people).await;
        device
    }

    /// Raises an alert of this name now.
    pub(crate) async fn raise(&self, tenant: &Tenant, device: DeviceId, name: &str) {
        let sent = self.store.store_alerts(&tenant.actor(), device, vec![alert(self.now(), name)]).await;
        sent.expect("the alert is stored");
    }

    /// The due messages of a channel.
    pub(crate) async fn due(&self, channel: Channel) -> Vec<Content> {
        self.store.due_notifications(channel, 100).await.expect("it is read")
    }

    /// Reserves everything that is due by a channel.
    pub(crate) async fn reserve_all(&self, channel: Channel) -> Vec<Reservation> {
        let asked = candidates(&self.due(channel).await, 1);
        self.store.reserve(asked, &policy()).await.expect("it is decided").granted
    }

    /// Settles each of these so.
    pub(crate) async fn settle_all(&self, held: &[Reservation], delivery: &SendOutcome) {
        for reservation in held {
            let known = self.store.settle(*reservation, delivery.clone()).await;
            assert!(known.expect("it is recorded"), "{reservation:?} was lost");
        }
    }

    /// Every message of the account, oldest first.
    pub(crate) async fn messages(&self, tenant: &Tenant) -> Vec<Notification> {
        let page = PageRequest::first(1_000);
        let list = self.store.list_notifications(tenant.scope(), &NotificationFilter::default(), page).await;
        let mut items = list.expect("messages are listed").items;
        items.reverse();
        items
    }

    /// The states and reasons of the messages by a channel, oldest first.
    pub(crate) async fn states(
        &self,
        tenant: &Tenant,
        channel: Channel,
    ) -> Vec<(NotificationState, Option<String>)> {
        let messages = self.messages(tenant).await.into_iter().filter(|message| message.channel == channel);
        messages.map(|message| (message.state, message.reason)).collect()
    }

    async fn emails_sent(&self, tenant: &Tenant, device: DeviceId) -> u32 {
        self.look(tenant, device).await.counters.by(Channel::EMAIL).messages
    }
}

/// Candidates for these contents, each SMS of this many segments.
pub(crate) fn candidates(due: &[Content], segments: u32) -> Vec<Candidate> {
    let candidate = |content: &Content| Candidate {
        account: content.account,
        id: content.id,
        segments: Ok(if content.channel == Channel::SMS { segments } else { 0 }),
    };
    due.iter().map(candidate).collect()
}

pub(crate) fn daily(emails: u32, sms: u32) -> Limits {
    Limits { daily: [(Channel::EMAIL, emails), (Channel::SMS, sms)].into(), ..Limits::default() }
}

pub(crate) fn sent() -> SendOutcome {
    SendOutcome::Sent { reference: None }
}

pub(crate) async fn an_alert_is_sent_and_counted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(5, 5)).await;
    on.raise(&tenant, device, "SOSButton").await;
    let due = on.due(Channel::EMAIL).await;
    assert_eq!(due.len(), 1);
    let content = &due[0];
    assert_eq!((content.to.as_str(), content.account_name.as_str()), ("ana@example.com", "acme"));
    assert_eq!(content.device.as_ref().map(|device| device.name.as_str()), Some("one"));
    assert!(matches!(&content.occasion, Occasion::Alert { alert, severity: Severity::Critical, .. }
        if alert.alert.name == "SOSButton"));
    assert_eq!(on.emails_sent(&tenant, device).await, 0);
    let held = on.reserve_all(Channel::EMAIL).await;
    assert_eq!(on.emails_sent(&tenant, device).await, 1, "it is counted before it is sent");
    assert_eq!(on.states(&tenant, Channel::EMAIL).await, [(Sending, None)]);
    assert!(on.due(Channel::EMAIL).await.is_empty());
    on.settle_all(&held, &SendOutcome::Sent { reference: Some("a\nb".into()) }).await;
    let message = on.messages(&tenant).await.remove(0);
    assert_eq!((message.state, message.reference.as_deref()), (Sent, Some("a b")));
    assert_eq!((message.attempts, message.sent_at), (1, Some(on.now())));
    let again = on.store.settle(held[0], SendOutcome::Unclear { reason: "late".into() }).await.unwrap();
    assert!(!again, "what is settled stays so");
    let held = on.store.reserve(candidates(&on.due(Channel::SMS).await, 3), &policy()).await.unwrap();
    on.settle_all(&held.granted, &SendOutcome::Sent { reference: Some("sms-1".into()) }).await;
    let counters = on.look(&tenant, device).await.counters;
    assert_eq!(
        (
            counters.by(Channel::EMAIL).messages,
            counters.by(Channel::SMS).messages,
            counters.by(Channel::SMS).segments
        ),
        (1, 1, 3)
    );
    let receipt = |reference: &str| Receipt { reference: reference.into(), failure: None };
    assert!(on.store.record_receipt(Channel::SMS, receipt("sms-1")).await.unwrap());
    assert!(!on.store.record_receipt(Channel::SMS, receipt("sms-2")).await.unwrap());
    assert_eq!(on.messages(&tenant).await[1].delivered_at, Some(on.now()));
    let alerts = on.store.list_alerts(tenant.scope(), device, None, crate::sample::EVERYTHING).await.unwrap();
    assert_eq!(alerts.items[0].sent_by, [Channel::EMAIL, Channel::SMS]);
}

pub(crate) async fn a_limit_stops_and_is_announced_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(2, 0)).await;
    for name in ["RPM", "Route", "Mileage", "IdleTime"] {
        on.raise(&tenant, device, name).await;
    }
    let held = on.reserve_all(Channel::EMAIL).await;
    assert_eq!(held.len(), 2);
    on.settle_all(&held, &sent()).await;
    assert!(on.reserve_all(Channel::SMS).await.is_empty());
    let states = on.states(&tenant, Channel::EMAIL).await;
    let limit = (Suppressed, Some("limit".into()));
    assert_eq!(states[..4], [(Sent, None), (Sent, None), limit.clone(), limit.clone()]);
    assert_eq!(on.emails_sent(&tenant, device).await, 2);
    let story = on.event_kinds(&tenant, device).await;
    let announced = |kind| story.iter().filter(|known| **known == kind).count();
    assert_eq!((announced(EventKind::LimitEmailReached), announced(EventKind::LimitSmsReached)), (1, 1));
    let notice = on.due(Channel::EMAIL).await;
    assert_eq!(notice.len(), 1, "the owner is notified, unless there is to be none at all");
    assert_eq!(notice[0].occasion, Occasion::LimitReached { channel: Channel::EMAIL });
    assert_eq!(notice[0].to, "owner@acme.example");
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &sent()).await;
    assert_eq!(on.emails_sent(&tenant, device).await, 2, "which counts against no device");
    on.raise(&tenant, device, "Vibration").await;
    assert!(on.reserve_all(Channel::EMAIL).await.is_empty());
    assert!(on.due(Channel::EMAIL).await.is_empty(), "it is announced once a day");
    on.set(
        &tenant,
        device,
        perigee_core::devices::device::DeviceSettings { limits: daily(3, 0), ..named("one") },
    )
    .await
    .unwrap();
    on.raise(&tenant, device, "LowBattery").await;
    assert_eq!(on.reserve_all(Channel::EMAIL).await.len(), 1, "a higher limit is obeyed at once");
    on.set(
        &tenant,
        device,
        perigee_core::devices::device::DeviceSettings { limits: daily(1, 0), ..named("one") },
    )
    .await
    .unwrap();
    on.raise(&tenant, device, "Sensor1On").await;
    assert!(on.reserve_all(Channel::EMAIL).await.is_empty(), "a lower one as well");
    on.clock().advance_seconds(86_400);
    on.raise(&tenant, device, "Sensor1On").await;
    assert_eq!(on.reserve_all(Channel::EMAIL).await.len(), 1, "the next day begins at zero");
}

pub(crate) async fn the_last_messages_are_for_critical_alerts(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, Limits { critical_reserve: 1, ..daily(2, 2) }).await;
    for name in ["RPM", "Route", "SOSButton"] {
        on.raise(&tenant, device, name).await;
    }
    assert_eq!(on.due(Channel::EMAIL).await.len(), 3);
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &sent()).await;
    let states = on.states(&tenant, Channel::EMAIL).await;
    assert_eq!(states[2], (Sent, None), "critical ones come first");
    // One is left, and one is kept.
    let kept = (Suppressed, Some("critical-reserve".into()));
    assert_eq!(states[..2], [kept.clone(), kept]);
    let announced = async || {
        on.event_kinds(&tenant, device)
            .await
            .into_iter()
            .filter(|kind| *kind == EventKind::LimitEmailReached)
            .count()
    };
    assert_eq!(announced().await, 0, "what is kept for critical alerts is no limit reached");
    on.raise(&tenant, device, "Vibration").await;
    let critical = perigee_core::alerts::alert::Alert { critical: true, ..alert(on.now(), "GPSUnplugged") };
    on.store.store_alerts(&tenant.actor(), device, vec![critical]).await.unwrap();
    let held = on.reserve_all(Channel::EMAIL).await;
    let found = on.store.find_notification(tenant.scope(), held[0].id).await.unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.critical), ("GPSUnplugged", true));
    assert_eq!(announced().await, 1, "now it is used up, and Vibration was kept back by it");
}

pub(crate) async fn unsent_messages_are_uncounted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(1, 1)).await;
    on.raise(&tenant, device, "RPM").await;
    let later = SendOutcome::RetryLater { reason: "421 try again".into(), wait: Some(60) };
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &later).await;
    assert_eq!(on.emails_sent(&tenant, device).await, 0);
    assert_eq!(on.states(&tenant, Channel::EMAIL).await, [(Waiting, Some("421 try again".into()))]);
    assert!(on.due(Channel::EMAIL).await.is_empty());
    assert_eq!(on.store.next_due(Channel::EMAIL).await.unwrap(), Some(on.now().plus_seconds(60)));
    on.clock().advance_seconds(60);
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &SendOutcome::Refused { reason: "550 nobody here".into() }).await;
    assert_eq!(on.emails_sent(&tenant, device).await, 0);
    assert_eq!(on.states(&tenant, Channel::EMAIL).await, [(Failed, Some("550 nobody here".into()))]);
    // A message counted yesterday stays on yesterday's counter, whatever its state becomes today.
    let held = on.reserve_all(Channel::SMS).await;
    assert_eq!(on.look(&tenant, device).await.counters.by(Channel::SMS).messages, 1);
    on.clock().advance_seconds(86_400);
    on.settle_all(&held, &SendOutcome::Refused { reason: "no".into() }).await;
    on.clock().advance_seconds(-86_400);
    assert_eq!(on.look(&tenant, device).await.counters.by(Channel::SMS).messages, 1);
}

pub(crate) async fn messages_that_may_have_been_sent_stay_counted(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(5, 5)).await;
    on.raise(&tenant, device, "RPM").await;
    let unclear = SendOutcome::Unclear { reason: "no answer".into() };
    let held = on.reserve_all(Channel::SMS).await;
    on.settle_all(&held, &unclear).await;
    assert_eq!(on.states(&tenant, Channel::SMS).await, [(Unclear, Some("no answer".into()))]);
    assert_eq!(on.look(&tenant, device).await.counters.by(Channel::SMS).messages, 1);
    for (attempt, state) in [(1, Waiting), (2, Unclear)] {
        on.clock().advance_seconds(3_600);
        let held = on.reserve_all(Channel::EMAIL).await;
        assert_eq!(held.len(), 1);
        on.settle_all(&held, &unclear).await;
        assert_eq!(on.emails_sent(&tenant, device).await, attempt, "it is reserved again");
        assert_eq!(on.states(&tenant, Channel::EMAIL).await[0].0, state);
    }
    on.clock().advance_seconds(3_600);
    assert!(on.due(Channel::EMAIL).await.is_empty(), "at most one more attempt");
}

pub(crate) async fn a_lost_attempt_is_unclear(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(1, 5)).await;
    on.raise(&tenant, device, "RPM").await;
    let lost = [on.reserve_all(Channel::EMAIL).await, on.reserve_all(Channel::SMS).await].concat();
    on.clock().advance_seconds(299);
    assert!(on.due(Channel::EMAIL).await.is_empty() && on.due(Channel::SMS).await.is_empty());
    on.clock().advance_seconds(1);
    assert!(on.reserve_all(Channel::SMS).await.is_empty(), "an SMS is never sent twice");
    assert!(on.reserve_all(Channel::EMAIL).await.is_empty(), "there is nothing left for a second e-mail");
    for channel in [Channel::EMAIL, Channel::SMS] {
        assert_eq!(on.states(&tenant, channel).await[0].0, Unclear);
    }
    for reservation in lost {
        let late =
            on.store.settle(reservation, SendOutcome::Refused { reason: "late".into() }).await.unwrap();
        assert!(!late, "whoever comes back from the dead changes nothing");
    }
    let counters = on.look(&tenant, device).await.counters;
    assert_eq!((counters.by(Channel::EMAIL).messages, counters.by(Channel::SMS).messages), (1, 1));
    let notice = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&notice, &sent()).await;
    let other = on.limited(&tenant, daily(9, 9)).await;
    on.raise(&tenant, other, "RPM").await;
    let first = on.reserve_all(Channel::EMAIL).await;
    on.clock().advance_seconds(300);
    let second = on.reserve_all(Channel::EMAIL).await;
    assert_eq!(
        (second.len(), second[0].id),
        (1, first[0].id),
        "an e-mail is sent once more under the same id"
    );
    assert!(second[0].token > first[0].token);
    assert!(!on.store.settle(first[0], sent()).await.unwrap());
    assert!(on.store.settle(second[0], sent()).await.unwrap());
    assert_eq!(on.emails_sent(&tenant, other).await, 2);
}

pub(crate) async fn a_renewed_attempt_is_not_lost(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(5, 5)).await;
    on.raise(&tenant, device, "RPM").await;
    let held = on.reserve_all(Channel::SMS).await;
    for _ in 0..5 {
        on.clock().advance_seconds(50);
        assert!(on.store.renew(held[0], 60_000).await.unwrap());
        assert!(on.due(Channel::SMS).await.is_empty());
    }
    on.clock().advance_seconds(60);
    let due = on.due(Channel::SMS).await;
    assert!(due.len() == 1 && due[0].is_lost, "who renews no more is taken for dead soon");
    assert!(on.store.renew(held[0], 60_000).await.unwrap(), "nobody was quicker");
    assert!(on.due(Channel::SMS).await.is_empty());
    on.clock().advance_seconds(60);
    assert!(on.reserve_all(Channel::SMS).await.is_empty());
    assert!(!on.store.renew(held[0], 60_000).await.unwrap());
    assert_eq!(on.states(&tenant, Channel::SMS).await[0].0, Unclear, "and it is never sent twice");
    assert!(!on.due(Channel::EMAIL).await[0].is_lost);
}

pub(crate) async fn notifications_of_deleted_alerts_are_not_sent(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(5, 5)).await;
    on.raise(&tenant, device, "RPM").await;
    on.sql("DELETE FROM alert WHERE account_id = ?1", perigee_store::params![tenant.account.id]).await;
    let due = on.due(Channel::EMAIL).await;
    assert_eq!(due[0].occasion, Occasion::Deleted);
    let refused =
        Candidate { account: tenant.account.id, id: due[0].id, segments: Err("it was deleted".into()) };
    assert!(on.store.reserve(vec![refused], &policy()).await.unwrap().granted.is_empty());
    assert_eq!(on.states(&tenant, Channel::EMAIL).await, [(Failed, Some("it was deleted".into()))]);
}

pub(crate) async fn a_dead_letter_can_be_sent_again(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(1, 0)).await;
    on.raise(&tenant, device, "RPM").await;
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &SendOutcome::Refused { reason: "550".into() }).await;
    let (actor, id) = (tenant.actor(), held[0].id);
    let waiting = on.store.resend_notification(&actor, id).await.unwrap();
    assert_eq!((waiting.state, waiting.reason, waiting.attempts), (Waiting, None, 0));
    assert_eq!(on.store.resend_notification(&actor, id).await.unwrap().state, Waiting);
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &sent()).await;
    assert_fails!(on.store.resend_notification(&actor, id).await, StoreError::AlreadySent);
    let stranger = on.tenant("other").await.actor();
    assert_fails!(on.store.resend_notification(&stranger, id).await, StoreError::NotFound(_));
    on.store.delete_device(&actor, device, None).await.unwrap();
    assert!(on.messages(&tenant).await.is_empty(), "a deleted device leaves nothing behind");
}

pub(crate) async fn a_message_is_given_up_in_time(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(50, 50)).await;
    on.raise(&tenant, device, "RPM").await;
    let later = SendOutcome::RetryLater { reason: "busy".into(), wait: None };
    for (channel, days) in [(Channel::EMAIL, 4), (Channel::SMS, 0)] {
        let begun = on.now();
        let mut attempts = 0;
        while let Some(next) = on.store.next_due(channel).await.unwrap() {
            on.clock().set(next);
            let held = on.reserve_all(channel).await;
            on.settle_all(&held, &later).await;
            attempts += 1;
            assert!(attempts < 100);
        }
        let (state, reason) = on.states(&tenant, channel).await.remove(0);
        assert!(state == Failed && reason.is_some_and(|reason| reason.contains("given up")));
        assert_eq!((on.now().as_seconds() - begun.as_seconds()) / 86_400, days);
        on.clock().set(begun);
    }
    assert_eq!(on.emails_sent(&tenant, device).await, 0);
}
