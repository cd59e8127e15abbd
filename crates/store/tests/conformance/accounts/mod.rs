//! Accounts, their settings, their day and their licences.

pub(crate) mod expiry;
pub(crate) mod licenses;
pub(crate) mod records;
pub(crate) mod retention;
pub(crate) mod standing;

use perigee_core::access::actor::Origin;
use perigee_core::access::privilege::Privileges;
use perigee_core::accounts::account::{AccountSettings, ApiUsage, LicenseUse};
use perigee_core::error::{Kind, StoreError, Unique};
use perigee_core::id::AccountId;
use perigee_core::revision::Revision;
use perigee_core::store::{Accounts as _, UsageReport, Users as _};
use perigee_core::time::Timestamp;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant, new_account, zone};

fn instant(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn in_zone(tenant: &Tenant, id: &str) -> AccountSettings {
    AccountSettings { time_zone: zone(id), ..tenant.account.settings.clone() }
}

pub(crate) async fn an_account_comes_with_its_owner(on: Fixture) {
    let Tenant { account, owner } = on.tenant("alfa").await;
    assert_eq!(account.revision, Revision::FIRST);
    assert_eq!(account.licenses, 10);
    assert_eq!(account.creation, on.now());
    assert_eq!(on.store.find_account(account.id).await.unwrap(), Some(account.clone()));
    assert_eq!(on.store.find_account(AccountId::from_i64(1)).await.unwrap(), None);

    assert_eq!(owner.account, account.id);
    assert_eq!(owner.profile.name, "owner");
    assert_eq!(owner.profile.email.as_str(), "owner@alfa.example");
    assert_eq!(owner.profile.country, None);
    assert_eq!(owner.profile.time_zone, account.settings.time_zone);
    assert_eq!(owner.profile.privileges, Privileges::OWNER);
    assert!(owner.profile.is_lasting_owner(on.now()));
    let whole = perigee_core::access::actor::Scope::for_operator(account.id);
    assert_eq!(on.store.find_user(whole, owner.id).await.unwrap(), Some(owner));

    let again = on.store.create_account(&Origin::command(), new_account("alfa")).await;
    assert_fails!(again, StoreError::Taken(Unique::Email));
    assert_eq!(on.store.list_accounts().await.unwrap().len(), 1);
}

pub(crate) async fn only_the_first_start_makes_an_account(on: Fixture) {
    let (account, owner) = on.store.create_first_account(new_account("alfa")).await.unwrap().unwrap();
    assert_eq!(owner.account, account.id);
    assert!(on.store.create_first_account(new_account("beta")).await.unwrap().is_none());
    let audits = on.audits(&Tenant { account, owner }).await;
    let recorded: Vec<_> = audits.iter().rev().map(|entry| (&*entry.action, &*entry.via)).collect();
    assert_eq!(recorded, [("account.create", "service"), ("user.create", "service")]);
}

pub(crate) async fn settings_are_replaced_by_revision(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    on.clock().advance_seconds(60);
    let settings = AccountSettings {
        name: "Alfa & Co".into(),
        expiry_notice_days: 0,
        retention_days: Some(30),
        emergency_procedure: Some("Coast guard\n+34 900 202 202".into()),
        quick_replies: Some(vec!["Received".into(), "Olá 😀".into()]),
        ..tenant.account.settings.clone()
    };
    let replace = async |seen, settings: &AccountSettings| {
        on.store.replace_account(&tenant.actor(), seen, settings.clone()).await
    };
    let changed = replace(Revision::FIRST, &settings).await.unwrap();
    assert_eq!(changed.settings, settings);
    assert_eq!(changed.revision, Revision(2));
    assert_eq!(changed.last_modified, on.now());
    assert_eq!(changed.creation, tenant.account.creation);
    assert_eq!(changed.day_in_progress, None);
    assert_eq!(on.store.find_account(tenant.account.id).await.unwrap(), Some(changed.clone()));

    assert_fails!(replace(Revision::FIRST, &settings).await, StoreError::RevisionMismatch(Kind::Account));
    on.clock().advance_seconds(60);
    assert_eq!(replace(Revision(2), &settings).await.unwrap(), changed);
    assert_eq!(on.audits(&tenant).await[0].detail.as_deref(), Some("changed name, settings"));
    let actions: Vec<_> = on.audits(&tenant).await.into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions, ["account.update", "user.create", "account.create"]);
}

