//! The store as a whole, and accounts as operators look for them.

use perigee_core::page::PageRequest;
use perigee_core::store::{
    AccountOrder, Accounts as _, Backlog, Locations as _, Metrics as _, PendingWrites,
};

use crate::fixture::Fixture;

pub(crate) async fn the_store_reports_what_it_holds_and_what_waits(on: Fixture) {
    let empty = on.store.store_metrics().await.unwrap();
    assert!(empty.bytes > 10_000, "{}", empty.bytes);
    let size = on.store.database_size().await.unwrap();
    assert!((10_000..=empty.bytes).contains(&size), "{size} of {}", empty.bytes);
    assert_eq!((empty.accounts, empty.users, empty.devices), (0, 0, 0));
    assert_eq!((empty.deliveries, empty.oldest_unevaluated), (Backlog::default(), None));
    assert!(empty.messages.iter().all(|(_, backlog)| *backlog == Backlog::default()));

    let tenant = on.tenant("alfa").await;
    on.user(&tenant, "ana").await;
    let device = on.device(&tenant, None).await;
    let location = crate::sample::fix(on.now(), 1.0);
    on.store.store_locations(&tenant.actor(), device, vec![location]).await.unwrap();
    on.sql(
        "INSERT INTO notification (account_id, id, device_id, name, critical, channel, address, preferences,
             state, due, created, queued_at)
         VALUES (?1, 1, ?2, 'SOSButton', FALSE, 'sms', '+34600123456', '{}', 'waiting', ?3, ?3, ?3)",
        perigee_store::params![tenant.account.id, device, on.now()],
    )
    .await;
    let figures = on.store.store_metrics().await.unwrap();
    assert_eq!((figures.accounts, figures.users, figures.devices), (1, 2, 1));
    let waiting: Vec<u64> = figures.messages.iter().take(2).map(|(_, backlog)| backlog.waiting).collect();
    assert_eq!(waiting, [0, 1]);
    assert_eq!(figures.messages[1].1.oldest, Some(on.now()));
    assert_eq!(figures.oldest_unevaluated, Some(on.now()), "no rule has judged it");
    assert_eq!(on.store.pending_writes(), PendingWrites::default(), "nothing is on its way");
}

pub(crate) async fn accounts_are_searched_in_pages(on: Fixture) {
    for name in ["Alfa Fleet", "Beta", "fleet of beta"] {
        on.tenant(&name.replace(' ', "-")).await;
    }
    let names = async |text: Option<&str>, page: PageRequest| {
        let page = on.store.search_accounts(text, AccountOrder::Creation, page).await.unwrap();
        let names: Vec<String> = page.items.into_iter().map(|one| one.account.settings.name).collect();
        (names, page.next)
    };
    let (all, next) = names(None, PageRequest::first(10)).await;
    assert_eq!((all.len(), next), (3, None));
    let (found, _) = names(Some("FLEET"), PageRequest::first(10)).await;
    assert_eq!(found, ["Alfa-Fleet", "fleet-of-beta"]);
    let (first, next) = names(Some("fleet"), PageRequest::first(1)).await;
    let (second, end) = names(Some("fleet"), PageRequest { after: next, limit: 1 }).await;
    assert_eq!((first, second, end), (vec!["Alfa-Fleet".into()], vec!["fleet-of-beta".into()], None));
    assert_eq!(names(Some("a\0"), PageRequest::first(1)).await.0, Vec::<String>::new());
    let page =
        on.store.search_accounts(Some("Alfa"), AccountOrder::Creation, PageRequest::first(1)).await.unwrap();
    let found = on.store.find_account_overview(page.items[0].account.id).await.unwrap().unwrap();
    assert_eq!((found.users, found.devices, found.last_activity), (1, 0, None));
    let unknown = perigee_core::id::AccountId::from_i64(1);
    assert!(on.store.find_account_overview(unknown).await.unwrap().is_none());
}
