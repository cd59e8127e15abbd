//! Storing a batch of submissions on SQLite: one log row per account, however many locations it holds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perigee_core::id::AccountId;
use perigee_core::location::{Fix, JumpDetector, Outcome, judge};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::admission::admissions;
use super::device_state::{Contact, load};
use super::log_row::checksum;
use super::memory::LocationMemory;
use super::unpacked::Owner;
use crate::codec::{BatchWriter, Point};
use crate::sql::locations::{Admission, PendingLocation, Submission, first_results, known_in_chunks};
use crate::{Tx, params};

/// Where a location stands in the batch: the index of its submission, and its index in that.
type BatchIndex = (usize, usize);

/// The locations of one device in the batch.
#[derive(Default)]
struct Arrival {
    candidates: Vec<BatchIndex>,
    /// Those that are new, in arrival order, and the batch index of each.
    points: Vec<Point>,
    places: Vec<BatchIndex>,
    /// Which of `points` is the device's last location now.
    last: Option<usize>,
    jump_detector: JumpDetector,
}

type Arrivals = BTreeMap<Owner, Arrival>;

/// Stores new locations; says of each whether it was accepted or a duplicate, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    memory: &Arc<LocationMemory>,
    submissions: &[Submission],
) -> Result<Vec<Result<Vec<Outcome>>>> {
    tx.keep_device_cache_valid();
    let admissions = admissions(tx, memory, submissions).await?;
    let mut results = first_results(submissions, &admissions);
    let mut arrivals = arrivals(submissions, &admissions);
    load(tx, memory, arrivals.keys().copied()).await?;
    for (owner, arrival) in &mut arrivals {
        find_new(tx, memory, *owner, submissions, arrival).await?;
    }
    assign_numbers(tx, &mut arrivals).await?;
    for (owner, arrival) in &mut arrivals {
        judge_jumps(memory, *owner, submissions, arrival);
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
    let (memory, at) = (Arc::clone(memory), tx.now());
    tx.after_commit(move || apply_to_memory(&memory, arrivals, at));
    Ok(results)
}

fn arrivals(submissions: &[Submission], admissions: &[Admission]) -> Arrivals {
    let mut arrivals = Arrivals::new();
    for (index, (submission, admission)) in submissions.iter().zip(admissions).enumerate() {
        if *admission == Admission::NotVisible {
            continue;
        }
        // The contact of an expired device is recorded all the same.
        let arrival = arrivals.entry((submission.scope.account, submission.device)).or_default();
        if *admission == Admission::Active {
            arrival.candidates.extend((0..submission.locations.len()).map(|place| (index, place)));
        }
    }
    arrivals
}

/// Finds the locations of a device that are neither in memory nor in a chunk nor earlier in the batch.
async fn find_new(
    tx: &Tx,
    memory: &LocationMemory,
    owner: Owner,
    submissions: &[Submission],
    arrival: &mut Arrival,
) -> Result<()> {
    let packed_until = memory.device_states().get(owner).and_then(|entry| entry.packed_until);
    let mut may_be_packed = false;
    {
        let unpacked = memory.unpacked();
        let mut seen = Seen::default();
        for place in &arrival.candidates {
            let Some(point) = point(submissions, *place, tx.now()) else { continue };
            if unpacked.holds(owner, &point) || seen.contains(&arrival.points, &point) {
                continue;
            }
            seen.add(&point, arrival.points.len());
            may_be_packed |= packed_until.is_some_and(|until| point.time <= until);
            arrival.points.push(point);
            arrival.places.push(*place);
        }
    }
    if may_be_packed {
        let pending: Vec<&PendingLocation> =
            arrival.places.iter().filter_map(|place| pending(submissions, *place)).collect();
        let known = known_in_chunks(tx, owner.0, owner.1, &pending).await?;
        let mut each = known.iter();
        arrival.points.retain(|_| !each.next().copied().unwrap_or(false));
        let mut each = known.iter();
        arrival.places.retain(|_| !each.next().copied().unwrap_or(false));
    }
    Ok(())
}

fn pending(submissions: &[Submission], (index, place): BatchIndex) -> Option<&PendingLocation> {
    submissions.get(index).and_then(|submission| submission.locations.get(place))
}

fn point(submissions: &[Submission], place: BatchIndex, received_at: Timestamp) -> Option<Point> {
    let PendingLocation { fix, readings } = pending(submissions, place)?;
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

/// Finds duplicates among the new locations of one device. Mostly times ascend, and no lookup is needed.
#[derive(Default)]
struct Seen {
    /// Built when a time first does not ascend.
    by_time: Option<HashMap<Timestamp, Vec<usize>>>,
}

impl Seen {
    fn contains(&mut self, points: &[Point], point: &Point) -> bool {
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

/// Assigns log numbers, drawn from the event counter, which is the one behind AUTOINCREMENT.
async fn assign_numbers(tx: &Tx, arrivals: &mut Arrivals) -> Result<()> {
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

/// Writes the new locations, one log row per account.
async fn append(tx: &Tx, arrivals: &Arrivals) -> Result<()> {
    let mut rows: BTreeMap<AccountId, NewLogRow> = BTreeMap::new();
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
struct NewLogRow {
    first: Option<i64>,
    last: i64,
    batch: BatchWriter,
}

/// Flags implausible jumps among the new locations of a device, and finds its last location.
fn judge_jumps(memory: &LocationMemory, owner: Owner, submissions: &[Submission], arrival: &mut Arrival) {
    let mut jump_detector =
        memory.device_states().get(owner).map(|entry| entry.jump_detector).unwrap_or_default();
    let before = jump_detector.last;
    let mut places: Vec<usize> = (0..arrival.points.len()).collect();
    // In time order, so that the result does not depend on the order of submission.
    places.sort_by_key(|place| arrival.points[*place].key());
    for place in places {
        let Some(pending) = pending(submissions, arrival.places[place]) else { continue };
        let point = &mut arrival.points[place];
        point.trust.suspect =
            jump_detector.judge(Fix { number: point.number, ..pending.fix }, point.trust.suspect);
        if jump_detector.last != before && jump_detector.last.is_some_and(|last| last.number == point.number)
        {
            arrival.last = Some(place);
        }
    }
    arrival.jump_detector = jump_detector;
}

/// Applies a commit to memory.
fn apply_to_memory(memory: &LocationMemory, arrivals: Arrivals, at: Timestamp) {
    let mut heard = Vec::with_capacity(arrivals.len());
    {
        let mut unpacked = memory.unpacked_mut();
        for (owner, arrival) in arrivals {
            let last = arrival.last.and_then(|place| arrival.points.get(place)).map(Point::detached);
            let number = |point: Option<&Point>| point.map(|point| point.number);
            let numbers = number(arrival.points.first()).zip(number(arrival.points.last()));
            let moved = numbers.map(|_| (last, arrival.jump_detector));
            unpacked.add(owner, arrival.points);
            heard.push((owner, Contact { at, numbers, moved }));
        }
        if unpacked.is_pressed() {
            memory.pressed.notify_one();
        }
    }
    let mut states = memory.device_states_mut();
    for (owner, heard) in heard {
        states.record_contact(owner, heard);
    }
}
