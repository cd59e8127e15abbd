//! Suspension, deletion and branding of accounts.

use perigee_core::access::actor::Origin;
use perigee_core::accounts::branding::{Colour, Logo};
use perigee_core::accounts::standing::{AccountState, Suspension};
use perigee_core::devices::device::DeviceFilter;
use perigee_core::devices::device_file::MediaType;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::AccountId;
use perigee_core::locations::location::{CompactionBudget, Location};
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::shares::share::{NewShare, ShareTarget};
use perigee_core::store::{
    AccountOrder, AccountStandings as _, Accounts as _, Alerts as _, Credentials as _, Devices as _,
    Groups as _, LocationMaintenance as _, Locations as _, Shares as _, UsageReport, Users as _,
};
use perigee_core::time::Timestamp;
use perigee_store::{Engine, params};

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::{alert, fix, group_of, named};

const DAY_S: i64 = 86_400;

pub(crate) async fn a_suspension_is_recorded_and_ended(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let id = tenant.account.id;
    let suspend = async |message: Option<&str>| {
        on.store.suspend_account(&Origin::command(), id, message.map(str::to_owned)).await
    };
    let suspended = suspend(Some("Pay first.")).await.unwrap();
    let expected = Suspension { since: on.now(), message: Some("Pay first.".into()) };
    assert_eq!(suspended.standing.suspension, Some(expected));
    assert_eq!((suspended.standing.state(), suspended.revision), (AccountState::Suspended, Revision(2)));
    assert_eq!(on.store.find_account(id).await.unwrap(), Some(suspended.clone()));

    on.clock().advance_seconds(60);
    assert_eq!(suspend(Some("Pay first.")).await.unwrap(), suspended, "nothing changed");
    let other = suspend(None).await.unwrap().standing.suspension.unwrap();
    assert_eq!(other, Suspension { since: suspended.last_modified, message: None }, "the time stays");
    let resumed = on.store.resume_account(&Origin::command(), id).await.unwrap();
    assert_eq!(resumed.standing.state(), AccountState::Active);
    assert_eq!(on.store.resume_account(&Origin::command(), id).await.unwrap(), resumed);
    let actions: Vec<_> = on.audits(&tenant).await.into_iter().map(|entry| entry.action).collect();
    assert_eq!(actions[..3], ["account.resume", "account.suspend", "account.suspend"]);

    on.store.set_operator(tenant.owner.id, true).await.unwrap();
    assert_fails!(suspend(None).await, StoreError::HasOperator);
    let delete = on.store.request_deletion(&Origin::command(), id, 30).await;
    assert_fails!(delete, StoreError::HasOperator);
    let nobody = on.store.resume_account(&Origin::command(), AccountId::from_i64(1)).await;
    assert_fails!(nobody, StoreError::NotFound(Kind::Account));
}

pub(crate) async fn a_suspended_account_stores_locations_and_alerts(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let device = on.add(&tenant, named("boat")).await.id;
    on.store.suspend_account(&Origin::command(), tenant.account.id, None).await.unwrap();
    let locations: Vec<Location> = vec![fix(on.now(), 1.0)];
    on.store.store_locations(&tenant.actor(), device, locations).await.unwrap();
    let stored = on.store.store_alerts(&tenant.actor(), device, vec![alert(on.now(), "SOS")]).await;
    assert!(stored.is_ok(), "{stored:?}");
}

pub(crate) async fn a_deletion_can_be_undone_until_its_day(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let id = tenant.account.id;
    let request = async |days| on.store.request_deletion(&Origin::command(), id, days).await;
    let deleting = request(30).await.unwrap();
    assert_eq!(deleting.standing.state(), AccountState::Deleting);
    assert_eq!(deleting.standing.deletion.unwrap().purge_at, on.now().plus_seconds(30 * DAY_S));
    on.clock().advance_seconds(29 * DAY_S);
    assert!(on.store.purge_accounts().await.unwrap().accounts.is_empty());
    let undone = on.store.undo_deletion(&Origin::command(), id).await.unwrap();
    assert_eq!(undone.standing.state(), AccountState::Active);
    on.clock().advance_seconds(2 * DAY_S);
    assert!(on.store.purge_accounts().await.unwrap().accounts.is_empty(), "the deletion was undone");
    assert_eq!(on.store.find_account(id).await.unwrap(), Some(undone));

    request(1).await.unwrap();
    on.sql("UPDATE account SET is_purging = TRUE", &[]).await;
    assert_fails!(request(30).await, StoreError::AccountPurging);
    let undone = on.store.undo_deletion(&Origin::command(), id).await;
    assert_fails!(undone, StoreError::AccountPurging);
}

