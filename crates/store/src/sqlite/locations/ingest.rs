//! Storing submissions on SQLite: a row of the log for each account, however many locations there are.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perigee_core::id::AccountId;
use perigee_core::location::{Fix, Outcome, Whereabouts, judge};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::live::Live;
use super::log_row::checksum;
use super::present::{Heard, load};
use super::standing::standings;
use super::tail::Owner;
use crate::codec::{BatchWriter, Point};
use crate::sql::locations::{Sent, Standing, Submission, first_results, known_in_chunks};
use crate::{Tx, params};

/// Where a location is: the submission, and the place in it.
type Place = (usize, usize);

/// What one device sent.
#[derive(Default)]
struct Arrival {
    candidates: Vec<Place>,
    /// What of it is new, in the order of arrival, and the place of each.
    points: Vec<Point>,
    places: Vec<Place>,
    /// The one of these that is the last location now.
    last: Option<usize>,
    whereabouts: Whereabouts,
}

type Arrivals = BTreeMap<Owner, Arrival>;

/// Stores what is new and says of each location whether it is, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    live: &Arc<Live>,
    submissions: &[Submission],
) -> Result<Vec<Result<Vec<Outcome>>>> {
    tx.leave_facts();
    let standings = standings(tx, live, submissions).await?;
    let mut results = first_results(submissions, &standings);
    let mut arrivals = arrivals(submissions, &standings);
    load(tx, live, arrivals.keys().copied()).await?;
    for (owner, arrival) in &mut arrivals {
        find_new(tx, live, *owner, submissions, arrival).await?;
    }
    number(tx, &mut arrivals).await?;
    for (owner, arrival) in &mut arrivals {
        believe(live, *owner, submissions, arrival);
    }
    append(tx, &arrivals).await?;
    for arrival in arrivals.values() {
        for (index, place) in &arrival.places {
            if let Some(Ok(outcomes)) = results.get_mut(*index)
                && let Some(outcome) = outcomes.get_mut(*place)
            {
                *outcome = Outcome::Accepted;
            }
        }
    }
    let (live, at) = (Arc::clone(live), tx.now());
    tx.after_commit(move || remember(&live, arrivals, at));
    Ok(results)
}

fn arrivals(submissions: &[Submission], standings: &[Standing]) -> Arrivals {
    let mut arrivals = Arrivals::new();
    for (index, (submission, standing)) in submissions.iter().zip(standings).enumerate() {
        if *standing == Standing::Unknown {
            continue;
        }
        // An expired device is heard all the same.
        let arrival = arrivals.entry((submission.scope.account, submission.device)).or_default();
        if *standing == Standing::Active {
            arrival.candidates.extend((0..submission.locations.len()).map(|place| (index, place)));
        }
    }
    arrivals
}

/// Finds the locations of a device that are neither in the tail nor in a chunk, each once.
async fn find_new(
    tx: &Tx,
    live: &Live,
    owner: Owner,
    submissions: &[Submission],
    arrival: &mut Arrival,
) -> Result<()> {
    let packed_until = live.present().get(owner).and_then(|entry| entry.packed_until);
    let mut may_be_packed = false;
    {
        let tail = live.tail();
        let mut batch = Batch::default();
        for place in &arrival.candidates {
            let Some(point) = point(submissions, *place, tx.now()) else { continue };
            if tail.holds(owner, &point) || batch.holds(&arrival.points, &point) {
                continue;
            }
            batch.add(&point, arrival.points.len());
            may_be_packed |= packed_until.is_some_and(|until| point.time <= until);
            arrival.points.push(point);
            arrival.places.push(*place);
        }
    }
    if may_be_packed {
        let sent: Vec<&Sent> = arrival.places.iter().filter_map(|place| sent(submissions, *place)).collect();
        let known = known_in_chunks(tx, owner.0, owner.1, &sent).await?;
        let mut each = known.iter();
        arrival.points.retain(|_| !each.next().copied().unwrap_or(false));
        let mut each = known.iter();
        arrival.places.retain(|_| !each.next().copied().unwrap_or(false));
    }
    Ok(())
}

fn sent(submissions: &[Submission], (index, place): Place) -> Option<&Sent> {
    submissions.get(index).and_then(|submission| submission.locations.get(place))
}

fn point(submissions: &[Submission], place: Place, received_at: Timestamp) -> Option<Point> {
    let Sent { fix, readings } = sent(submissions, place)?;
    Some(Point {
        time: fix.time,
        number: 0,
        received_at,
        latitude: fix.latitude,
        longitude: fix.longitude,
        trust: judge(fix, received_at),
        readings: readings.clone(),
    })
}

