//! The event log and the audit log.

use perigee_core::access::actor::{Origin, Reach, Scope};
use perigee_core::access::audit::{AuditFilter, AuditOutcome, Refusals};
use perigee_core::access::user::{NewUser, UserProfile};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::{Event, EventKind};
use perigee_core::id::{AccountId, DeviceId, UserId};
use perigee_core::locations::location::CompactionBudget;
use perigee_core::page::PageRequest;
use perigee_core::store::{
    Audits as _, Events as _, Groups as _, LocationMaintenance as _, Locations as _, Users as _,
};
use perigee_store::params;
use tokio::sync::oneshot;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, profile};
use crate::sample::{fix, group_of, named, until};

/// An event row, written past the store's rules.
const EVENT: &str = "INSERT INTO event (account_id, at, kind, subject, device_id, data)
     VALUES (?1, 0, ?2, ?3, ?4, '{\"a\":[1,null]}')";

async fn happens(on: &Fixture, tenant: &Tenant, kind: EventKind, subject: &str, device: Option<DeviceId>) {
    on.sql(EVENT, params![tenant.account.id, kind.name(), subject, device]).await;
}

fn subjects(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| &*event.subject).collect()
}

pub(crate) async fn events_come_in_order_and_only_visible_ones(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    let (inside, outside) = (on.device(&alfa, None).await, on.device(&alfa, None).await);
    let group = on.group(&alfa, &[inside]).await;
    let before = on.events(&alfa).await;
    assert_eq!(subjects(&before), [alfa.owner.id.to_string()]);
    let after = before[0].number;

    happens(&on, &alfa, EventKind::LocationCreated, "inside", Some(inside)).await;
    happens(&on, &beta, EventKind::GroupCreated, "foreign", None).await;
    happens(&on, &alfa, EventKind::AlertCreated, "outside", Some(outside)).await;
    happens(&on, &alfa, EventKind::GroupUpdated, &group.to_string(), None).await;
    happens(&on, &alfa, EventKind::UserUpdated, "somebody", None).await;
    let group_name = group.to_string();

    let list = async |reach, after, limit| {
        let scope = Scope::for_operator(alfa.account.id).limited_to(reach);
        on.store.list_events(scope, after, limit).await.unwrap()
    };
    let all = list(Reach::Account, after, 100).await;
    assert_eq!(subjects(&all), ["inside", "outside", &*group_name, "somebody"]);
    assert!(all.is_sorted_by_key(|event| event.number));
    assert_eq!(all[0].kind, EventKind::LocationCreated);
    assert_eq!((all[0].device, all[0].account), (Some(inside), alfa.account.id));
    assert_eq!(all[0].data, serde_json::json!({ "a": [1, null] }));

    assert_eq!(list(Reach::Account, after, 2).await, all[..2]);
    assert_eq!(list(Reach::Account, all[1].number, 100).await, all[2..]);
    assert_eq!(list(Reach::Account, all[3].number, 100).await, []);
    assert_eq!(subjects(&list(Reach::Group(group), 0, 100).await), ["inside", &*group_name]);
    assert_eq!(subjects(&list(Reach::Device(outside), 0, 100).await), ["outside"]);
    assert_eq!(list(Reach::Device(DeviceId::from_i64(1)), 0, 100).await, []);
}

