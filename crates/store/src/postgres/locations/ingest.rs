//! Stores a batch of submissions: reads the devices, removes duplicates, and writes the rest with the commit.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use perigee_core::store::{Additions, Result};

use super::new_rows::NewRows;
use super::packed_gaps::PackedGaps;
use super::seen_states::SeenStates;
use super::{known, late, new_rows, settle};
use crate::error::DbError;
use crate::job::{Opened, Opening};
use crate::postgres::Session;
use crate::sql::locations::{Ingested, Submission, arrivals, first_results, last_positions, state_row};
use crate::tx::Tx;

/// Reads the devices of these submissions while the transaction begins.
pub(super) struct ReadDevices {
    pub(super) batch: Arc<Vec<Submission>>,
    pub(super) part: Range<usize>,
    pub(super) seen_states: Arc<SeenStates>,
}

#[async_trait]
impl Opening for ReadDevices {
    async fn prepare(&self, session: &Session) -> std::result::Result<(), DbError> {
        known::prepare(session).await?;
        new_rows::prepare(session).await?;
        settle::prepare(session).await
    }

    async fn run(&self, session: &Session) -> std::result::Result<Opened, DbError> {
        let submissions = self.batch.get(self.part.clone()).unwrap_or_default();
        Ok(Box::new(known::read_devices(session, submissions, &self.seen_states).await?))
    }
}

/// Stores new locations; returns for each whether it was accepted or a duplicate, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
    gaps: &PackedGaps,
) -> Result<Ingested> {
    let mut answers = match tx.take_opened::<known::Answers>() {
        Some(answers) => answers,
        None => known::read_devices(session, submissions, seen_states).await?,
    };
    if answers.is_account_locked()? {
        answers = known::wait_and_read_devices(session, submissions, seen_states).await?;
    }
    let missing = answers.missing()?;
    if !missing.is_empty() {
        // Devices without a seen state are read and locked in the table `device`.
        seen_states.remove(&missing);
        answers = known::read_devices(session, submissions, seen_states).await?;
    }
    let (mut known, damaged, numbers) = answers.read(tx, seen_states)?;
    for device in damaged {
        let (account, id) = device.key;
        let state = state_row::rebuild(tx, &device.damaged, account, id).await?;
        known.add_rebuilt(tx.now(), &device, state);
    }
    let admissions: Vec<_> = submissions.iter().map(|submission| known.admission(submission)).collect();
    let mut results = first_results(submissions, &admissions);
    let mut arrivals = arrivals(submissions, &admissions);
    for arrival in arrivals.values_mut() {
        arrival.take_new(submissions, tx.now(), |_point, _duplicate_rule| false);
    }
    late::remove_stored(tx, session, (&known, gaps), submissions, &mut arrivals).await?;
    // In ascending order and device by device, so that the rows of an account do not overlap in their numbers.
    let points = arrivals.values_mut().flat_map(|arrival| &mut arrival.points);
    for (point, number) in points.zip(numbers) {
        point.number = number;
    }
    let (mut rows, mut additions) = (NewRows::default(), Additions::default());
    for (key, arrival) in &mut arrivals {
        let before = known.devices.get(key).map(|device| device.jump_detector);
        arrival.detect_jumps(before.unwrap_or_default(), submissions);
        arrival.accept(&mut results);
        // A row has consecutive numbers: between two blocks there may be numbers of other submissions.
        for points in arrival.points.chunk_by(|one, next| one.number + 1 == next.number) {
            additions |= Additions::to_account(key.0);
            rows.push(key.0, key.1, points);
        }
    }
    rows.insert_with_commit(session).await?;
    tx.mark(additions);
    settle::settle_with_commit(session, tx.now(), &known, &arrivals).await?;
    Ok(Ingested { results, last: last_positions(submissions, &arrivals) })
}
