//! Storing a batch of submissions: read the devices, remove what is stored already, write the rest with the commit.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use perigee_core::store::Result;

use super::new_rows::NewRows;
use super::packed_gaps::PackedGaps;
use super::seen_states::SeenStates;
use super::{known, late, new_rows, settle};
use crate::error::DbError;
use crate::job::{Opened, Opening};
use crate::postgres::Session;
use crate::sql::locations::{Ingested, Submission, arrivals, first_results, last_positions, state_row};
use crate::tx::Tx;

/// Looks at the devices of these submissions while the transaction begins.
pub(super) struct LookFirst {
    pub(super) batch: Arc<Vec<Submission>>,
    pub(super) part: Range<usize>,
    pub(super) seen_states: Arc<SeenStates>,
}

#[async_trait]
impl Opening for LookFirst {
    async fn prepare(&self, session: &Session) -> std::result::Result<(), DbError> {
        known::prepare(session).await?;
        new_rows::prepare(session).await?;
        settle::prepare(session).await
    }

    async fn run(&self, session: &Session) -> std::result::Result<Opened, DbError> {
        let submissions = self.batch.get(self.part.clone()).unwrap_or_default();
        Ok(Box::new(known::look(session, submissions, &self.seen_states).await?))
    }
}

/// Stores new locations; says of each whether it was accepted or a duplicate, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    session: &Session,
    submissions: &[Submission],
    seen_states: &SeenStates,
    gaps: &PackedGaps,
) -> Result<Ingested> {
    let mut look = match tx.take_opened::<known::Look>() {
        Some(look) => look,
        None => known::look(session, submissions, seen_states).await?,
    };
    if look.is_shut_out()? {
        look = known::wait_and_look(session, submissions, seen_states).await?;
    }
    let missing = look.missing()?;
    if !missing.is_empty() {
        // The second look reads them in `device`, and locks them there.
        seen_states.remove(&missing);
        look = known::look(session, submissions, seen_states).await?;
    }
    let (mut known, damaged, numbers) = look.read(tx, seen_states)?;
    for device in damaged {
        let (account, id) = device.key;
        let state = state_row::rebuild(tx, &device.damaged, account, id).await?;
        known.add_rebuilt(tx.now(), &device, state);
    }
    let admissions: Vec<_> = submissions.iter().map(|submission| known.admission(submission)).collect();
    let mut results = first_results(submissions, &admissions);
    let mut arrivals = arrivals(submissions, &admissions);
    for arrival in arrivals.values_mut() {
        arrival.take_new(submissions, tx.now(), |_point, _sameness| false);
    }
    late::remove_stored(tx, session, (&known, gaps), submissions, &mut arrivals).await?;
    // In ascending order and device by device, so that the rows of an account do not overlap in their numbers.
    let points = arrivals.values_mut().flat_map(|arrival| &mut arrival.points);
    for (point, number) in points.zip(numbers) {
        point.number = number;
    }
    let mut rows = NewRows::default();
    for (key, arrival) in &mut arrivals {
        let before = known.devices.get(key).map(|device| device.jump_detector);
        arrival.judge_jumps(before.unwrap_or_default(), submissions);
        arrival.accept(&mut results);
        // Between two blocks there may be numbers of others.
        for points in arrival.points.chunk_by(|one, next| one.number + 1 == next.number) {
            rows.push(key.0, key.1, points);
        }
    }
    rows.insert_with_commit(session).await?;
    tx.mark_logs_after_commit();
    settle::settle_with_commit(session, tx.now(), &known, &arrivals).await?;
    Ok(Ingested { results, last: last_positions(submissions, &arrivals) })
}
