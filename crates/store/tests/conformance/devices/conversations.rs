//! Conversations: texts of devices are stored once and with their message, messages to devices are handed over once and
//! in order, and what is unclear is not sent again.

use futures_util::future::join_all;
use perigee_core::access::actor::Reach;
use perigee_core::devices::command::{CommandEnd, CommandKind, NewCommand};
use perigee_core::devices::conversation::{
    Carrier, ConversationMessage, Direction, NewOutgoing, NewText, OutgoingText, TextEnd, TextKind, TextState,
};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::{EventKind, EventObject};
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::{MessageResult, Reporter};
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::id::{DeviceId, GatewayId};
use perigee_core::page::PageRequest;
use perigee_core::store::{
    Commands as _, Conversations as _, Devices as _, RawMessages as _, Reporters as _,
};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{fix, message, named};

const LEASE_MS: i64 = 60_000;

async fn tracker(on: &Fixture, tenant: &Tenant, name: &str) -> Reporter {
    let settings = DeviceSettings { identifier: Some(name.into()), ..named(name) };
    on.add(tenant, settings).await;
    on.store.find_claimed_device(&[name.to_owned()], CountedClaims::All).await.unwrap().unwrap()
}

fn said(on: &Fixture, text: &str) -> NewText {
    let (time, source) = (on.now(), "garmin");
    NewText { time, is_dated: true, key: None, text: text.to_owned(), position: None, source }
}

/// Stores a message with this text, and returns whether the text was new.
async fn receive(on: &Fixture, from: &Reporter, text: NewText) -> bool {
    let contents = MessageContents { texts: vec![text], ..MessageContents::default() };
    let stored = on.store.store_message(from, message(b"text"), contents).await.unwrap();
    assert_eq!(stored.contents.texts.len(), 1);
    stored.contents.is_new()
}

fn outgoing(on: &Fixture, text: &str) -> NewOutgoing {
    let carrier = Carrier::Gateway {
        gateway: GatewayId::from_i64(7),
        feed: "garmin".to_owned(),
        address: "300".to_owned(),
    };
    let deadline = on.now().plus_seconds(3_600);
    NewOutgoing { kind: TextKind::Text, text: text.to_owned(), interval_s: None, carrier, deadline }
}

async fn send(on: &Fixture, tenant: &Tenant, device: DeviceId, text: &str) -> ConversationMessage {
    let sent = on.store.send_texts(&tenant.actor(), device, vec![outgoing(on, text)], None).await;
    sent.unwrap().into_inner().pop().unwrap()
}