/// A transaction has drawn a number and is not committed. A change that comes later must not show up before it,
/// or a reader that goes by number never sees the first.
pub(crate) async fn no_number_is_passed_while_a_lower_one_is_open(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = tenant.account.id;
    let cursor = on.events(&tenant).await.last().map_or(0, |event| event.number);
    let list = async || on.store.list_events(tenant.scope(), cursor, 100).await.unwrap();
    let (drawn, is_drawn) = oneshot::channel();
    let (finish, may_finish) = oneshot::channel::<()>();
    let store = on.store.clone();
    let held = tokio::spawn(async move {
        let job = store.write(move |tx| {
            Box::pin(async move {
                tx.lock_account(account).await?;
                let kind = EventKind::GroupCreated.name();
                tx.execute(EVENT, params![account, kind, "first", None::<i64>]).await?;
                drawn.send(()).expect("the test waits for it");
                may_finish.await.expect("the test lets it finish");
                Ok(())
            })
        });
        job.await
    });
    is_drawn.await.unwrap();
    let (store, actor) = (on.store.clone(), tenant.actor());
    let change = tokio::spawn(async move {
        let new = NewUser { profile: profile("ana"), password_hash: None };
        store.create_user(&actor, new, None).await
    });
    while !change.is_finished() && !anybody_waits(&on, account).await {
        tokio::task::yield_now().await;
    }
    assert_eq!(list().await, []);

    // Without the lock the log would be passed: this is what the rule is for.
    happens(&on, &tenant, EventKind::GroupDeleted, "careless", None).await;
    let passed = list().await;
    assert_eq!(subjects(&passed), ["careless"]);

    finish.send(()).unwrap();
    held.await.unwrap().unwrap();
    let user = change.await.unwrap().unwrap().into_inner();
    let user = user.id.to_string();
    assert_eq!(subjects(&list().await), ["first", "careless", &*user]);
    let seen = on.store.list_events(tenant.scope(), passed[0].number, 100).await.unwrap();
    assert_eq!(subjects(&seen), [&*user], "a reader that had seen the careless one missed the first");
}

/// Whether a transaction waits for the lock of this account. The two halves of its id are the key.
async fn anybody_waits(on: &Fixture, account: AccountId) -> bool {
    let look = on.store.read(move |tx| {
        Box::pin(async move {
            let sql = "SELECT COUNT(*) AS waiting FROM pg_locks
                 WHERE locktype = 'advisory' AND objsubid = 1 AND NOT granted
                 AND ((CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT)) = ?1";
            Ok(tx.query_one(sql, params![account]).await?.i64("waiting")?)
        })
    });
    look.await.unwrap() > 0
}

fn denied(on: &Fixture, account: AccountId, action: &str, target: &str) -> Refusals {
    Refusals {
        account,
        kind: format!("{action} {target}"),
        origin: Origin { user: Some(UserId::from_i64(7)), ..Origin::service() },
        action: action.into(),
        target: Some(target.into()),
        detail: Some("a wrong password".into()),
        count: 1,
        first_at: on.now(),
        last_at: on.now(),
    }
}

pub(crate) async fn audits_come_newest_first_in_pages(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    on.tenant("beta").await;
    for number in 0..5 {
        let entry = denied(&on, tenant.account.id, "session.create", &number.to_string());
        on.store.add_refusals(tenant.account.id, vec![entry]).await.unwrap();
    }
    let list =
        async |page| on.store.list_audits(tenant.scope(), &AuditFilter::default(), page).await.unwrap();
    let first = list(PageRequest::first(3)).await;
    let targets: Vec<_> = first.items.iter().filter_map(|entry| entry.target.as_deref()).collect();
    assert_eq!(targets, ["4", "3", "2"]);
    let second = list(PageRequest { after: first.next, limit: 4 }).await;
    let actions: Vec<_> = second.items.iter().map(|entry| &*entry.action).collect();
    assert_eq!(actions, ["session.create", "session.create", "user.create", "account.create"]);
    assert_eq!(second.next, None);

    let entry = &first.items[0];
    assert_eq!(
        (entry.at, entry.user, entry.outcome),
        (on.now(), Some(UserId::from_i64(7)), AuditOutcome::Denied)
    );
    assert_eq!(entry.detail.as_deref(), Some("a wrong password"));
    let nobody = AccountId::from_i64(1);
    let entries = vec![denied(&on, nobody, "session.create", "x")];
    assert_fails!(on.store.add_refusals(nobody, entries).await, StoreError::NotFound(Kind::Account));
}

