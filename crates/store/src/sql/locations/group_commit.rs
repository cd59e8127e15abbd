//! Group commit of locations and messages: submissions that arrive while a commit runs share the next one.
//!
//! Callers put their submission into a queue and wait. A committer task takes the queued submissions, stores them in one
//! transaction and answers each caller; a lone caller is committed at once. The error of one submission is returned
//! to its caller only. If the whole transaction fails although the database is available, each submission is tried
//! alone. After a commit for many callers, the committer waits up to a millisecond for most of them to submit again.

mod held;
mod renamed;

use std::sync::Arc;

use futures_util::FutureExt as _;
use perigee_core::error::StoreError;
use perigee_core::gateways::message_contents::{RequestMessage, StoredContents};
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::memory::admit_arrivals;
use super::submission_queue::{Answer, Caller, Kind, OVERDUE, Submission, Waiting};
use crate::error::{Locked, Renamed};
use crate::sql::{gateways::attachments, gateways::messages};
use crate::{Database, Engine, Tx};

/// Stores a submission together with whatever else is queued.
pub(in crate::sql) async fn submit(database: &Database, submission: Submission) -> Result<StoredContents> {
    let (reply, mut answered) = oneshot::channel();
    let queue = database.submission_queue();
    let kind = queue.kind_of(&submission);
    if queue.push(submission, Caller { runtime: Handle::current(), reply })? {
        start_committer(database, kind);
    }
    let stopped = || Err(StoreError::Unavailable("the store has stopped".into()));
    if database.engine() == Engine::Sqlite {
        return answered.await.unwrap_or_else(|_dropped| stopped());
    }
    // The submission may be queued behind a commit that is held up, or hangs.
    let deadline = Instant::now() + database.answer_within();
    loop {
        let overdue_at = (Instant::now() + OVERDUE).min(deadline);
        if let Ok(answer) = timeout_at(overdue_at, &mut answered).await {
            return answer.unwrap_or_else(|_dropped| stopped());
        }
        if overdue_at == deadline {
            return Err(StoreError::Unknown("the database did not confirm the commit in time".into()));
        }
        if queue.admit_overdue(kind) {
            start_committer(database, kind);
        }
    }
}

/// Stores submissions of several devices of an account, one of each device, and the message that contained them, in
/// one transaction. Retries while another transaction has locked one of the devices or the account.
pub(in crate::sql) async fn submit_together(
    database: &Database,
    account: AccountId,
    submissions: Vec<Submission>,
    message: Option<RequestMessage>,
) -> Result<Vec<Result<StoredContents>>> {
    let batch = Arc::new(submissions);
    retry_while_locked(database, || store_together(database, account, Arc::clone(&batch), message.clone()))
        .await
}

/// Runs a job again while another transaction has locked its rows or its account, for half of the time that a request may
/// take.
pub(in crate::sql) async fn retry_while_locked<T, F: Future<Output = Result<T>>>(
    database: &Database,
    job: impl Fn() -> F,
) -> Result<T> {
    let mut attempts = held::Attempts::begin(database);
    loop {
        let done = job().await;
        let is_locked = done.as_ref().err().is_some_and(Locked::is_cause_of);
        if !(is_locked && attempts.next().await) {
            return done;
        }
    }
}

async fn store_together(
    database: &Database,
    account: AccountId,
    batch: Arc<Vec<Submission>>,
    message: Option<RequestMessage>,
) -> Result<Vec<Result<StoredContents>>> {
    let opening = match batch.as_slice() {
        [] => None,
        _ => database.log().opening(&batch, 0..batch.len()),
    };
    let _arriving = admit_arrivals(database).await;
    let job = database.write_after(opening, move |tx| {
        async move {
            if let Some(message) = &message {
                messages::add(tx, account, message).await?;
            }
            let results = if batch.is_empty() { Vec::new() } else { ingest(tx, &batch).await? };
            // All or nothing: what others have locked is not left out.
            let is_locked =
                |result: &Result<StoredContents>| result.as_ref().err().is_some_and(Locked::is_cause_of);
            if results.iter().any(is_locked) { Err(Locked::error()) } else { Ok(results) }
        }
        .boxed()
    });
    job.await
}

