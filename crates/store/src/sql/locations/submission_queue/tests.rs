//! Tests which submissions a commit takes, and when another commit starts.

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use perigee_core::locations::location::{Latitude, Longitude, Readings};
use perigee_core::time::Timestamp;

use super::Kind::{Batches, Reports, WithAlerts};
use super::*;

/// A queue of an engine that stores this many groups at once.
fn queue(concurrent_commits: usize) -> SubmissionQueue {
    SubmissionQueue::new(Handle::current(), concurrent_commits, false)
}

/// Queues this many locations of this device without waiting for the answer; returns whether a committer must be
/// started.
fn send(queue: &SubmissionQueue, device: i64, count: usize) -> bool {
    let (submission, caller) = waiting(&[(device, count)]).pop().expect("one");
    queue.push(submission, caller).expect("there is room")
}

/// Submissions of this many locations each, as `(device, locations)`.
fn waiting(submissions: &[(i64, usize)]) -> Waiting {
    let one = |(device, count): &(i64, usize)| {
        let location = Location {
            time: Timestamp::MIN,
            latitude: Latitude::from_e7(0),
            longitude: Longitude::from_e7(0),
            readings: Readings::default(),
        };
        let scope = Scope::for_store_check(AccountId::from_i64(1));
        let submission = Submission::new(scope, DeviceId::from_i64(*device), &vec![location; *count]);
        (submission, Caller { runtime: Handle::current(), reply: oneshot::channel().0 })
    };
    submissions.iter().map(one).collect()
}

/// Queues a message with this many alerts and no location.
fn send_alerts(queue: &SubmissionQueue, account: i64, device: i64, count: usize) -> bool {
    let (mut submission, caller) = waiting(&[(device, 0)]).pop().expect("one");
    submission.scope = Scope::for_store_check(AccountId::from_i64(account));
    let alert = Alert {
        time: Timestamp::MIN,
        name: "SOSButton".to_owned(),
        text: None,
        position: None,
        critical: true,
        attributes: std::collections::BTreeMap::new(),
    };
    let attached = Attached {
        alerts: vec![alert; count],
        steps: Vec::new(),
        files: Vec::new(),
        texts: Vec::new(),
        is_past: false,
        sos: None,
    };
    submission.attached = Some(Box::new(attached));
    queue.push(submission, caller).expect("there is room")
}

/// The devices of the next batch.
fn take(queue: &SubmissionQueue, kind: Kind) -> Option<Vec<i64>> {
    queue.take(kind, 1).map(|batch| devices(&batch))
}

/// Ends a commit for these devices; returns the kinds of committers to be started.
fn end(queue: &SubmissionQueue, kind: Kind, devices: &[i64]) -> Vec<Kind> {
    let of_devices: Vec<_> = devices.iter().map(|device| (*device, 0)).collect();
    let batch: Vec<_> = waiting(&of_devices).into_iter().map(|(submission, _)| submission).collect();
    queue.ended(kind, &batch)
}

fn devices(waiting: &Waiting) -> Vec<i64> {
    waiting.iter().map(|(submission, _)| submission.device.as_i64()).collect()
}

/// Splits what an engine with one commit at a time has queued.
fn split_all(waiting: Waiting) -> (Waiting, Waiting) {
    split(waiting, 1, |_| true, &HashSet::new())
}

#[tokio::test]
async fn a_report_does_not_wait_behind_batches() {
    let queued = waiting(&[(1, BATCH_MAX), (2, BATCH_MAX), (3, 100), (4, 1), (5, REPORT_MAX)]);
    let (batch, rest) = split_all(queued);
    assert_eq!(devices(&batch), [1, 4, 5]);
    assert_eq!(devices(&rest), [2, 3], "batches stay in their order");
    let (batch, rest) = split_all(rest);
    assert_eq!((devices(&batch), devices(&rest)), (vec![2], vec![3]));
}