pub(crate) async fn a_zone_takes_effect_when_the_day_ends(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = async |revision: i64, zone: &str| {
        let settings = in_zone(&tenant, zone);
        on.store.replace_account(&tenant.actor(), Revision(revision), settings).await.unwrap()
    };
    on.clock().set(instant("2026-03-10T12:00:00Z"));
    let ends_in_madrid = instant("2026-03-10T23:00:00Z");

    let tokyo = account(1, "Asia/Tokyo").await;
    assert_eq!(tokyo.settings.time_zone, zone("Asia/Tokyo"));
    let (day, counted_in) = tokyo.day_at(on.now());
    assert_eq!((day.ends, counted_in), (ends_in_madrid, &zone("Europe/Madrid")));

    let calls = async |calls: u64| {
        let report = UsageReport { account: tenant.account.id, today: calls, earlier: 0, day_ends: i64::MAX };
        on.store.add_api_usage(&[report]).await.unwrap().swap_remove(0).today
    };
    assert_eq!(calls(1).await, 1);

    on.clock().set(instant("2026-03-10T18:00:00Z"));
    let lima = account(2, "America/Lima").await;
    let (day, counted_in) = lima.day_at(on.now());
    let ends_in_lima = instant("2026-03-11T05:00:00Z");
    assert_eq!((day.ends, counted_in), (ends_in_lima, &zone("Europe/Madrid")), "the date comes once");
    assert_eq!(on.store.find_account(lima.id).await.unwrap(), Some(lima.clone()));
    on.clock().set(ends_in_madrid);
    assert_eq!(calls(1).await, 2, "the day runs on");
    assert_eq!(on.store.find_account(lima.id).await.unwrap().unwrap().day_at(on.now()).0, day);

    let (next, counted_in) = lima.day_at(ends_in_lima);
    assert_eq!((next.ends, counted_in), (instant("2026-03-12T05:00:00Z"), &zone("America/Lima")));
    assert_eq!(Some(next.date), day.date.tomorrow());

    on.clock().set(instant("2026-03-11T12:00:00Z"));
    let tokyo = account(3, "Asia/Tokyo").await;
    let (day, counted_in) = tokyo.day_at(on.now());
    assert_eq!((day.ends, counted_in), (instant("2026-03-12T05:00:00Z"), &zone("America/Lima")));
}

pub(crate) async fn undoing_a_change_of_zone_undoes_the_longer_day(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = async |revision: i64, zone: &str| {
        let settings = in_zone(&tenant, zone);
        on.store.replace_account(&tenant.actor(), Revision(revision), settings).await.unwrap()
    };
    let calls = async |calls: u64| {
        let report = UsageReport { account: tenant.account.id, today: calls, earlier: 0, day_ends: i64::MAX };
        on.store.add_api_usage(&[report]).await.unwrap().swap_remove(0).today
    };
    let ends_in_madrid = instant("2026-03-10T23:00:00Z");
    on.clock().set(instant("2026-03-10T12:00:00Z"));
    assert_eq!(calls(1).await, 1);
    let lima = account(1, "America/Lima").await;
    assert_eq!(lima.day_at(on.now()).0.ends, instant("2026-03-11T05:00:00Z"));
    assert_eq!(lima.api_usage.day_ends, instant("2026-03-11T05:00:00Z").as_millis());

    let back = account(2, "Europe/Madrid").await;
    assert_eq!((back.day_in_progress, back.zone_in_progress.clone()), (None, None));
    assert_eq!(back.day_at(on.now()).0.ends, ends_in_madrid);
    assert_eq!(back.api_usage.day_ends, ends_in_madrid.as_millis());
    assert_eq!(on.store.find_account(back.id).await.unwrap(), Some(back));
    assert_eq!(calls(1).await, 2, "still the same day");
    on.clock().set(ends_in_madrid);
    assert_eq!(calls(1).await, 1, "the day ended when it would have without the change");
}

pub(crate) async fn licences_cannot_be_fewer_than_in_use(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = tenant.account.id;
    on.device(&tenant, None).await;
    on.device(&tenant, Some(on.now().plus_seconds(60))).await;
    on.device(&tenant, Some(on.now())).await;
    assert_eq!(on.store.license_use(account).await.unwrap(), LicenseUse { total: 10, used: 2 });

    let set = on.store.set_licenses(&Origin::command(), account, 1).await;
    assert_fails!(set, StoreError::LicensesInUse { used: 2 });
    let set = on.store.set_licenses(&Origin::command(), account, 2).await.unwrap();
    assert_eq!((set.licenses, set.revision), (2, Revision::FIRST));
    assert_eq!(on.store.license_use(account).await.unwrap(), LicenseUse { total: 2, used: 2 });
    let entry = on.audits(&tenant).await.swap_remove(0);
    assert_eq!((&*entry.action, entry.detail.as_deref()), ("account.licenses", Some("licenses 10 -> 2")));

    let nobody = AccountId::from_i64(1);
    let set = on.store.set_licenses(&Origin::command(), nobody, 1).await;
    assert_fails!(set, StoreError::NotFound(Kind::Account));
    assert_fails!(on.store.license_use(nobody).await, StoreError::NotFound(Kind::Account));
}

pub(crate) async fn settings_and_licences_change_together_or_not_at_all(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = tenant.account.id;
    on.device(&tenant, None).await;
    let settings = AccountSettings { name: "Beta".into(), ..tenant.account.settings.clone() };
    let change = async |seen, licenses| {
        on.store.replace_account_and_licenses(&tenant.actor(), seen, settings.clone(), licenses).await
    };
    let present = async || on.store.find_account(account).await.unwrap().unwrap();

    assert_fails!(change(Revision(7), 5).await, StoreError::RevisionMismatch(Kind::Account));
    assert_fails!(change(Revision::FIRST, 0).await, StoreError::LicensesInUse { used: 1 });
    assert_eq!(present().await, tenant.account);

    let changed = change(Revision::FIRST, 5).await.unwrap();
    assert_eq!((&*changed.settings.name, changed.licenses), ("Beta", 5));
    assert_eq!(present().await, changed);
}

