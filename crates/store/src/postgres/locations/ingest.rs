//! Storing a batch of submissions: read the devices, remove what is stored already, write the rest in one round trip.

use futures_util::future::try_join;
use perigee_core::location::Outcome;
use perigee_core::store::Result;

use super::new_rows::NewRows;
use super::{known, late, settle};
use crate::postgres::Session;
use crate::sql::locations::{Submission, arrivals, first_results};
use crate::tx::Tx;

/// Stores new locations; says of each whether it was accepted or a duplicate, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    session: &Session,
    submissions: &[Submission],
) -> Result<Vec<Result<Vec<Outcome>>>> {
    let count = submissions.iter().map(|each| each.locations.len()).sum();
    let (known, numbers) = known::read(tx, session, submissions, count).await?;
    let admissions: Vec<_> = submissions.iter().map(|submission| known.admission(submission)).collect();
    let mut results = first_results(submissions, &admissions);
    let mut arrivals = arrivals(submissions, &admissions);
    for arrival in arrivals.values_mut() {
        arrival.take_new(submissions, tx.now(), |_point, _sameness| false);
    }
    late::remove_stored(tx, session, &known, submissions, &mut arrivals).await?;
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
        rows.push(key.0, key.1, &arrival.points);
    }
    try_join(rows.insert(session), settle::settle(session, tx.now(), &known, &arrivals)).await?;
    Ok(results)
}
