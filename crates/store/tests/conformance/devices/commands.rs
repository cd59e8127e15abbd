//! Commands: queued, sent once, answered, failed or expired, and seen with their device.

use perigee_core::access::actor::Reach;
use perigee_core::devices::command::{
    Command, CommandEnd, CommandFilter, CommandKind, CommandState, NewCommand,
};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::{EventFilter, EventObject};
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::DeviceId;
use perigee_core::idempotency::Created;
use perigee_core::page::PageRequest;
use perigee_core::store::{Commands as _, Devices as _, Events as _, Reporters as _};
use perigee_core::time::Clock as _;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::named;

fn command(on: &Fixture, seconds: i64) -> NewCommand {
    let deadline = on.clock().now().plus_seconds(seconds);
    NewCommand { kind: CommandKind::Custom, values: "{\"data\":\"x\"}".into(), deadline }
}

async fn give(on: &Fixture, tenant: &Tenant, device: DeviceId, seconds: i64) -> Command {
    on.store.create_command(&tenant.actor(), device, command(on, seconds), None).await.unwrap().into_inner()
}

async fn tracker(on: &Fixture, tenant: &Tenant, name: &str) -> Reporter {
    let settings = DeviceSettings { identifier: Some(name.into()), ..named(name) };
    on.add(tenant, settings).await;
    on.store.find_claimed_device(&[name.to_owned()], CountedClaims::All).await.unwrap().unwrap()
}

async fn state(on: &Fixture, tenant: &Tenant, command: &Command) -> CommandState {
    on.store.find_command(tenant.scope(), command.id).await.unwrap().unwrap().state
}

pub(crate) async fn a_command_goes_from_queued_to_answered(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    let once = tenant.once("commands", "key", 1);
    let new = command(&on, 60);
    let made = on
        .store
        .create_command(&tenant.actor(), tracker.device, new.clone(), Some(once.clone()))
        .await
        .unwrap();
    assert!(matches!(made, Created::Now(_)), "it is new");
    let made = made.into_inner();
    assert_eq!((made.state, made.created_by), (CommandState::Queued, Some(tenant.owner.id)));
    let again = on.store.create_command(&tenant.actor(), tracker.device, new, Some(once)).await.unwrap();
    assert_eq!(again.into_inner(), made, "sent twice");

    assert_eq!(on.store.devices_with_commands(10).await.unwrap(), [tracker.device]);
    assert!(!on.store.answer_command(&tracker, "too early").await.unwrap());
    assert!(on.store.mark_sent(&tracker, made.id, "gt06").await.unwrap());
    assert!(!on.store.mark_sent(&tracker, made.id, "gt06").await.unwrap(), "sent once");
    assert_eq!(on.store.devices_with_commands(10).await.unwrap(), []);
    let long = format!("a\0{}", "b".repeat(2 * Command::ANSWER_MAX));
    assert!(on.store.answer_command(&tracker, &long).await.unwrap());
    assert!(!on.store.answer_command(&tracker, "again").await.unwrap());
    let done = on.store.find_command(tenant.scope(), made.id).await.unwrap().unwrap();
    assert_eq!((done.state, done.protocol.as_deref()), (CommandState::Answered, Some("gt06")));
    assert!(done.sent_at.is_some() && done.ended_at.is_some() && done.error.is_none());
    assert_eq!(done.answer.unwrap().len(), Command::ANSWER_MAX);

    let kinds = ["command.queued", "command.sent", "command.answered"];
    let page = on.store.read_events(tenant.scope(), &EventFilter::default(), 0, 100).await.unwrap();
    let events: Vec<_> =
        page.events.into_iter().filter(|event| event.kind.name().starts_with("command.")).collect();
    assert_eq!(events.iter().map(|event| event.kind.name()).collect::<Vec<_>>(), kinds);
    for event in &events {
        assert_eq!(
            (event.device, event.subject.as_str()),
            (Some(tracker.device), made.id.to_string().as_str())
        );
        assert!(matches!(event.object, EventObject::Command(_)));
    }

    let late = give(&on, &tenant, tracker.device, 60).await;
    assert!(on.store.mark_sent(&tracker, late.id, "gt06").await.unwrap());
    on.clock().advance_seconds(Command::ANSWER_WITHIN_MS / 1000);
    assert!(!on.store.answer_command(&tracker, "too late").await.unwrap());
}