pub(crate) async fn audits_are_filtered(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let user = on.user(&tenant, "ana").await;
    let entry = denied(&on, tenant.account.id, "device.update", "dev_1");
    on.store.add_refusals(tenant.account.id, vec![entry]).await.unwrap();
    let list = async |scope, filter: AuditFilter| {
        let page = on.store.list_audits(scope, &filter, PageRequest::first(100)).await.unwrap();
        page.items.into_iter().map(|entry| entry.action).collect::<Vec<_>>()
    };
    let whole = tenant.scope();
    let filter = AuditFilter { user: Some(tenant.owner.id), ..AuditFilter::default() };
    assert_eq!(list(whole, filter).await, ["user.create"]);
    let filter = AuditFilter { action: Some("device.update".into()), ..AuditFilter::default() };
    assert_eq!(list(whole, filter).await, ["device.update"]);
    let filter = AuditFilter { target: Some(user.id.to_string()), ..AuditFilter::default() };
    assert_eq!(list(whole, filter).await, ["user.create"]);

    let device = whole.limited_to(Reach::Device(DeviceId::from_i64(1)));
    assert!(list(device, AuditFilter::default()).await.is_empty());
    let entry = on.audits(&tenant).await.swap_remove(1);
    assert_eq!(entry.address, Some([192, 0, 2, 7].into()));
    assert_eq!(entry.request.as_deref(), Some("req-1"));
}

pub(crate) async fn audits_outlive_a_clock_going_back(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    on.clock().advance_seconds(-3_600);
    let entry = denied(&on, tenant.account.id, "session.create", "x");
    on.store.add_refusals(tenant.account.id, vec![entry]).await.unwrap();
    let entries = on.audits(&tenant).await;
    assert_eq!(entries[0].action, "session.create");
    assert_eq!(entries[0].at, on.now());
}

pub(crate) async fn refusals_of_a_kind_share_the_entry_of_their_hour(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = tenant.account.id;
    let add = async |kind: &str, count: u64, seconds: i64| {
        let first = denied(&on, account, "request.denied", kind);
        let last_at = on.now().plus_seconds(seconds);
        let refusals = Refusals { count, last_at, ..first };
        on.store.add_refusals(account, vec![refusals]).await.unwrap();
    };
    let entries = async || {
        let denied = on.audits(&tenant).await.into_iter().filter(|entry| entry.action == "request.denied");
        denied.map(|entry| (entry.target.unwrap(), entry.count, entry.last_at)).collect::<Vec<_>>()
    };
    add("a", 1, 0).await;
    assert_eq!(entries().await, [("a".into(), 1, None)]);
    let start = on.now();
    on.clock().advance_seconds(60);
    add("a", 5_000, 9).await;
    add("b", 2, 1).await;
    // Another node may save what it counted before.
    on.clock().advance_seconds(-30);
    add("a", 1, 0).await;
    let (of_a, of_b) = (start.plus_seconds(69), start.plus_seconds(61));
    assert_eq!(entries().await, [("b".into(), 2, Some(of_b)), ("a".into(), 5_002, Some(of_a))]);
    on.clock().advance_seconds(3_600);
    add("a", 3, 2).await;
    assert_eq!(entries().await.len(), 3, "the next hour has an entry of its own");
}

pub(crate) async fn a_refused_change_leaves_no_trace(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    on.user(&tenant, "ana").await;
    let (events, audits) = (on.events(&tenant).await, on.audits(&tenant).await);
    let once = tenant.once("POST /api/users", "k", 1);
    let new = NewUser { profile: profile("ana"), password_hash: None };
    on.store.create_user(&tenant.actor(), new, Some(once.clone())).await.unwrap_err();
    assert_eq!((on.events(&tenant).await, on.audits(&tenant).await), (events, audits));
    let new = NewUser { profile: profile("eva"), password_hash: None };
    on.store.create_user(&tenant.actor(), new, Some(once)).await.unwrap();
}