async fn list(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Vec<ConversationMessage> {
    on.store.list_conversation(tenant.scope(), device, PageRequest::first(1_000)).await.unwrap().items
}

async fn state(on: &Fixture, tenant: &Tenant, sent: &ConversationMessage) -> TextState {
    on.store.find_text(tenant.scope(), sent.id).await.unwrap().unwrap().state
}

async fn lease(on: &Fixture) -> Vec<OutgoingText> {
    on.store.lease_texts(10, LEASE_MS).await.unwrap()
}

pub(crate) async fn a_text_is_stored_once_with_its_message(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = tracker(&on, &tenant, "imei").await;
    let location = fix(on.now(), 1.0);
    let position = Some((location.latitude, location.longitude));
    let text = NewText { position, ..said(&on, " Flat\0 tyre\r\nsoon\n ") };
    let contents =
        || MessageContents { texts: vec![text.clone()], ..MessageContents::from(vec![location.clone()]) };
    for result in [MessageResult::Decoded, MessageResult::Duplicate] {
        let stored = on.store.store_message(&boat, message(b"text"), contents()).await.unwrap();
        assert_eq!(stored.result, result);
    }
    on.crash().await;
    let found = list(&on, &tenant, boat.device).await;
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((only.text.as_str(), only.position), ("Flat tyre\nsoon", position));
    assert_eq!(
        (only.direction, only.state, only.link.as_deref()),
        (Direction::In, TextState::Received, Some("garmin"))
    );
    // The same provider may deliver it by another feed, with a time of another precision.
    let again = NewText { source: "garmin-history", time: text.time.plus_millis(1), ..text.clone() };
    assert!(!receive(&on, &boat, again).await);
    assert!(receive(&on, &boat, NewText { time: text.time.plus_seconds(60), ..text.clone() }).await);
    // Without a time, the number of the provider decides; without both, the time of arrival.
    let numbered = NewText { is_dated: false, key: Some("7".to_owned()), ..text.clone() };
    assert!(receive(&on, &boat, numbered.clone()).await);
    assert!(!receive(&on, &boat, NewText { time: text.time.plus_seconds(9_000), ..numbered.clone() }).await);
    assert!(receive(&on, &boat, NewText { key: Some("8".to_owned()), ..numbered }).await);
    let bare = NewText { is_dated: false, ..text.clone() };
    assert!(receive(&on, &boat, bare.clone()).await);
    assert!(!receive(&on, &boat, NewText { time: text.time.plus_seconds(120), ..bare.clone() }).await);
    assert!(receive(&on, &boat, NewText { time: text.time.plus_seconds(121), ..bare }).await);
    assert!(!receive(&on, &boat, said(&on, " \n\u{7} ")).await, "nothing to read");
    let kinds: Vec<_> = on.events(&tenant).await.into_iter().map(|event| event.kind).collect();
    let received = kinds.iter().filter(|kind| **kind == EventKind::ConversationReceived).count();
    assert_eq!(received, list(&on, &tenant, boat.device).await.len());
}

pub(crate) async fn without_its_text_no_message_is_stored(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = tracker(&on, &tenant, "imei").await;
    on.sql("ALTER TABLE conversation RENAME COLUMN newest_id TO newest_away", &[]).await;
    let contents = || MessageContents {
        texts: vec![said(&on, "hi")],
        ..MessageContents::from(vec![fix(on.now(), 1.0)])
    };
    on.store.store_message(&boat, message(b"text"), contents()).await.unwrap_err();
    on.sql("ALTER TABLE conversation RENAME COLUMN newest_away TO newest_id", &[]).await;
    assert_eq!(list(&on, &tenant, boat.device).await, []);
    let stored = on.store.store_message(&boat, message(b"text"), contents()).await.unwrap();
    assert_eq!(stored.result, MessageResult::Decoded, "nothing of the first attempt was stored");
}

pub(crate) async fn texts_are_unread_until_each_user_has_read_them(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let (boat, car) = (tracker(&on, &tenant, "boat").await, tracker(&on, &tenant, "car").await);
    for number in 0..3 {
        assert!(receive(&on, &boat, said(&on, &number.to_string())).await);
    }
    send(&on, &tenant, boat.device, "out").await;
    let owner = tenant.owner.id;
    let reader = on.user(&tenant, "reader").await.id;
    let unread = async |user| {
        let found = on.store.find_conversation(tenant.scope(), Some(user), boat.device).await.unwrap();
        found.unwrap().unread
    };
    assert_eq!((unread(owner).await, unread(reader).await), (3, 3), "one's own message is not unread");
    let newest_first = list(&on, &tenant, boat.device).await;
    let texts: Vec<_> = newest_first.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["out", "2", "1", "0"]);
    let mark = async |at: usize| {
        let up_to = Some(newest_first[at].id);
        on.store.mark_conversation_read(&tenant.actor(), boat.device, up_to).await.unwrap()
    };
    assert_eq!((mark(2).await, mark(3).await, mark(0).await), (1, 1, 0), "a mark never moves back");
    assert_eq!((unread(owner).await, unread(reader).await), (0, 3));
    assert!(receive(&on, &boat, said(&on, "more")).await);
    assert_eq!(unread(owner).await, 1);
    let of_another =
        on.store.mark_conversation_read(&tenant.actor(), car.device, Some(newest_first[0].id)).await;
    assert_fails!(of_another, StoreError::NotFound(Kind::ConversationMessage));
    assert_eq!(on.store.mark_conversation_read(&tenant.actor(), car.device, None).await.unwrap(), 0);

    let all = on.store.list_conversations(tenant.scope(), Some(owner), PageRequest::first(10)).await.unwrap();
    assert_eq!(all.items.iter().map(|one| (one.device, one.unread)).collect::<Vec<_>>(), [(boat.device, 1)]);
    assert_eq!(all.items[0].newest.text, "more");
    let narrow = tenant.within(Reach::Device(car.device));
    for scope in [narrow.scope, other.scope()] {
        assert_eq!(on.store.list_conversations(scope, None, PageRequest::first(10)).await.unwrap().items, []);
        assert_eq!(on.store.find_text(scope, newest_first[0].id).await.unwrap(), None);
    }
    for actor in [narrow, other.actor()] {
        let marked = on.store.mark_conversation_read(&actor, boat.device, None).await;
        assert_fails!(marked, StoreError::NotFound(Kind::Device));
        let sent = on.store.send_texts(&actor, boat.device, vec![outgoing(&on, "x")], None).await;
        assert_fails!(sent, StoreError::NotFound(Kind::Device));
        let cancelled = on.store.cancel_text(&actor, newest_first[0].id).await;
        assert_fails!(cancelled, StoreError::NotFound(Kind::ConversationMessage));
    }
    on.store.delete_device(&tenant.actor(), boat.device, None).await.unwrap();
    assert_eq!(list(&on, &tenant, boat.device).await, []);
}