pub(crate) async fn a_command_is_sent_once_and_in_order(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    let (first, second) =
        (give(&on, &tenant, tracker.device, 60).await, give(&on, &tenant, tracker.device, 10).await);
    let queued = async || {
        let commands = on.store.queued_commands(&tracker, 10).await.unwrap();
        commands.into_iter().map(|command| command.id).collect::<Vec<_>>()
    };
    assert_eq!(queued().await, [first.id, second.id]);
    on.store.mark_sent(&tracker, first.id, "gt06").await.unwrap();
    assert_eq!(queued().await, [second.id]);
    // The connection broke: it goes back to its position in the queue.
    on.store.settle_command(&tracker, first.id, CommandEnd::Unsent).await.unwrap();
    assert_eq!(queued().await, [first.id, second.id]);
    on.clock().advance_seconds(10);
    assert_eq!(queued().await, [first.id], "a deadline needs no job");
    assert_eq!(on.store.expire_commands(10).await.unwrap(), [tenant.account.id]);
    assert_eq!(on.store.expire_commands(10).await.unwrap(), []);
    assert_eq!(state(&on, &tenant, &second).await, CommandState::Expired);
    assert!(!on.store.mark_sent(&tracker, second.id, "gt06").await.unwrap());
    on.store.settle_command(&tracker, first.id, CommandEnd::Failed("why".into())).await.unwrap();
    assert_eq!(state(&on, &tenant, &first).await, CommandState::Failed);
    let cancelled = on.store.cancel_command(&tenant.actor(), first.id).await;
    assert_fails!(cancelled, StoreError::NotQueued(CommandState::Failed));
}

pub(crate) async fn a_queue_is_bounded_and_old_commands_are_forgotten(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let tracker = tracker(&on, &tenant, "imei").await;
    for _ in 0..Command::QUEUED_MAX {
        give(&on, &tenant, tracker.device, 10).await;
    }
    let more = on.store.create_command(&tenant.actor(), tracker.device, command(&on, 10), None).await;
    assert_fails!(more, StoreError::TooMany { kind: Kind::Command, most: Command::QUEUED_MAX });
    let list = async |limit| {
        let filter = CommandFilter { device: Some(tracker.device), state: None };
        on.store.list_commands(tenant.scope(), filter, PageRequest::first(limit)).await.unwrap()
    };
    assert_eq!(list(1_000).await.items.len(), 100);
    let page = list(1).await;
    assert!(page.next.is_some());
    on.clock().advance_seconds(10);
    on.store.expire_commands(1_000).await.unwrap();
    give(&on, &tenant, tracker.device, 10).await;
    assert_eq!(list(1_000).await.items.len(), 101, "fewer than are kept");
    on.store.delete_device(&tenant.actor(), tracker.device, None).await.unwrap();
    assert_eq!(list(1_000).await.items, [], "deleted with their device");
}

pub(crate) async fn commands_are_seen_with_their_device(on: Fixture) {
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let ours = tracker(&on, &tenant, "imei").await;
    let hidden = on.add(&tenant, named("hidden")).await.id;
    let (shown, unseen) = (give(&on, &tenant, ours.device, 10).await, give(&on, &tenant, hidden, 10).await);
    let narrow = tenant.within(Reach::Device(ours.device));
    let all = CommandFilter::default();
    let list = async |scope| {
        let page = on.store.list_commands(scope, all, PageRequest::first(10)).await.unwrap();
        page.items.into_iter().map(|command| command.id).collect::<Vec<_>>()
    };
    assert_eq!(list(tenant.scope()).await, [unseen.id, shown.id], "newest first");
    assert_eq!(list(narrow.scope).await, [shown.id]);
    assert_eq!(list(other.scope()).await, []);
    assert_eq!(on.store.find_command(narrow.scope, unseen.id).await.unwrap(), None);
    for actor in [narrow.clone(), other.actor()] {
        let cancelled = on.store.cancel_command(&actor, unseen.id).await;
        assert_fails!(cancelled, StoreError::NotFound(Kind::Command));
        let given = on.store.create_command(&actor, hidden, command(&on, 10), None).await;
        assert_fails!(given, StoreError::NotFound(Kind::Device));
    }
    assert_eq!(on.store.cancel_command(&narrow, shown.id).await.unwrap().state, CommandState::Failed);
}
