//! Turns, bounds, and waiters that go away.

use std::pin::pin;

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;

use super::*;

const MIB: usize = 1024 * 1024;

fn account(id: i64) -> Payer {
    Payer::account(AccountId::from_i64(id))
}

fn queue(running: usize, waiting: usize, waiting_each: usize) -> Arc<Queue> {
    Queue::new(
        "test",
        QueueLimits {
            running,
            running_each: running,
            memory: 10 * MIB,
            waiting,
            waiting_each,
            strangers: None,
        },
    )
}

/// A waiter in the background that reports when it is served.
fn wait(queue: &Arc<Queue>, payer: Payer, memory: usize) -> tokio::task::JoinHandle<Result<Slot, Exhausted>> {
    let queue = Arc::clone(queue);
    tokio::spawn(async move { queue.acquire(payer, memory).await })
}

#[tokio::test]
async fn clients_take_turns() {
    let queue = queue(1, 100, 100);
    let first = queue.acquire(account(1), 0).await.unwrap();
    let mut greedy = Vec::new();
    for _ in 0..10 {
        greedy.push(wait(&queue, account(1), 0));
        tokio::task::yield_now().await;
    }
    let other = wait(&queue, account(2), 0);
    tokio::task::yield_now().await;
    assert_eq!(queue.load(), (1, 11));
    drop(first);
    drop(greedy.remove(0).await.unwrap().unwrap());
    let second = other.await.unwrap().unwrap();
    assert_eq!(queue.load(), (1, 9), "the other account came second, before nine who asked earlier");
    drop(second);
    for waiter in greedy {
        drop(waiter.await.unwrap().unwrap());
    }
    assert_eq!(queue.load(), (0, 0));
}

#[tokio::test]
async fn waiters_are_bounded_in_all_and_each() {
    let queue = queue(1, 3, 2);
    let running = queue.try_acquire(account(9), 0).unwrap();
    assert!(queue.try_acquire(account(9), 0).is_none());
    let _waiting: Vec<_> = [1, 1, 2].map(|id| wait(&queue, account(id), 0)).into();
    tokio::task::yield_now().await;
    assert_eq!(queue.load(), (1, 3));
    let refused = |payer| queue.acquire(payer, 0).now_or_never().map(|slot| slot.unwrap_err().bound);
    assert_eq!(refused(account(3)), Some(Bound::Total));
    let address = Payer::client([192, 0, 2, 1].into(), None);
    assert_eq!(refused(address), Some(Bound::Total));
    drop(running);
    tokio::task::yield_now().await;
}

#[tokio::test]
async fn one_client_cannot_fill_the_queue() {
    let queue = queue(1, 100, 1);
    let _running = queue.try_acquire(account(9), 0).unwrap();
    let address = Payer::client([192, 0, 2, 1].into(), None);
    let mut first = pin!(queue.acquire(address, 0));
    assert!(first.as_mut().now_or_never().is_none());
    let mut second = pin!(queue.acquire(account(1), 0));
    assert!(second.as_mut().now_or_never().is_none());
    let refused = queue.acquire(address, 0).now_or_never().unwrap().unwrap_err();
    assert_eq!(refused.bound, Bound::Address);
    let refused = queue.acquire(account(1), 0).now_or_never().unwrap().unwrap_err();
    assert_eq!(refused.bound, Bound::Account);
}

#[tokio::test]
async fn a_cancelled_waiter_leaves_the_queue() {
    let queue = queue(1, 100, 100);
    let running = queue.try_acquire(account(9), 0).unwrap();
    {
        let mut dropped = pin!(queue.acquire(account(1), 0));
        assert!(dropped.as_mut().now_or_never().is_none());
        assert_eq!(queue.load(), (1, 1));
    }
    assert_eq!(queue.load(), (1, 0));
    {
        let mut served = pin!(queue.acquire(account(1), 0));
        assert!(served.as_mut().now_or_never().is_none());
        drop(running);
        assert_eq!(queue.load(), (1, 0), "served, and dropped before it could begin");
    }
    assert_eq!(queue.load(), (0, 0));
}