pub(crate) async fn licences_are_freed_by_expiry_and_not_by_a_clock_going_back(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = tenant.account.id;
    on.device(&tenant, Some(on.now().plus_seconds(60))).await;
    on.clock().advance_seconds(60);
    assert_eq!(on.store.license_use(account).await.unwrap().used, 0);
    on.store.set_licenses(&Origin::command(), account, 0).await.unwrap();
    on.clock().advance_seconds(-30);
    assert_eq!(on.store.license_use(account).await.unwrap(), LicenseUse { total: 0, used: 0 });
}

pub(crate) async fn a_clock_that_was_ahead_is_repaired_by_command(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let account = tenant.account.id;
    on.device(&tenant, Some(on.now().plus_seconds(60))).await;
    let reset = async || on.store.reset_clock(&Origin::command(), account).await;
    on.clock().advance_seconds(1_000);
    on.store.set_licenses(&Origin::command(), account, 5).await.unwrap();
    assert_eq!(reset().await.unwrap(), None, "the clock is not behind");
    let ahead = on.now();
    on.clock().advance_seconds(-1_000);
    assert_eq!(on.store.license_use(account).await.unwrap().used, 0);

    assert_eq!(reset().await.unwrap(), Some(ahead));
    assert_eq!(on.store.license_use(account).await.unwrap().used, 1);
    let entry = on.audits(&tenant).await.swap_remove(0);
    let expected = format!("licences decided at {ahead} -> {}", on.now());
    assert_eq!((&*entry.action, entry.detail), ("account.clock", Some(expected)));
    assert_eq!(reset().await.unwrap(), None);
    let nobody = on.store.reset_clock(&Origin::command(), AccountId::from_i64(1)).await;
    assert_fails!(nobody, StoreError::NotFound(Kind::Account));
}

pub(crate) async fn accounts_are_listed_oldest_first(on: Fixture) {
    let alfa = on.tenant("alfa").await;
    on.clock().advance_seconds(1);
    let beta = on.tenant("beta").await;
    on.device(&beta, None).await;
    on.user(&beta, "ana").await;
    let listed: Vec<_> = on.store.list_accounts().await.unwrap();
    let found: Vec<_> =
        listed.iter().map(|one| (one.account.clone(), one.licenses.used, one.users)).collect();
    assert_eq!(found, [(alfa.account, 0, 1), (beta.account, 1, 2)]);
}

pub(crate) async fn api_calls_are_summed_by_day(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await.account.id, on.tenant("beta").await.account.id);
    on.clock().set(instant("2026-03-10T12:00:00Z"));
    let add = async |calls: &[(AccountId, u64)]| {
        let report = |&(account, today)| UsageReport { account, today, earlier: 0, day_ends: i64::MAX };
        let reports: Vec<_> = calls.iter().map(report).collect();
        on.store.add_api_usage(&reports).await
    };
    let usage = |total, today, ends| ApiUsage { total, today, day_ends: instant(ends).as_millis() };
    let (tonight, tomorrow) = ("2026-03-10T23:00:00Z", "2026-03-11T23:00:00Z");

    let sums = add(&[(beta, 5), (alfa, 1), (beta, 2)]).await.unwrap();
    assert_eq!(sums, [usage(5, 5, tonight), usage(1, 1, tonight), usage(7, 7, tonight)]);
    on.clock().set(instant("2026-03-10T22:59:59.999Z"));
    assert_eq!(add(&[(alfa, 2)]).await.unwrap(), [usage(3, 3, tonight)]);
    on.clock().set(instant(tonight));
    assert_eq!(add(&[(alfa, 4)]).await.unwrap(), [usage(7, 4, tomorrow)]);
    assert_eq!(on.store.find_account(alfa).await.unwrap().unwrap().api_usage, usage(7, 4, tomorrow));

    let late = |day_ends| UsageReport {
        account: beta,
        today: 3,
        earlier: 10,
        day_ends: instant(day_ends).as_millis(),
    };
    let sums = on.store.add_api_usage(&[late(tonight)]).await.unwrap();
    assert_eq!(sums, [usage(20, 0, tomorrow)], "made before the day began");
    let sums = on.store.add_api_usage(&[late(tomorrow)]).await.unwrap();
    assert_eq!(sums, [usage(33, 3, tomorrow)]);

    assert_eq!(add(&[]).await.unwrap(), []);
    let refused = add(&[(alfa, 1), (AccountId::from_i64(1), 1)]).await;
    assert_fails!(refused, StoreError::NotFound(Kind::Account));
    assert_eq!(on.store.find_account(alfa).await.unwrap().unwrap().api_usage.total, 7);
}