pub(crate) async fn a_message_is_handed_over_in_order_and_answered(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = tracker(&on, &tenant, "imei").await;
    let held = tenant.once("conversation", "key", 1);
    let new = vec![outgoing(&on, "first")];
    let first =
        on.store.send_texts(&tenant.actor(), boat.device, new.clone(), Some(held.clone())).await.unwrap();
    let first = first.into_inner();
    let again = on.store.send_texts(&tenant.actor(), boat.device, new, Some(held)).await.unwrap();
    assert_eq!(again.into_inner(), first, "sent twice");
    let first = first[0].clone();
    let second = send(&on, &tenant, boat.device, "second").await;
    let leased = lease(&on).await;
    let [one] = leased.as_slice() else { panic!("one of a device at a time: {leased:?}") };
    assert_eq!((one.message.id, one.address.as_str(), one.attempts), (first.id, "300", 0));
    assert_eq!(lease(&on).await, []);
    let later = on.now().plus_seconds(30);
    assert!(on.store.settle_text(one, TextEnd::Again("busy".into(), later)).await.unwrap());
    assert_eq!(lease(&on).await, [], "the second waits behind the first");
    on.clock().advance_seconds(30);
    let leased = lease(&on).await;
    assert_eq!((leased[0].message.id, leased[0].attempts), (first.id, 1));
    assert!(!on.store.settle_text(one, TextEnd::HandedOver(None)).await.unwrap(), "an earlier lease");
    assert!(on.store.settle_text(&leased[0], TextEnd::HandedOver(Some("99".into()))).await.unwrap());
    assert!(!on.store.settle_text(&leased[0], TextEnd::Failed("late".into())).await.unwrap(), "settled once");
    let leased = lease(&on).await;
    assert_eq!(leased[0].message.id, second.id);
    assert!(on.store.settle_text(&leased[0], TextEnd::Failed("no credit".into())).await.unwrap());
    assert_eq!(state(&on, &tenant, &second).await, TextState::Failed);

    // A text written before, or by another provider, is no answer.
    let before = NewText { time: on.now().plus_seconds(-60), ..said(&on, "before") };
    assert!(receive(&on, &boat, before).await);
    assert!(receive(&on, &boat, NewText { source: "rockblock", ..said(&on, "elsewhere") }).await);
    assert_eq!(state(&on, &tenant, &first).await, TextState::HandedOver);
    on.clock().advance_seconds(60);
    assert!(receive(&on, &boat, said(&on, "understood")).await);
    let answered = on.store.find_text(tenant.scope(), first.id).await.unwrap().unwrap();
    assert_eq!((answered.state, answered.reference.as_deref()), (TextState::Answered, Some("99")));
    let events = on.events(&tenant).await;
    let of_first: Vec<_> =
        events.iter().filter(|event| event.subject == first.id.to_string()).map(|event| event.kind).collect();
    let changed = EventKind::ConversationChanged;
    assert_eq!(of_first, [EventKind::ConversationSent, changed, changed, changed]);
    let object = &events.iter().find(|event| event.subject == first.id.to_string()).unwrap().object;
    assert!(matches!(object, EventObject::ConversationMessage(_)), "{object:?}");
}