#[tokio::test]
async fn memory_is_bounded_and_small_work_does_not_wait_for_it() {
    let queue = queue(4, 100, 100);
    let large = queue.try_acquire(account(9), 6 * MIB).unwrap();
    assert!(queue.try_acquire(account(9), 6 * MIB).is_none());
    let mut second = pin!(queue.acquire(account(1), 6 * MIB));
    assert!(second.as_mut().now_or_never().is_none());
    let mut third = pin!(queue.acquire(account(2), 3 * MIB));
    assert!(third.as_mut().now_or_never().is_none(), "would fit, and waits for its turn");
    let small = queue.acquire(account(3), MIB).now_or_never().unwrap().unwrap();
    drop(large);
    let second = second.await.unwrap();
    let third = third.await.unwrap();
    assert_eq!(queue.load(), (3, 0));
    drop((small, second, third));
    let whole = queue.try_acquire(account(9), usize::MAX).expect("work larger than all memory runs alone");
    assert!(queue.try_acquire(account(9), 2 * MIB).is_none());
    drop(whole);
    assert_eq!(queue.load(), (0, 0));
}

#[tokio::test]
async fn one_client_leaves_a_slot_to_others() {
    let limits = QueueLimits {
        running: 2,
        running_each: 1,
        memory: MIB,
        waiting: 10,
        waiting_each: 10,
        strangers: None,
    };
    let queue = Queue::new("test", limits);
    let first = queue.try_acquire(account(1), 0).unwrap();
    let mut second = pin!(queue.acquire(account(1), 0));
    assert!(second.as_mut().now_or_never().is_none());
    let other = queue.acquire(account(2), 0).now_or_never().expect("a slot was left").unwrap();
    assert_eq!(queue.load(), (2, 1));
    drop(other);
    assert_eq!(queue.load(), (1, 1), "the slot stays free for others");
    drop(first);
    drop(second.await.unwrap());
    assert_eq!(queue.load(), (0, 0));
}

#[tokio::test]
async fn large_work_ends_with_its_thread() {
    let queue = queue(1, 1, 1);
    let thread = async |memory| {
        queue.run(account(1), memory, || std::thread::current().name().map(str::to_owned)).await.unwrap()
    };
    assert_eq!(thread(10 * MIB).await.as_deref(), Some("large-work"));
    assert_ne!(thread(MIB).await.as_deref(), Some("large-work"));
    let lost = queue.run(account(1), 10 * MIB, || assert_eq!(1, 2, "a mistake in the work")).await;
    assert!(matches!(lost, Err(RunError::LostThread(_))), "{lost:?}");
    assert_eq!(queue.load(), (0, 0), "the slot came free");
}

#[tokio::test]
async fn the_next_part_of_admitted_work_waits_where_new_work_is_refused() {
    let queue = queue(1, 1, 1);
    let running = queue.try_acquire(account(1), 0).unwrap();
    let waiting = wait(&queue, account(1), 0);
    tokio::task::yield_now().await;
    assert!(queue.acquire(account(1), 0).now_or_never().unwrap().is_err());
    let mut next = pin!(queue.acquire_next(account(1), 0));
    assert!(next.as_mut().now_or_never().is_none(), "it waits");
    drop(running);
    drop(waiting.await.unwrap().unwrap());
    assert!(next.await.is_ok());
}

#[tokio::test]
async fn accounts_pass_strangers_who_are_bounded_by_network() {
    let strangers = Some(StrangerLimits { running: 1, lanes: 2 });
    let limits =
        QueueLimits { running: 2, running_each: 2, memory: 0, waiting: 100, waiting_each: 9, strangers };
    let queue = Queue::new("test", limits);
    let stranger = |network: u8| Payer::signing_in(std::net::IpAddr::from([10, 0, network, 1]));
    let first = queue.acquire(stranger(1), 0).await.unwrap();
    let mut waiting: Vec<_> = [2, 3, 3].map(|network| wait(&queue, stranger(network), 0)).into();
    tokio::task::yield_now().await;
    let refused = queue.acquire(stranger(4), 0).await.unwrap_err();
    assert_eq!(refused.bound, Bound::Total, "a third network does not wait");
    let known = queue.acquire(account(1), 0).now_or_never().unwrap().unwrap();
    let next_known = wait(&queue, account(2), 0);
    tokio::task::yield_now().await;
    drop(first);
    let next_known = next_known.await.unwrap().unwrap();
    assert_eq!(queue.load(), (2, 3), "the account came before three strangers who asked earlier");
    drop((known, next_known));
    for waiter in waiting.drain(..) {
        drop(waiter.await.unwrap().unwrap());
    }
    assert_eq!(queue.load(), (0, 0));
}