/// Tables that have rows of an account, with their number.
async fn rows_of(on: &Fixture, account: AccountId) -> Vec<(String, i64)> {
    let tables = match on.store.engine() {
        Engine::Sqlite => {
            "SELECT m.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'account_id' \
             WHERE m.type = 'table' ORDER BY m.name"
        }
        Engine::Postgres => {
            "SELECT CAST(c.table_name AS TEXT) AS name FROM information_schema.columns c \
             JOIN information_schema.tables t ON t.table_name = c.table_name AND t.table_schema = c.table_schema \
             WHERE c.column_name = 'account_id' AND c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' \
             ORDER BY c.table_name"
        }
    };
    let job = on.store.read(move |tx| {
        Box::pin(async move {
            let mut found = Vec::new();
            for row in tx.query(tables, &[]).await? {
                let name = row.text("name")?;
                let sql = format!("SELECT COUNT(*) AS rows FROM {name} WHERE account_id = ?1");
                let rows = tx.query_one(&sql, params![account]).await?.i64("rows")?;
                if rows > 0 {
                    found.push((name, rows));
                }
            }
            Ok(found)
        })
    });
    job.await.unwrap()
}

async fn fill(on: &Fixture, tenant: &Tenant) {
    let actor = tenant.actor();
    for name in ["boat", "van"] {
        let device = on.add(tenant, named(name)).await.id;
        let times = (0..1_200).map(|step| fix(on.now().plus_seconds(-step * 60), 1.0));
        on.store.store_locations(&actor, device, times.collect()).await.unwrap();
        on.store.store_alerts(&actor, device, vec![alert(on.now(), "SOS")]).await.unwrap();
        on.store.create_group(&actor, group_of(name, &[device]), None).await.unwrap();
        let share = NewShare {
            target: ShareTarget::Device(device),
            name: None,
            from: on.now(),
            until: on.now().plus_seconds(60),
            show_account: true,
            show_trips: false,
            secret: format!("secret-of-{name}-{}", tenant.account.id),
            conversation_delay_min: None,
        };
        on.store.create_share(&actor, share, None).await.unwrap();
        on.user(tenant, &format!("{name}-{}", tenant.account.id)).await;
    }
    on.store.compact(CompactionBudget { devices: 100, everything: true }).await.unwrap();
    // More than one transaction deletes.
    let sql = "INSERT INTO recipient_counter (account_id, address, hour, emails) \
               WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) \
               SELECT ?1, 'ana@example.com', i, 1 FROM n";
    on.sql(sql, params![tenant.account.id]).await;
}

pub(crate) async fn a_purge_leaves_nothing_of_the_account_and_everything_of_others(mut on: Fixture) {
    on.clock().set("2026-06-15T12:00:00Z".parse::<Timestamp>().unwrap());
    let (gone, stays) = (on.tenant("gone").await, on.tenant("stays").await);
    for tenant in [&gone, &stays] {
        fill(&on, tenant).await;
    }
    on.store.request_deletion(&Origin::command(), gone.account.id, 30).await.unwrap();
    assert!(rows_of(&on, gone.account.id).await.len() > 10, "the account has rows in many tables");
    on.clock().advance_seconds(30 * DAY_S);
    let before = rows_of(&on, stays.account.id).await;

    let purged = on.store.purge_accounts().await.unwrap();
    assert_eq!(purged.accounts, [gone.account.id]);
    assert!(purged.rows > 1_200, "{purged:?}");
    assert_eq!(rows_of(&on, gone.account.id).await, []);
    assert_eq!(on.store.find_account(gone.account.id).await.unwrap(), None);
    assert!(on.store.find_login(&gone.owner.profile.email).await.unwrap().is_none());
    assert_eq!(rows_of(&on, stays.account.id).await, before);
    assert!(on.store.purge_accounts().await.unwrap().accounts.is_empty());

    // The address of the owner is free, and counters that are saved late harm nobody.
    let again = on.tenant("gone").await;
    let report = UsageReport { account: again.account.id, today: 1, earlier: 0, day_ends: i64::MAX };
    on.store.add_api_usage(&[report]).await.unwrap();
    on.restart().await;
    assert_eq!(on.store.list_accounts().await.unwrap().len(), 2);
    let filter = DeviceFilter::default();
    let devices = on.store.list_devices(stays.scope(), &filter, PageRequest::first(10)).await.unwrap();
    assert_eq!(devices.items.len(), 2);
}