pub(crate) async fn what_is_unclear_is_never_sent_again(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = tracker(&on, &tenant, "imei").await;
    let (lost, next) =
        (send(&on, &tenant, boat.device, "lost").await, send(&on, &tenant, boat.device, "next").await);
    let leased = lease(&on).await;
    // The service is killed while it hands the message over.
    on.crash().await;
    assert_eq!((lease(&on).await, on.store.end_overdue_texts(10).await.unwrap()), (Vec::new(), 0));
    on.clock().advance_seconds(LEASE_MS / 1_000);
    assert_eq!(on.store.end_overdue_texts(10).await.unwrap(), 1);
    assert_eq!(on.store.end_overdue_texts(10).await.unwrap(), 0);
    assert_eq!(state(&on, &tenant, &lost).await, TextState::Unclear);
    assert_eq!(lease(&on).await[0].message.id, next.id);
    // The worker was only slow: it knows the result of its own attempt.
    assert!(on.store.settle_text(&leased[0], TextEnd::HandedOver(None)).await.unwrap());
    assert_eq!(state(&on, &tenant, &lost).await, TextState::HandedOver);

    let expired = send(&on, &tenant, boat.device, "too late").await;
    let cancelled = send(&on, &tenant, boat.device, "withdrawn").await;
    let withdrawn = on.store.cancel_text(&tenant.actor(), cancelled.id).await.unwrap();
    assert_eq!(withdrawn.state, TextState::Cancelled);
    let again = on.store.cancel_text(&tenant.actor(), cancelled.id).await;
    assert_fails!(again, StoreError::TextNotQueued(TextState::Cancelled));
    let sending = on.store.cancel_text(&tenant.actor(), next.id).await;
    assert_fails!(sending, StoreError::TextNotQueued(TextState::Sending));
    on.clock().advance_seconds(3_600);
    assert_eq!(lease(&on).await, []);
    assert_eq!(on.store.end_overdue_texts(10).await.unwrap(), 2, "the lease of the next one is over too");
    assert_eq!(state(&on, &tenant, &expired).await, TextState::Expired);
}

pub(crate) async fn concurrent_workers_hand_each_message_over_once(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let mut devices = Vec::new();
    for number in 0..6 {
        devices.push(on.add(&tenant, named(&format!("boat {number}"))).await.id);
    }
    for round in 0..4 {
        for device in &devices {
            send(&on, &tenant, *device, &round.to_string()).await;
        }
    }
    let (node, other) = (on.store.clone(), on.other_node().await);
    let work = async |store: &perigee_store::Database| {
        let mut handed = Vec::new();
        for _ in 0..40 {
            for text in store.lease_texts(3, LEASE_MS).await.unwrap() {
                handed.push((text.message.device, text.message.id));
                assert!(store.settle_text(&text, TextEnd::HandedOver(None)).await.unwrap());
            }
        }
        handed
    };
    let handed = join_all([work(&node), work(&other), work(&node), work(&other)]).await.concat();
    assert_eq!(handed.len(), 24, "each once: {handed:?}");
    let mut distinct: Vec<_> = handed.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 24, "none twice");

    // The check notices a worker that ignores its lease: put back into the queue, a message would be sent again.
    let broken = send(&on, &tenant, devices[0], "broken").await;
    let leased = lease(&on).await;
    on.sql("UPDATE conversation_message SET state = 'queued', due = 0 WHERE body = 'broken'", &[]).await;
    let twice = lease(&on).await;
    assert_eq!((leased[0].message.id, twice[0].message.id), (broken.id, broken.id));
    assert!(!on.store.settle_text(&leased[0], TextEnd::HandedOver(None)).await.unwrap(), "fenced");
    assert!(on.store.settle_text(&twice[0], TextEnd::HandedOver(None)).await.unwrap());
}