pub(crate) async fn a_change_names_what_was_changed(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let last = async || {
        let entry = on.audits(&tenant).await.swap_remove(0);
        (entry.action, entry.detail.unwrap_or_default())
    };
    let device = on.add(&tenant, named("one")).await;
    on.set(&tenant, device.id, until("two", "2030-01-01")).await.unwrap();
    assert_eq!(last().await, ("device.update".into(), "changed name, limits".into()));

    let group = on.add_group(&tenant, group_of("all", &[])).await;
    let wanted = group_of("all", &[device.id]);
    on.store.replace_group(&tenant.actor(), group.id, group.revision, wanted).await.unwrap();
    assert_eq!(last().await, ("group.update".into(), "changed devices".into()));

    let user = on.user(&tenant, "ana").await;
    let wanted =
        UserProfile { email: "ANA@users.example".parse().unwrap(), disabled: true, ..profile("ana") };
    let replaced = on.store.replace_user(&tenant.actor(), user.id, user.revision, wanted.clone(), None).await;
    assert_eq!(last().await, ("user.update".into(), "changed email, disabled".into()));
    let (seen, hash) = (replaced.unwrap().revision, Some("hash".to_owned()));
    on.store.replace_user(&tenant.actor(), user.id, seen, wanted, hash).await.unwrap();
    assert_eq!(last().await, ("password.set".into(), String::new()));
}

pub(crate) async fn events_are_trimmed_behind_their_readers(on: Fixture) {
    const HOUR_MS: i64 = 60 * 60 * 1_000;
    let (tenant, other) = (on.tenant("acme").await, on.tenant("other").await);
    let device = on.add(&tenant, named("old")).await.id;
    let old = on.events(&tenant).await;
    on.clock().advance_seconds(3_600);
    assert_eq!(on.store.trim_events(HOUR_MS).await.unwrap(), 0, "an hour is not over yet");
    on.clock().advance_seconds(1);
    on.store.store_locations(&tenant.actor(), device, vec![fix(on.now(), 1.0)]).await.unwrap();
    let fresh = on.add(&tenant, named("fresh")).await.id.to_string();
    let deleted = u64::try_from(old.len()).unwrap();
    let of_other = u64::try_from(on.events(&other).await.len()).unwrap();
    assert_eq!(on.store.trim_events(HOUR_MS).await.unwrap(), deleted + of_other);
    assert_eq!(on.store.trim_events(HOUR_MS).await.unwrap(), 0);

    let read_on = async |after| on.store.list_events(tenant.scope(), after, 100).await;
    let kept = read_on(0).await.unwrap();
    assert_eq!(subjects(&kept), [&*device.to_string(), &*fresh], "from the beginning of what is kept");
    let (first, last) = (old[0].number, old.last().unwrap().number);
    assert_fails!(read_on(first).await, StoreError::CursorExpired);
    assert_eq!(read_on(last).await.unwrap(), kept, "who had read everything goes on");
    assert_eq!(read_on(kept[1].number).await.unwrap(), []);
    assert!(kept[0].number > last, "numbers are not used again");

    // The log of locations is a part of it.
    on.clock().advance_seconds(3_601);
    while on.store.compact(CompactionBudget { devices: 100, everything: true }).await.unwrap().more {}
    assert_eq!(on.store.trim_location_log(HOUR_MS).await.unwrap(), 1);
    assert_fails!(read_on(last).await, StoreError::CursorExpired);
    assert_eq!(subjects(&read_on(kept[0].number).await.unwrap()), [&*fresh]);
}

/// Locations outlive changes that came after them while they are in no chunk.
pub(crate) async fn a_beginning_gives_a_cursor_that_goes_on(on: Fixture) {
    const HOUR_MS: i64 = 60 * 60 * 1_000;
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    for second in 0..3 {
        let location = fix(on.now().plus_seconds(-second), 1.0);
        on.store.store_locations(&tenant.actor(), device, vec![location]).await.unwrap();
    }
    on.add(&tenant, named("two")).await;
    on.clock().advance_seconds(3_601);
    assert!(on.store.trim_events(HOUR_MS).await.unwrap() > 0);
    let fresh = on.add(&tenant, named("fresh")).await.id.to_string();

    let (mut after, mut read) = (0, Vec::new());
    loop {
        let filter = perigee_core::events::event::EventFilter::default();
        let page = on.store.read_events(tenant.scope(), &filter, after, 1).await.unwrap();
        read.extend(page.events);
        if page.next == after {
            break;
        }
        after = page.next;
    }
    assert_eq!(subjects(&read), [&*fresh]);
}
