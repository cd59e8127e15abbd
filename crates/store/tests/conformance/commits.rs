//! The signal of commits: every kind of write wakes those who wait for it, and only those.

use perigee_core::access::actor::Actor;
use perigee_core::alerts::sos_notice::SosReason;
use perigee_core::devices::command::{CommandKind, NewCommand};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::StoreError;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::notifications::notification::{Channel, SendOutcome};
use perigee_core::page::PageRequest;
use perigee_core::store::{
    Commands as _, Commits as _, Devices as _, Emergencies as _, Locations as _, Notifications as _, Queue,
    Reporters as _, Webhooks as _,
};
use tokio::sync::watch;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::gateways::sos_outbox::notice;
use crate::notifications::outbox::daily;
use crate::sample::{fix, named, until};
use crate::webhooks;

const QUEUES: [Queue; 4] =
    [Queue::Outbox(Channel::EMAIL), Queue::Outbox(Channel::SMS), Queue::RecordedSos, Queue::Identifiers];

/// Those who wait: for the account, for any account, and for each queue.
struct Waiting {
    account: watch::Receiver<()>,
    any_account: watch::Receiver<()>,
    queues: [watch::Receiver<()>; 4],
}

impl Waiting {
    fn new(on: &Fixture, tenant: &Tenant) -> Self {
        let signals = on.store.commit_signals();
        Self {
            account: signals.of_account(tenant.account.id),
            any_account: signals.of_any_account(),
            queues: QUEUES.map(|queue| signals.of_queue(queue)),
        }
    }

    /// Whether readers of the account were woken, and which queues were signalled, since the last call.
    #[track_caller]
    fn expect(&mut self, write: &str, account: bool, queues: &[Queue]) {
        let woken = |receiver: &mut watch::Receiver<()>| {
            let changed = receiver.has_changed().unwrap();
            receiver.mark_unchanged();
            changed
        };
        assert_eq!(woken(&mut self.account), account, "{write}: the account");
        assert_eq!(woken(&mut self.any_account), account, "{write}: any account");
        for (queue, receiver) in QUEUES.iter().zip(&mut self.queues) {
            assert_eq!(woken(receiver), queues.contains(queue), "{write}: {queue:?}");
        }
    }
}

fn tracked(name: &str) -> DeviceSettings {
    DeviceSettings { identifier: Some(name.into()), ..named(name) }
}

fn command(on: &Fixture) -> NewCommand {
    let deadline = on.now().plus_seconds(60);
    NewCommand { kind: CommandKind::Custom, values: "{\"data\":\"x\"}".into(), deadline }
}

pub(crate) async fn changes_and_locations_wake_readers_of_the_account(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (actor, mut waiting) = (tenant.actor(), Waiting::new(&on, &tenant));
    let device = on.add(&tenant, tracked("imei")).await;
    waiting.expect("a new device", true, &[Queue::Identifiers]);
    on.set(&tenant, device.id, tracked("other")).await.unwrap();
    waiting.expect("a changed device", true, &[Queue::Identifiers]);
    on.store.store_locations(&actor, device.id, vec![fix(on.now(), 1.0)]).await.unwrap();
    waiting.expect("a location", true, &[]);
    on.store.store_locations(&actor, device.id, vec![fix(on.now(), 1.0)]).await.unwrap();
    waiting.expect("a duplicate", false, &[]);

    let hook = webhooks::make(&on, &tenant).await;
    waiting.expect("a new webhook", true, &[]);
    webhooks::queue(&on, &hook, &["one"]).await;
    let page = PageRequest::first(10);
    let delivery = on.store.list_deliveries(tenant.scope(), hook.id, None, page).await.unwrap().items.pop();
    waiting.expect("reading", false, &[]);
    on.store.retry_delivery(&actor, hook.id, delivery.unwrap().id).await.unwrap();
    waiting.expect("a delivery that is sent again", true, &[]);

    on.store.create_command(&actor, device.id, command(&on), None).await.unwrap();
    waiting.expect("a command", true, &[]);
    on.clock().advance_seconds(61);
    on.store.expire_commands(10).await.unwrap();
    waiting.expect("an expired command", true, &[]);
    on.add(&tenant, until("two", "2026-01-02")).await;
    waiting.expect("a device that expires soon", true, &[Queue::Identifiers]);
    on.store.announce_expiries().await.unwrap();
    waiting.expect("its announcement", true, &[]);
    on.store.delete_device(&actor, device.id, None).await.unwrap();
    waiting.expect("a deleted device", true, &[Queue::Identifiers]);
}

pub(crate) async fn messages_wake_the_workers_of_their_queue(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.limited(&tenant, daily(10, 0)).await;
    let mut waiting = Waiting::new(&on, &tenant);
    on.raise(&tenant, device, "RPM").await;
    let both = [Queue::Outbox(Channel::EMAIL), Queue::Outbox(Channel::SMS)];
    waiting.expect("an alert", true, &both);
    let held = on.reserve_all(Channel::EMAIL).await;
    on.settle_all(&held, &SendOutcome::Refused { reason: "550".into() }).await;
    waiting.queues.iter_mut().for_each(watch::Receiver::mark_unchanged);
    waiting.account.mark_unchanged();
    waiting.any_account.mark_unchanged();
    on.store.resend_notification(&tenant.actor(), held[0].id).await.unwrap();
    waiting.expect("a message that is sent again", true, &[Queue::Outbox(Channel::EMAIL)]);
    on.store.record_sos(notice("unknown", SosReason::UnknownDevice)).await.unwrap();
    waiting.expect("an SOS of an unknown device", false, &[Queue::RecordedSos]);
}

pub(crate) async fn a_tracker_that_answers_wakes_readers(on: Fixture) {
    let tenant = on.tenant("acme").await;
    on.add(&tenant, tracked("imei")).await;
    let found = on.store.find_claimed_device(&["imei".to_owned()], CountedClaims::All).await;
    let tracker = found.unwrap().unwrap();
    let given = on.store.create_command(&tenant.actor(), tracker.device, command(&on), None).await;
    let mut waiting = Waiting::new(&on, &tenant);
    on.store.mark_sent(&tracker, given.unwrap().into_inner().id, "gt06").await.unwrap();
    waiting.expect("a command that was sent", true, &[]);
    on.store.answer_command(&tracker, "done").await.unwrap();
    waiting.expect("its answer", true, &[]);
}

pub(crate) async fn what_is_not_committed_wakes_nobody(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, tracked("imei")).await;
    let (actor, mut waiting): (Actor, _) = (tenant.actor(), Waiting::new(&on, &tenant));
    let taken = on.store.create_device(&actor, tracked("imei"), None).await;
    assert_fails!(taken, StoreError::Taken(_));
    waiting.expect("a refused device", false, &[]);
    // The event of the change is marked before the audit log refuses its row.
    on.sql("ALTER TABLE audit RENAME COLUMN target TO target_away", &[]).await;
    on.set(&tenant, device.id, tracked("other")).await.unwrap_err();
    waiting.expect("a change that failed", false, &[]);
}