/// Starts a task that commits. It serves all callers, also when the one that starts it is cancelled.
fn start_committer(database: &Database, kind: Kind) {
    // Boxed, because a committer can start another.
    database.submission_queue().spawn(run_committer(database.clone(), kind).boxed());
}

async fn run_committer(database: Database, kind: Kind) {
    // Lets tasks of this runtime that are about to submit do so first.
    tokio::task::yield_now().await;
    // Estimates how many callers submit again as soon as they are answered; decays by a quarter per commit.
    let mut expected_callers = 0;
    let (queue, accounts) = (database.submission_queue(), database.log().accounts_per_commit());
    while let Some(batch) = queue.take(kind, accounts) {
        let arriving = admit_arrivals(&database).await;
        let together = batch.len();
        let locked = store_and_answer(&database, kind, batch).await;
        drop(arriving);
        expected_callers = (expected_callers * 3 / 4).max(together + queue.count(kind));
        held::try_later(&database, kind, locked);
        queue.wait_for_callers(kind, expected_callers).await;
    }
}

/// Stores a batch and answers its callers. Returns the submissions whose device or account others had locked; their
/// callers still wait.
async fn store_and_answer(database: &Database, kind: Kind, batch: Waiting) -> Waiting {
    let (submissions, callers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    let submissions = Arc::new(submissions);
    let results = store(database, Arc::clone(&submissions)).await;
    let Ok(submissions) = Arc::try_unwrap(submissions) else {
        // This cannot happen: the transaction has ended and holds no reference.
        answer(callers.into_iter().zip(results));
        return Waiting::new();
    };
    let (mut locked, mut renamed) = (Waiting::new(), Waiting::new());
    let (mut stored, mut answers) = (Vec::new(), Vec::new());
    for ((submission, caller), result) in submissions.into_iter().zip(callers).zip(results) {
        if result.as_ref().err().is_some_and(Locked::is_cause_of) {
            locked.push((submission, caller));
        } else if result.as_ref().err().is_some_and(Renamed::is_cause_of) {
            renamed.push((submission, caller));
        } else {
            stored.push(submission);
            answers.push((caller, result));
        }
    }
    // What is submitted again ends here: its device may be another one.
    let ended = stored.iter().chain(renamed.iter().map(|(submission, _)| submission));
    for other in database.submission_queue().ended(kind, ended) {
        start_committer(database, other);
    }
    answer(answers.into_iter());
    renamed::submit_again(database, renamed);
    locked
}

/// Answers all callers. Waking a task on another runtime costs a system call, so the callers of each runtime are
/// answered by one task there.
fn answer(answers: impl Iterator<Item = (Caller, Answer)>) {
    type Answers = Vec<(oneshot::Sender<Answer>, Answer)>;
    let here = Handle::current().id();
    let mut elsewhere: Vec<(Handle, Answers)> = Vec::new();
    for (Caller { runtime, reply }, result) in answers {
        if runtime.id() == here {
            // The caller may have been cancelled; its submission stays stored.
            let _ = reply.send(result);
        } else if let Some((_, answers)) = elsewhere.iter_mut().find(|(other, _)| other.id() == runtime.id())
        {
            answers.push((reply, result));
        } else {
            elsewhere.push((runtime, vec![(reply, result)]));
        }
    }
    for (runtime, answers) in elsewhere {
        runtime.spawn(async move {
            for (reply, result) in answers {
                let _ = reply.send(result);
            }
        });
    }
}

/// Stores a batch: locations, alerts, files, and the messages they came in.
async fn ingest(tx: &Tx, batch: &[Submission]) -> Result<Vec<Result<StoredContents>>> {
    let ingested = tx.log().ingest(tx, batch).await?;
    #[cfg(feature = "unsafe-late-alerts")]
    if crate::late_alerts::is_on() {
        let stored = without_attachments(ingested);
        messages::append(tx, batch, &stored).await?;
        return Ok(stored);
    }
    let stored = attachments::store(tx, batch, ingested).await?;
    messages::append(tx, batch, &stored).await?;
    Ok(stored)
}

/// The results of a batch whose alerts are not stored.
#[cfg(feature = "unsafe-late-alerts")]
fn without_attachments(ingested: super::arrival::Ingested) -> Vec<Result<StoredContents>> {
    let of_locations = |locations| StoredContents { locations, ..StoredContents::default() };
    ingested.results.into_iter().map(|result| result.map(of_locations)).collect()
}

/// Stores the alerts of a batch whose messages are committed: the defect that the fault harness must catch.
#[cfg(feature = "unsafe-late-alerts")]
async fn store_alerts_late(database: &Database, batch: Arc<Vec<Submission>>) {
    let results = batch.iter().map(|_| Ok(Vec::new())).collect();
    let ingested = super::arrival::Ingested { results, last: super::arrival::LastPositions::new() };
    let job =
        database.write(move |tx| async move { attachments::store(tx, &batch, ingested).await }.boxed()).await;
    if let Err(error) = job {
        tracing::warn!(error = &error as &dyn std::error::Error, "alerts are lost");
    }
}

/// Stores a batch in one transaction and returns the result of each submission.
async fn store(database: &Database, batch: Arc<Vec<Submission>>) -> Vec<Result<StoredContents>> {
    #[cfg(feature = "unsafe-early-ack")]
    if crate::early_ack::is_on() {
        let accepted = |each: &Submission| StoredContents {
            locations: vec![perigee_core::locations::location::Outcome::Accepted; each.locations.len()],
            ..StoredContents::default()
        };
        let answers = batch.iter().map(|each| Ok(accepted(each))).collect();
        // A copy: the submissions must have ended when the callers are answered, or their devices stay busy.
        let (database, copy) = (database.clone(), batch.to_vec());
        let job =
            async move { database.write(move |tx| async move { ingest(tx, &copy).await }.boxed()).await };
        tokio::spawn(job);
        return answers;
    }
    let indexes = 0..batch.len();
    let shared = Arc::clone(&batch);
    let opening = database.log().opening(&batch, indexes.clone());
    let job = database.write_after(opening, move |tx| async move { ingest(tx, &shared).await }.boxed());
    match job.await {
        #[cfg(feature = "unsafe-late-alerts")]
        Ok(results) if crate::late_alerts::is_on() => {
            store_alerts_late(database, batch).await;
            results
        }
        Ok(results) => results,
        Err(error) if Locked::is_cause_of(&error) => indexes.map(|_| Err(Locked::error())).collect(),
        Err(StoreError::Unavailable(cause)) => {
            let cause = cause.to_string();
            indexes.map(|_| Err(StoreError::Unavailable(cause.clone().into()))).collect()
        }
        Err(StoreError::Unknown(cause)) => {
            let cause = cause.to_string();
            indexes.map(|_| Err(StoreError::Unknown(cause.clone().into()))).collect()
        }
        Err(error) if batch.len() == 1 => vec![Err(error)],
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a batch failed, trying each by itself");
            let mut results = Vec::with_capacity(batch.len());
            for index in indexes {
                let shared = Arc::clone(&batch);
                let opening = database.log().opening(&batch, index..index + 1);
                let job = database.write_after(opening, move |tx| {
                    async move { ingest(tx, shared.get(index..=index).unwrap_or_default()).await }.boxed()
                });
                results.push(job.await.and_then(|mut result| {
                    result.pop().unwrap_or_else(|| Err(StoreError::Internal("no result".into())))
                }));
            }
            results
        }
    }
}