pub(crate) async fn a_command_carries_a_message_to_a_tracker(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let car = tracker(&on, &tenant, "imei").await;
    let deadline = on.now().plus_seconds(60);
    let order = NewCommand { kind: CommandKind::Message, values: "{\"message\":\"hi\"}".into(), deadline };
    let carrier = Carrier::Command(order);
    let new =
        vec![NewOutgoing { kind: TextKind::Text, text: "hi".into(), interval_s: None, carrier, deadline }];
    let sent = async || {
        let sent = on.store.send_texts(&tenant.actor(), car.device, new.clone(), None).await;
        sent.unwrap().into_inner().pop().unwrap()
    };
    let message = sent().await;
    let command = message.command.unwrap();
    assert_eq!(lease(&on).await, [], "no worker takes it");
    assert!(on.store.mark_sent(&car, command, "wialon").await.unwrap());
    let found = on.store.find_text(tenant.scope(), message.id).await.unwrap().unwrap();
    assert_eq!((found.state, found.link.as_deref()), (TextState::HandedOver, Some("wialon")));
    on.store.settle_command(&car, command, CommandEnd::Unsent).await.unwrap();
    assert_eq!(state(&on, &tenant, &message).await, TextState::Queued);
    assert!(on.store.mark_sent(&car, command, "wialon").await.unwrap());
    assert!(on.store.answer_command(&car, "1").await.unwrap());
    let found = on.store.find_text(tenant.scope(), message.id).await.unwrap().unwrap();
    assert_eq!((found.state, found.reference.as_deref()), (TextState::Delivered, Some("1")));

    let (failed, cancelled, expired) = (sent().await, sent().await, sent().await);
    let end = CommandEnd::Failed("no such command".into());
    on.store.settle_command(&car, failed.command.unwrap(), end).await.unwrap();
    assert_eq!(state(&on, &tenant, &failed).await, TextState::Failed);
    assert_eq!(
        on.store.cancel_text(&tenant.actor(), cancelled.id).await.unwrap().state,
        TextState::Cancelled
    );
    on.clock().advance_seconds(60);
    on.store.expire_commands(10).await.unwrap();
    assert_eq!(state(&on, &tenant, &expired).await, TextState::Expired);
}

pub(crate) async fn billed_messages_are_capped(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = on.add(&tenant, named("boat")).await.id;
    let most = ConversationMessage::BILLED_DEVICE_MAX;
    for _ in 0..most {
        send(&on, &tenant, boat, "x").await;
    }
    let more = async || on.store.send_texts(&tenant.actor(), boat, vec![outgoing(&on, "x")], None).await;
    assert_fails!(
        more().await,
        StoreError::TooMany { kind: Kind::ConversationMessage, most: ConversationMessage::QUEUED_MAX }
    );
    on.sql("UPDATE conversation_message SET state = 'handedOver'", &[]).await;
    assert_fails!(
        more().await,
        StoreError::TooManyBilled { kind: Kind::Device, most: ConversationMessage::BILLED_DEVICE_MAX }
    );
    let other = on.add(&tenant, named("other")).await.id;
    send(&on, &tenant, other, "x").await;
    on.clock().advance_seconds(24 * 3_600);
    more().await.unwrap();
}