pub(crate) async fn branding_is_set_and_removed(on: Fixture) {
    let tenant = on.tenant("alfa").await;
    let (id, origin) = (tenant.account.id, Origin::command());
    assert_eq!(tenant.account.shown_name(), "alfa");
    let colour = Some(Colour(0x12, 0x34, 0x56));
    let branded = on.store.set_branding(&origin, id, Some("Alfa Sea".into()), colour).await.unwrap();
    assert_eq!((branded.shown_name(), branded.branding.colour), ("Alfa Sea", colour));
    assert_eq!(on.store.find_account(id).await.unwrap(), Some(branded.clone()));

    assert_eq!(on.store.find_logo(id).await.unwrap(), None);
    let logo = |byte| Logo { media_type: MediaType::Png, bytes: vec![byte; 9] };
    let one = on.store.set_logo(&origin, id, Some(logo(1))).await.unwrap().branding.logo.unwrap();
    let two = on.store.set_logo(&origin, id, Some(logo(2))).await.unwrap().branding.logo.unwrap();
    assert_ne!(one, two, "a new logo has a new ID");
    assert_eq!(on.store.find_logo(id).await.unwrap(), Some(logo(2)));
    let removed = on.store.set_logo(&origin, id, None).await.unwrap();
    assert_eq!(removed.branding.logo, None);
    assert_eq!(on.store.find_logo(id).await.unwrap(), None);
    let plain = on.store.set_branding(&origin, id, None, None).await.unwrap();
    assert_eq!(plain.shown_name(), "alfa");
}

pub(crate) async fn accounts_are_sorted_and_paged(on: Fixture) {
    let (beta, alfa, gamma) = (on.tenant("Beta").await, on.tenant("alfa").await, on.tenant("gamma").await);
    on.device(&gamma, None).await;
    on.device(&gamma, None).await;
    on.device(&alfa, None).await;
    on.user(&beta, "ana").await;
    let order = async |order: AccountOrder| {
        let (mut found, mut page) = (Vec::new(), PageRequest::first(2));
        loop {
            let part = on.store.search_accounts(None, order, page).await.unwrap();
            found.extend(part.items.into_iter().map(|overview| overview.account.settings.name));
            match part.next {
                Some(next) => page.after = Some(next),
                None => return found,
            }
        }
    };
    assert_eq!(order(AccountOrder::Creation).await, ["Beta", "alfa", "gamma"]);
    assert_eq!(order(AccountOrder::NewestFirst).await, ["gamma", "alfa", "Beta"]);
    assert_eq!(order(AccountOrder::Name).await, ["alfa", "Beta", "gamma"]);
    assert_eq!(order(AccountOrder::Devices).await, ["gamma", "alfa", "Beta"]);
    assert_eq!(order(AccountOrder::Licenses).await, ["gamma", "alfa", "Beta"]);
    assert_eq!(order(AccountOrder::Users).await, ["Beta", "alfa", "gamma"]);
    let sql = "UPDATE account_user SET last_login = ?2 WHERE account_id = ?1";
    on.sql(sql, params![alfa.account.id, on.now()]).await;
    on.sql(sql, params![beta.account.id, on.now().plus_seconds(-60)]).await;
    assert_eq!(order(AccountOrder::Activity).await, ["alfa", "Beta", "gamma"]);
    assert_eq!(order(AccountOrder::Inactivity).await, ["gamma", "Beta", "alfa"]);
    let found =
        on.store.search_accounts(Some("A"), AccountOrder::Name, PageRequest::first(10)).await.unwrap();
    assert_eq!(found.items.len(), 3);
    let found =
        on.store.search_accounts(Some("gam"), AccountOrder::Name, PageRequest::first(10)).await.unwrap();
    assert_eq!(found.items.len(), 1);
}

pub(crate) async fn the_usage_of_an_account_is_its_own(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    let date = alfa.account.day_at(on.now()).0.date.to_string();
    let sql = "INSERT INTO account_message_counter (account_id, date, channel, units, critical_units) VALUES (?1, ?2, 'email', 3, 1)";
    on.sql(sql, params![alfa.account.id, date]).await;
    let usage = on.store.account_usage(alfa.account.id).await.unwrap();
    let sent: Vec<_> = usage.messages_today.iter().map(|(channel, count)| (channel.name(), *count)).collect();
    assert_eq!((sent, usage.raw_bytes, usage.file_bytes), (vec![("email", 4)], 0, 0));
    assert_eq!(on.store.account_usage(beta.account.id).await.unwrap().messages_today, []);
    assert_fails!(on.store.account_usage(AccountId::from_i64(1)).await, StoreError::NotFound(Kind::Account));
}
