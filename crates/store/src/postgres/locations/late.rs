//! Removing late locations that are stored already. A location newer than everything its device has stored is new; only
//! the others are looked up, in the rows of the log and, unless they lie in a known gap, in the chunks whose times
//! overlap with theirs.

use std::collections::HashMap;

use futures_util::future::try_join;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::known::Known;
use super::log_row::LogRow;
use super::packed_gaps::PackedGaps;
use crate::batch_statement::BatchStatement;
use crate::codec::PointRef;
use crate::postgres::{Session, bind};
use crate::row::Row;
use crate::sql::locations::{Arrivals, PendingLocation, Submission, known_from_chunk};
use crate::tx::Tx;

macro_rules! log {
    ($account:literal) => {
        concat!(
            "SELECT g.* FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), ",
            "CAST($4 AS BIGINT[]), CAST($5 AS BIGINT[])) AS w (account_id, device_id, first_time, last_time, packed_to) ",
            "CROSS JOIN LATERAL ( ",
            "SELECT * FROM location_log l WHERE l.account_id = ",
            $account,
            " AND l.device_id = w.device_id ",
            "AND l.last_number > w.packed_to AND l.first_time <= w.last_time AND l.last_time >= w.first_time ",
            "OFFSET 0) g"
        )
    };
}

/// The unpacked rows of the log that overlap with a range of time, for several devices.
const LOG: BatchStatement =
    BatchStatement { any_account: log!("w.account_id"), one_account: log!("(CAST($1 AS BIGINT[]))[1]") };

macro_rules! chunk {
    ($account:literal) => {
        concat!(
            "SELECT c.* FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), ",
            "CAST($4 AS BIGINT[])) AS w (account_id, device_id, first_time, last_time) ",
            "CROSS JOIN LATERAL ( ",
            "SELECT * FROM location_chunk k WHERE k.account_id = ",
            $account,
            " AND k.device_id = w.device_id ",
            "AND k.last_time >= w.first_time ORDER BY k.last_time, k.last_number LIMIT 1) c ",
            "WHERE c.first_time <= w.last_time"
        )
    };
}

/// The first chunk that may overlap with a range of time, for several devices; where there is none, nothing overlaps.
const CHUNK: BatchStatement =
    BatchStatement { any_account: chunk!("w.account_id"), one_account: chunk!("(CAST($1 AS BIGINT[]))[1]") };

type Key = (AccountId, DeviceId);

/// Removes locations that the log or a chunk has already.
pub(super) async fn remove_stored(
    tx: &Tx,
    session: &Session,
    (known, gaps): (&Known, &PackedGaps),
    submissions: &[Submission],
    arrivals: &mut Arrivals,
) -> Result<()> {
    let (mut ranges, mut packed) = (Ranges::default(), Ranges::default());
    for (key, arrival) in &*arrivals {
        let Some(device) = known.devices.get(key) else { continue };
        let Some(newest) = device.state.newest_time else { continue };
        let late = || arrival.points.iter().map(|point| point.time).filter(|time| *time <= newest);
        if let (Some(first), Some(last)) = (late().min(), late().max()) {
            ranges.push(*key, first, last, device.state.packed_to);
            if !gaps.contain(*key, device.state.packed_to, (first, last)) {
                packed.push(*key, first, last, device.state.packed_to);
            }
        }
    }
    if ranges.account.is_empty() {
        return Ok(());
    }
    let [log, chunk] = session
        .prepare_native([LOG.of(session.is_distributed()), CHUNK.of(session.is_distributed())])
        .await?;
    let in_chunks = async {
        if packed.account.is_empty() {
            return Ok(Vec::new());
        }
        session.run(&chunk, &packed.parameters()).await
    };
    let (log, chunks) = try_join(session.run(&log, &ranges.parameters_of_log()), in_chunks).await?;
    remove_logged(tx, &bind::read(&log)?, submissions, arrivals)?;
    remove_packed(tx, (known, gaps), bind::read(&chunks)?, submissions, arrivals).await
}

/// The devices with late locations and their range of time, column by column.
#[derive(Default)]
struct Ranges {
    account: Vec<i64>,
    device: Vec<i64>,
    first: Vec<i64>,
    last: Vec<i64>,
    packed_to: Vec<i64>,
}

impl Ranges {
    fn push(&mut self, (account, device): Key, first: Timestamp, last: Timestamp, packed_to: i64) {
        self.account.push(account.as_i64());
        self.device.push(device.as_i64());
        self.first.push(first.as_millis());
        self.last.push(last.as_millis());
        self.packed_to.push(packed_to);
    }

    fn parameters(&self) -> [&(dyn tokio_postgres::types::ToSql + Sync); 4] {
        [&self.account, &self.device, &self.first, &self.last]
    }

    /// The parameters of [`LOG`], with the numbers up to which the devices are packed.
    fn parameters_of_log(&self) -> [&(dyn tokio_postgres::types::ToSql + Sync); 5] {
        [&self.account, &self.device, &self.first, &self.last, &self.packed_to]
    }
}

/// Removes locations that these rows of the log have. The content of a damaged row is unknown: storing a location twice
/// is better than refusing it.
fn remove_logged(tx: &Tx, rows: &[Row], submissions: &[Submission], arrivals: &mut Arrivals) -> Result<()> {
    let mut logged: HashMap<Key, HashMap<Timestamp, Vec<PointRef<'_>>>> = HashMap::new();
    for row in rows {
        let row = LogRow::of(row)?;
        let by_time = logged.entry((row.header.account, row.header.device)).or_default();
        for point in row.points_or_note(tx) {
            by_time.entry(point.time).or_default().push(point);
        }
    }
    for (key, by_time) in logged {
        let Some(arrival) = arrivals.get_mut(&key) else { continue };
        let is_logged =
            arrival.points.iter().zip(arrival.duplicate_rules(submissions)).map(|(point, duplicate_rule)| {
                by_time
                    .get(&point.time)
                    .is_some_and(|same| same.iter().any(|other| other.is_same_by(point, duplicate_rule)))
            });
        let is_logged: Vec<bool> = is_logged.collect();
        arrival.remove_stored(&is_logged);
    }
    Ok(())
}

/// Removes locations that chunks have, given the first chunk of each device to search. Adds the gaps that it finds to
/// `gaps`.
async fn remove_packed(
    tx: &Tx,
    (known, gaps): (&Known, &PackedGaps),
    chunks: Vec<Row>,
    submissions: &[Submission],
    arrivals: &mut Arrivals,
) -> Result<()> {
    for chunk in chunks {
        let key =
            (AccountId::from_i64(chunk.i64("account_id")?), DeviceId::from_i64(chunk.i64("device_id")?));
        let Some(arrival) = arrivals.get_mut(&key) else { continue };
        let pending: Vec<&PendingLocation> = arrival.pending(submissions);
        let (is_packed, gap) = known_from_chunk(tx, key.0, key.1, &pending, chunk).await?;
        arrival.remove_stored(&is_packed);
        if let Some((device, gap)) = known.devices.get(&key).zip(gap) {
            gaps.add(key, device.state.packed_to, gap);
        }
    }
    Ok(())
}