#[tokio::test]
async fn a_device_does_not_pass_itself_and_reports_do_not_keep_batches_waiting() {
    let (batch, rest) = split_all(waiting(&[(1, BATCH_MAX), (2, 100), (2, 1), (3, 1)]));
    assert_eq!((devices(&batch), devices(&rest)), (vec![1, 3], vec![2, 2]));
    let reports = (10..).map(|device| (device, 1)).take(BATCH_MAX + ROOM_FOR_REPORTS + 1);
    let queued: Vec<_> = std::iter::once((1, BATCH_MAX + 1)).chain(reports).collect();
    let (batch, rest) = split_all(waiting(&queued));
    assert_eq!(devices(&batch)[0], 1, "the oldest is always stored");
    assert_eq!(batch.len() - 1, ROOM_FOR_REPORTS - 1);
    assert_eq!(rest.len(), BATCH_MAX + 2);
}

#[tokio::test]
async fn busy_devices_wait_and_hold_up_no_others() {
    let busy = HashSet::from([DeviceId::from_i64(1)]);
    let queued = waiting(&[(1, BATCH_MAX), (2, BATCH_MAX), (1, 1), (3, 1)]);
    let (batch, rest) = split(queued, 1, |_| true, &busy);
    assert_eq!((devices(&batch), devices(&rest)), (vec![2, 3], vec![1, 1]));
}

#[tokio::test(start_paused = true)]
async fn another_commit_of_reports_begins_when_there_is_enough_for_it() {
    let queue = queue(3);
    assert!(send(&queue, 1, 1), "nobody commits");
    assert_eq!(take(&queue, Reports), Some(vec![1]));
    for device in 2..=31 {
        assert!(!send(&queue, device, 1), "{device}");
    }
    assert!(!queue.admit_overdue(Reports));
    // The device that is being stored is counted, but not taken.
    assert!(!send(&queue, 1, 1));
    assert!(send(&queue, 32, 1));
    let second: Vec<_> = (2..=32).collect();
    assert_eq!(take(&queue, Reports).as_ref(), Some(&second));
    assert!(!send(&queue, 33, 1), "two are enough");
    end(&queue, Reports, &second);
    assert_eq!(take(&queue, Reports), None, "too little for one more beside the first");
    end(&queue, Reports, &[1]);
    assert_eq!(take(&queue, Reports), Some(vec![1, 33]));
}

#[tokio::test(start_paused = true)]
async fn reports_and_batches_are_committed_apart() {
    let queue = queue(3);
    assert!(send(&queue, 1, BATCH_MAX) && !send(&queue, 2, BATCH_MAX), "one commit of batches");
    assert!(send(&queue, 3, 1), "and one of reports");
    assert_eq!(take(&queue, Batches), Some(vec![1]));
    assert_eq!(take(&queue, Reports), Some(vec![3]));
    assert!(!send(&queue, 4, 1));
    assert_eq!(end(&queue, Reports, &[3]), []);
    assert_eq!(take(&queue, Reports), Some(vec![4]));
    assert_eq!(end(&queue, Batches, &[1]), []);
    assert_eq!(take(&queue, Batches), Some(vec![2]));
    assert_eq!((take(&queue, Batches), queue.waiting()), (None, 0));
}