pub(crate) async fn parts_of_a_text_are_queued_together_or_not_at_all(mut on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = on.add(&tenant, named("boat")).await.id;
    let parts = |count: usize| (1..=count).map(|part| outgoing(&on, &part.to_string())).collect::<Vec<_>>();
    let held = tenant.once("conversation", "key", 1);
    let three = parts(3);
    let sent = on.store.send_texts(&tenant.actor(), boat, three.clone(), Some(held.clone())).await.unwrap();
    let sent = sent.into_inner();
    let again = on.store.send_texts(&tenant.actor(), boat, three, Some(held)).await.unwrap();
    assert_eq!(again.into_inner(), sent, "sent twice");
    let texts = |list: &[ConversationMessage]| list.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&sent), ["1", "2", "3"]);
    assert!(sent.is_sorted_by_key(|message| message.id));

    // The queue has room for 47 more: none of 48 is queued.
    let nine = parts(9);
    for _ in 0..5 {
        on.store.send_texts(&tenant.actor(), boat, nine.clone(), None).await.unwrap();
    }
    let refused = on.store.send_texts(&tenant.actor(), boat, nine[..3].to_vec(), None).await;
    assert_fails!(
        refused,
        StoreError::TooMany { kind: Kind::ConversationMessage, most: ConversationMessage::QUEUED_MAX }
    );
    assert_eq!(list(&on, &tenant, boat).await.len(), 48);
    on.sql("UPDATE conversation_message SET state = 'handedOver'", &[]).await;
    let refused = on.store.send_texts(&tenant.actor(), boat, nine[..3].to_vec(), None).await;
    assert_fails!(
        refused,
        StoreError::TooManyBilled { kind: Kind::Device, most: ConversationMessage::BILLED_DEVICE_MAX }
    );
    on.store.send_texts(&tenant.actor(), boat, nine[..2].to_vec(), None).await.unwrap();

    // A failure between two parts leaves none of them, after a crash too.
    on.clock().advance_seconds(24 * 3_600);
    on.sql("ALTER TABLE conversation RENAME COLUMN newest_id TO newest_away", &[]).await;
    on.store.send_texts(&tenant.actor(), boat, nine, None).await.unwrap_err();
    on.sql("ALTER TABLE conversation RENAME COLUMN newest_away TO newest_id", &[]).await;
    on.crash().await;
    assert_eq!(list(&on, &tenant, boat).await.len(), 50);
    let mut handed = Vec::new();
    while let Some(one) = lease(&on).await.pop() {
        handed.push(one.message.text.clone());
        assert!(on.store.settle_text(&one, TextEnd::HandedOver(None)).await.unwrap());
    }
    assert_eq!(handed.len(), 0, "their deadline is over: {handed:?}");
}

pub(crate) async fn an_interval_is_kept_and_parts_keep_their_order(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let boat = on.add(&tenant, named("boat")).await.id;
    let kinds = [
        (TextKind::TrackingInterval, "", Some(65_535)),
        (TextKind::EmergencyAcknowledge, "", None),
        (TextKind::EmergencyMessage, "Hold on", None),
        (TextKind::LocationRequest, "", None),
    ];
    let of = |(kind, text, interval_s): (TextKind, &str, Option<u32>)| NewOutgoing {
        kind,
        interval_s,
        ..outgoing(&on, text)
    };
    let new: Vec<_> = kinds.into_iter().map(of).collect();
    on.store.send_texts(&tenant.actor(), boat, new, None).await.unwrap();
    for (kind, text, interval_s) in kinds {
        let one = lease(&on).await.pop().unwrap();
        let message = &one.message;
        assert_eq!((message.kind, message.text.as_str(), message.interval_s), (kind, text, interval_s));
        assert!(on.store.settle_text(&one, TextEnd::HandedOver(None)).await.unwrap());
    }
}