/// Finds the same location within what one device sent. Ordinarily times ascend, and there is nothing to look for.
#[derive(Default)]
struct Batch {
    /// Made when a time first does not.
    by_time: Option<HashMap<Timestamp, Vec<usize>>>,
}

impl Batch {
    fn holds(&mut self, points: &[Point], point: &Point) -> bool {
        if self.by_time.is_none() && points.last().is_none_or(|last| last.time < point.time) {
            return false;
        }
        let by_time = self.by_time.get_or_insert_with(|| {
            let mut by_time: HashMap<Timestamp, Vec<usize>> = HashMap::with_capacity(points.len());
            for (place, point) in points.iter().enumerate() {
                by_time.entry(point.time).or_default().push(place);
            }
            by_time
        });
        by_time.get(&point.time).is_some_and(|same_time| {
            same_time.iter().filter_map(|place| points.get(*place)).any(|other| other.is_same(point))
        })
    }

    fn add(&mut self, point: &Point, place: usize) {
        if let Some(by_time) = &mut self.by_time {
            by_time.entry(point.time).or_default().push(place);
        }
    }
}

/// Numbers what is new, from those of events. Their counter is the one behind AUTOINCREMENT.
async fn number(tx: &Tx, arrivals: &mut Arrivals) -> Result<()> {
    let count = arrivals.values().map(|arrival| arrival.points.len()).sum::<usize>();
    if count == 0 {
        return Ok(());
    }
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let sql = "UPDATE sqlite_sequence SET seq = seq + ?1 WHERE name = 'event' RETURNING seq";
    let last = tx.query_one(sql, params![count]).await?.i64("seq")?;
    let points = arrivals.values_mut().flat_map(|arrival| &mut arrival.points);
    for (point, number) in points.zip(last - count + 1..) {
        point.number = number;
    }
    Ok(())
}

/// Writes what is new, a row for each account.
async fn append(tx: &Tx, arrivals: &Arrivals) -> Result<()> {
    let mut rows: BTreeMap<AccountId, LogRow> = BTreeMap::new();
    for ((account, device), arrival) in arrivals.iter().filter(|(_, arrival)| !arrival.points.is_empty()) {
        let row = rows.entry(*account).or_default();
        let first = arrival.points.first().map_or(0, |point| point.number);
        row.first.get_or_insert(first);
        row.last = arrival.points.last().map_or(0, |point| point.number);
        row.batch.add(*device, &arrival.points);
    }
    let sql = "INSERT INTO location_log (last_number, first_number, account_id, received_at, checksum, points) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    for (account, row) in rows {
        let checksum = checksum(row.last, row.first.unwrap_or_default(), account, tx.now());
        let values = params![row.last, row.first, account, tx.now(), checksum, row.batch.finish()];
        tx.execute(sql, values).await?;
    }
    Ok(())
}

#[derive(Default)]
struct LogRow {
    first: Option<i64>,
    last: i64,
    batch: BatchWriter,
}

/// Judges the new locations of a device by where it was, and finds the last one.
fn believe(live: &Live, owner: Owner, submissions: &[Submission], arrival: &mut Arrival) {
    let mut whereabouts = live.present().get(owner).map(|entry| entry.whereabouts).unwrap_or_default();
    let before = whereabouts.last;
    let mut places: Vec<usize> = (0..arrival.points.len()).collect();
    // In the order of time, so that the same locations give the same last one however they were sent.
    places.sort_by_key(|place| arrival.points[*place].key());
    for place in places {
        let Some(sent) = sent(submissions, arrival.places[place]) else { continue };
        let point = &mut arrival.points[place];
        point.trust.suspect = whereabouts.see(Fix { number: point.number, ..sent.fix }, point.trust.suspect);
        if whereabouts.last != before && whereabouts.last.is_some_and(|last| last.number == point.number) {
            arrival.last = Some(place);
        }
    }
    arrival.whereabouts = whereabouts;
}

/// Takes over into memory what was committed.
fn remember(live: &Live, arrivals: Arrivals, at: Timestamp) {
    let mut heard = Vec::with_capacity(arrivals.len());
    {
        let mut tail = live.tail_mut();
        for (owner, arrival) in arrivals {
            let last = arrival.last.and_then(|place| arrival.points.get(place)).map(Point::detached);
            let number = |point: Option<&Point>| point.map(|point| point.number);
            let numbers = number(arrival.points.first()).zip(number(arrival.points.last()));
            let moved = numbers.map(|_| (last, arrival.whereabouts));
            tail.add(owner, arrival.points);
            heard.push((owner, Heard { at, numbers, moved }));
        }
        if tail.is_pressed() {
            live.pressed.notify_one();
        }
    }
    let mut present = live.present_mut();
    for (owner, heard) in heard {
        present.hear(owner, heard);
    }
}
