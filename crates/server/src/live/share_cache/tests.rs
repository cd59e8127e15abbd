//! Tests of viewers who share a page, and of viewers who make the service hold many pages.

use std::convert::Infallible;

use futures_util::future::join_all;

use super::*;

const LINK: OpenLink<'_> = OpenLink { secret: "secret", account: AccountId::from_i64(1) };

fn cache() -> ShareCache {
    ShareCache::new(&Budget::for_test())
}

fn key(end: i64, now_ms: i64) -> PageKey {
    PageKey {
        trail: None,
        end,
        now: Timestamp::from_millis(now_ms),
        place: None,
        trips: false,
        conversation: false,
    }
}

async fn look(pages: &ShareCache, key: PageKey, devices: usize, made: &Arc<AtomicU64>) -> String {
    let made = Arc::clone(made);
    let page = async move {
        tokio::task::yield_now().await;
        let number = made.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Infallible>(SharePage { body: Bytes::from(number.to_string()), devices })
    };
    let page = pages.get(&Handle::current(), LINK, key, page).await.unwrap();
    String::from_utf8(page.body.to_vec()).unwrap()
}

#[tokio::test]
async fn many_viewers_get_one_answer() {
    let (pages, made) = (cache(), Arc::new(AtomicU64::new(0)));
    let answers = join_all((0..200).map(|_| look(&pages, key(5, 0), 10_000, &made))).await;
    assert!(answers.iter().all(|answer| answer == "0"));
    assert_eq!(look(&pages, key(6, 999), 10_000, &made).await, "0", "of many devices up to a second old");
    assert_eq!(look(&pages, key(6, 1_000), 10_000, &made).await, "1");
}

#[tokio::test]
async fn few_devices_are_shown_as_they_are() {
    let (pages, made) = (cache(), Arc::new(AtomicU64::new(0)));
    assert_eq!(look(&pages, key(5, 0), 3, &made).await, "0");
    assert_eq!(look(&pages, key(5, 0), 3, &made).await, "0", "nothing happened");
    assert_eq!(look(&pages, key(6, 0), 3, &made).await, "1", "something was stored");
    let later = PageKey { trail: Some(Timestamp::from_millis(1)), ..key(6, 0) };
    assert_eq!(look(&pages, later, 3, &made).await, "2", "another trail");
}

#[tokio::test]
async fn waiting_viewers_are_bounded() {
    let pages = cache();
    let (make, runtime) = (std::future::pending::<Result<SharePage, Infallible>>, Handle::current());
    let mut waiting: Vec<_> =
        (0..WAITING_MAX).map(|_| Box::pin(pages.get(&runtime, LINK, key(1, 0), make()))).collect();
    for one in &mut waiting {
        assert!(futures_util::poll!(one.as_mut()).is_pending());
    }
    let refused = pages.get(&runtime, LINK, key(1, 0), make()).await;
    assert!(matches!(refused, Err(PageError::Busy)));
    drop(waiting);
    let links = pages.links.lock();
    assert_eq!(links["secret"].waiting.load(Ordering::Relaxed), 0, "the count goes back");
}

/// An account with many links builds one page at a time, so that another account does not wait for it.
#[tokio::test]
async fn accounts_take_turns_at_building() {
    let (pages, runtime) = (cache(), Handle::current());
    let secrets: Vec<String> = (0..10).map(|number| format!("link {number}")).collect();
    let mut building: Vec<_> = secrets
        .iter()
        .map(|secret| {
            let never = std::future::pending::<Result<SharePage, Infallible>>();
            Box::pin(pages.get(&runtime, OpenLink { secret, ..LINK }, key(1, 0), never))
        })
        .collect();
    for one in &mut building {
        assert!(futures_util::poll!(one.as_mut()).is_pending());
    }
    assert_eq!(pages.builds.load(), (1, 9));
    let other = OpenLink { secret: "other", account: AccountId::from_i64(2) };
    let page = async { Ok::<_, Infallible>(SharePage { body: Bytes::from_static(b"page"), devices: 1 }) };
    assert_eq!(pages.get(&runtime, other, key(1, 0), page).await.unwrap().body, "page");
    drop(building);
    assert_eq!(pages.builds.load().1, 0, "who disconnects does not wait any more");
}

/// Each viewer requests another trail and keeps its page; the clock of the runtime is paused.
#[tokio::test(start_paused = true)]
async fn slow_viewers_of_different_pages_are_bounded_by_account() {
    const PAGE: usize = 4 * 1024 * 1024;
    let (pages, runtime) = (cache(), Handle::current());
    let open = async |trail: i64| {
        let key = PageKey { trail: Some(Timestamp::from_millis(trail)), ..key(1, 0) };
        let build =
            async { Ok::<_, Infallible>(SharePage { body: vec![b'x'; PAGE].into(), devices: 10_000 }) };
        pages.get(&runtime, LINK, key, build).await
    };
    let mut held = Vec::new();
    let refused = loop {
        match open(i64::try_from(held.len()).unwrap()).await {
            Ok(page) => held.push(page),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, PageError::Exhausted(Exhausted { bound: crate::budget::Bound::Account, .. })));
    assert_eq!((held.len(), pages.bytes.used()), (9, 9 * PAGE));
    held.truncate(1);
    // The page that is still being received keeps its bytes; the others are dropped.
    held.push(open(1_000).await.unwrap());
    tokio::time::sleep(2 * KEPT).await;
    assert_eq!(pages.bytes.used(), 2 * PAGE);
    drop(held);
    assert_eq!(pages.bytes.used(), 0);
}