#[tokio::test(start_paused = true)]
async fn submissions_of_a_device_are_stored_in_order() {
    let queue = queue(3);
    assert!(send(&queue, 1, 100) && send(&queue, 1, 1));
    assert_eq!(take(&queue, Reports), None, "its batch is older");
    assert_eq!(take(&queue, Batches), Some(vec![1]));
    assert!(!send(&queue, 1, 1), "its batch is being stored");
    assert_eq!(end(&queue, Batches, &[1]), [Reports]);
    assert_eq!(take(&queue, Batches), None);
    assert_eq!(take(&queue, Reports), Some(vec![1, 1]));
    assert!(!send(&queue, 1, 100), "its reports are being stored");
    assert_eq!(end(&queue, Reports, &[1, 1]), [Batches]);
    assert_eq!(take(&queue, Batches), Some(vec![1]));
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_takes_long_keeps_nobody_waiting() {
    for (kind, count) in [(Reports, 1), (Batches, 100)] {
        let queue = queue(3);
        assert!(send(&queue, 1, count));
        assert_eq!(take(&queue, kind), Some(vec![1]));
        assert!(!send(&queue, 2, count));
        tokio::time::advance(OVERDUE).await;
        assert!(queue.admit_overdue(kind));
        assert_eq!(take(&queue, kind), Some(vec![2]));
        assert!(!send(&queue, 1, count) && !queue.admit_overdue(kind), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_with_one_commit_at_a_time_takes_both_together() {
    let queue = queue(1);
    assert!(send(&queue, 1, 100) && !send(&queue, 2, BATCH_MAX) && !send(&queue, 3, 1));
    assert_eq!(take(&queue, Reports), Some(vec![1, 3]));
    tokio::time::advance(OVERDUE).await;
    assert!(!queue.admit_overdue(Reports) && !send(&queue, 4, 1));
    assert_eq!(end(&queue, Reports, &[1, 3]), []);
    assert_eq!(take(&queue, Reports), Some(vec![2, 4]));
}

#[tokio::test(start_paused = true)]
async fn the_wait_ends_when_three_quarters_are_queued() {
    let queue = queue(3);
    let begin = Instant::now();
    let mut wait = std::pin::pin!(queue.wait_for_callers(Reports, 40));
    for queued in 0..30 {
        assert!(wait.as_mut().now_or_never().is_none(), "{queued} of 40 are not most of them");
        send(&queue, 2, 1);
    }
    wait.await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
    queue.wait_for_callers(Reports, 40).await;
    assert_eq!(begin.elapsed(), Duration::ZERO, "they are there already");
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_short_and_few_callers_do_not_wait() {
    let queue = queue(3);
    let begin = Instant::now();
    queue.wait_for_callers(Reports, MIN_CALLERS_TO_WAIT - 1).await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
    queue.wait_for_callers(Reports, MIN_CALLERS_TO_WAIT).await;
    assert_eq!(begin.elapsed(), GROUP_COMMIT_WAIT);
}

#[tokio::test(start_paused = true)]
async fn alerts_are_committed_apart_and_each_account_once() {
    let queue = queue(3);
    assert!(send_alerts(&queue, 1, 1, 1) && send(&queue, 2, 1), "a commit of each kind");
    assert!(send_alerts(&queue, 1, 3, 1) && !send_alerts(&queue, 9, 4, 1), "two commits are enough");
    assert_eq!(take(&queue, Reports), Some(vec![2]));
    assert_eq!(take(&queue, WithAlerts), Some(vec![1, 3]), "one account");
    assert_eq!(take(&queue, WithAlerts), Some(vec![4]), "another account at the same time");
    assert!(!send_alerts(&queue, 1, 5, 1));
    // The account of the first is still being stored.
    let (submission, _) = waiting(&[(4, 0)]).pop().expect("one");
    let scope = Scope::for_store_check(AccountId::from_i64(9));
    assert_eq!(queue.ended(WithAlerts, &[Submission { scope, ..submission }]), []);
    assert_eq!(take(&queue, WithAlerts), None);
    assert_eq!(end(&queue, WithAlerts, &[1, 3]), []);
    assert_eq!(take(&queue, WithAlerts), Some(vec![5]));
}

#[tokio::test(start_paused = true)]
async fn a_device_with_an_alert_keeps_its_order() {
    let queue = queue(3);
    assert!(send_alerts(&queue, 1, 1, 1) && send(&queue, 1, 1));
    assert_eq!(take(&queue, Reports), None, "its alert is older");
    assert_eq!(take(&queue, WithAlerts), Some(vec![1]));
    assert_eq!(end(&queue, WithAlerts, &[1]), [Reports]);
    assert_eq!(take(&queue, Reports), Some(vec![1]));
}

#[tokio::test(start_paused = true)]
async fn many_alerts_are_divided_and_locations_pass_them() {
    let queue = queue(1);
    for device in 1..=3 {
        send_alerts(&queue, 1, device, ATTACHED_MAX - 1);
    }
    send(&queue, 4, 1);
    assert_eq!(take(&queue, Reports), Some(vec![1, 4]));
    end(&queue, Reports, &[1, 4]);
    assert_eq!(take(&queue, Reports), Some(vec![2]));
}
