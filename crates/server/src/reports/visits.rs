//! Reads the visits of a device to geofences from its history, part by part: each part waits for the turn of its account to be
//! read, and again to be computed.

use std::collections::HashMap;
use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{DeviceId, GeofenceId};
use perigee_core::locations::geofence::FenceIndex;
use perigee_core::locations::location::{HistoryRequest, Order, TimeRange};
use perigee_core::page::PageRequest;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentFigures, SegmentKind, Totals, Visit, VisitStart, VisitWalk};

use super::batch::Batch;
use super::devices::ReportDevice;
use super::plan::Plan;
use super::report::{ReportError, ReportParts};
use crate::budget::Slot;

/// Locations that are read at a time.
const PART: u32 = 5_000;
/// Locations before a period that are read at a time.
const PART_BEFORE: u32 = 200;
/// Memory that a part takes.
const PART_BYTES: usize = 4 * 1024 * 1024;
/// CPU steps of one turn: about 50 ms.
const TURN_STEPS: u64 = 10_000_000;
/// Trips that are read at a time.
const TRIPS: u32 = 1_000;
/// Geofences that are read at a time.
const FENCES: u32 = 500;

/// A visit with the distance of the trips in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredVisit {
    /// The visit, or its part in the period.
    pub visit: Visit,
    /// Metres of trips in this time. Trips that it divides count in proportion to time.
    pub distance_m: u64,
}

/// Reads visits of one device after another.
#[derive(Debug)]
pub struct VisitReader {
    parts: ReportParts,
    scope: Scope,
    index: Arc<FenceIndex>,
    /// Locations that were read so far.
    pub locations: u64,
}

/// A device whose visits are being read.
#[derive(Debug)]
pub struct DeviceVisits {
    device: DeviceId,
    walk: Box<VisitWalk>,
    request: HistoryRequest,
    from: Timestamp,
    is_read: bool,
}

impl std::fmt::Debug for ReportParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReportParts").field("payer", &self.payer).finish_non_exhaustive()
    }
}

/// Prepares the geofences that a scope sees for lookups: one of them, these, or all.
pub async fn fence_index(
    parts: &ReportParts,
    scope: Scope,
    only: Option<&[GeofenceId]>,
) -> Result<(Arc<FenceIndex>, Vec<(GeofenceId, Arc<str>)>), ReportError> {
    let mut shapes = Vec::new();
    let mut names: Vec<(GeofenceId, Arc<str>)> = Vec::new();
    let mut add = |fence: perigee_core::locations::geofence::Geofence| {
        names.push((fence.id, fence.settings.name.into()));
        shapes.push((fence.id, fence.settings.shape));
    };
    if let Some(only) = only {
        for id in only {
            let slot = turn(parts).await?;
            // One that was deleted meanwhile is left out.
            if let Some(fence) = parts.store.find_geofence(scope, *id).await? {
                add(fence);
            }
            drop(slot);
        }
    } else {
        let mut page = PageRequest::first(FENCES);
        loop {
            let slot = turn(parts).await?;
            let found = parts.store.list_geofences(scope, None, page).await?;
            drop(slot);
            found.items.into_iter().for_each(&mut add);
            match found.next {
                Some(next) => page.after = Some(next),
                None => break,
            }
        }
    }
    let prepare = move || FenceIndex::new(shapes.iter().map(|(id, shape)| (*id, shape)));
    let index = parts.budget.run(parts.payer, PART_BYTES, prepare).await?;
    names.sort_unstable_by_key(|(id, _)| *id);
    Ok((Arc::new(index), names))
}

async fn turn(parts: &ReportParts) -> Result<Slot, ReportError> {
    Ok(parts.budget.reads.acquire_next(parts.payer, 0).await?)
}

impl VisitReader {
    /// Reads visits to these geofences.
    pub const fn new(parts: ReportParts, scope: Scope, index: Arc<FenceIndex>) -> Self {
        Self { parts, scope, index, locations: 0 }
    }

    /// Begins with a device, and reads what is needed from before the period.
    pub async fn begin(
        &mut self,
        device: DeviceId,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<DeviceVisits, ReportError> {
        let mut start = VisitStart::new(from);
        let range = TimeRange { from: Timestamp::MIN, to: from.plus_millis(-1) };
        let mut request = HistoryRequest { range, order: Order::Descending, after: None, limit: PART_BEFORE };
        loop {
            let slot = turn(&self.parts).await?;
            let part = self.parts.store.list_locations(self.scope, device, request).await?;
            drop(slot);
            self.locations += u64::try_from(part.items.len()).unwrap_or(0);
            let (next, items) = (part.next, part.items);
            let work = move || {
                let is_enough = start.pass(items);
                (start, is_enough)
            };
            let is_enough;
            (start, is_enough) = self.parts.budget.run(self.parts.payer, PART_BYTES, work).await?;
            match next {
                // A larger part, because something is unusual.
                Some(next) if !is_enough => (request.after, request.limit) = (Some(next), PART),
                _ => break,
            }
        }
        let range = TimeRange { from: start.begin(), to: Timestamp::MAX };
        let request = HistoryRequest { range, order: Order::Ascending, after: None, limit: PART };
        let walk = Box::new(VisitWalk::new(Arc::clone(&self.index), from, to));
        Ok(DeviceVisits { device, walk, request, from, is_read: false })
    }

    /// Reads the next part of a history.
    pub async fn step(&mut self, mut of: DeviceVisits) -> Result<DeviceVisits, ReportError> {
        let slot = turn(&self.parts).await?;
        let part = self.parts.store.list_locations(self.scope, of.device, of.request).await?;
        drop(slot);
        self.locations += u64::try_from(part.items.len()).unwrap_or(0);
        let (next, mut items) = (part.next, part.items.into_iter());
        let mut walk = of.walk;
        loop {
            let work = move || {
                let is_read = walk.pass(&mut items, TURN_STEPS);
                (walk, items, is_read)
            };
            let is_read;
            (walk, items, is_read) = self.parts.budget.run(self.parts.payer, PART_BYTES, work).await?;
            if is_read {
                break;
            }
        }
        of.walk = walk;
        of.request.after = next;
        of.is_read = next.is_none();
        Ok(of)
    }

    /// The remaining visits of a device in a period, measured, by time.
    pub async fn finish(&self, of: DeviceVisits) -> Result<Vec<MeasuredVisit>, ReportError> {
        let DeviceVisits { device, walk, .. } = of;
        let visits = self.parts.budget.run(self.parts.payer, 0, move || walk.finish()).await?;
        self.measure(device, visits).await
    }

    /// Adds the distance of the trips in visits of a device.
    async fn measure(&self, device: DeviceId, visits: Vec<Visit>) -> Result<Vec<MeasuredVisit>, ReportError> {
        let Some(from) = visits.iter().map(|visit| visit.from).min() else { return Ok(Vec::new()) };
        let to = visits.iter().map(|visit| visit.to).max().unwrap_or(from);
        let mut trips = Vec::new();
        let mut period = TimeRange { from, to };
        loop {
            let slot = turn(&self.parts).await?;
            let kind = Some(SegmentKind::Trip);
            let page = self.parts.store.list_segments(self.scope, device, period, kind, TRIPS).await?;
            drop(slot);
            trips.extend(page.segments.iter().map(|one| SegmentFigures::of(&one.segment, one.is_open)));
            match trips.last() {
                Some(last) if page.more => period.from = last.to,
                _ => break,
            }
        }
        let measure = |visit: Visit| MeasuredVisit { visit, distance_m: distance_m(&trips, &visit) };
        Ok(visits.into_iter().map(measure).collect())
    }
}

/// The visits of a report, device by device.
#[derive(Debug)]
pub(super) struct VisitRows {
    reader: VisitReader,
    names: HashMap<GeofenceId, Arc<str>>,
    /// The device that is being read.
    current: Option<(Arc<str>, DeviceVisits)>,
}

/// Visits after which those that have ended become rows.
const ROWS: usize = 1_000;

impl VisitRows {
    /// Prepares the geofences of a plan.
    pub(super) async fn open(parts: &ReportParts, plan: &Plan) -> Result<Self, ReportError> {
        let only = (!plan.geofences.is_empty()).then_some(plan.geofences.as_slice());
        let (index, names) = fence_index(parts, plan.scope, only).await?;
        let reader = VisitReader::new(parts.clone(), plan.scope, index);
        Ok(Self { reader, names: names.into_iter().collect(), current: None })
    }

    /// Whether the next device is needed.
    pub(super) const fn wants_device(&self) -> bool {
        self.current.is_none()
    }

    /// Begins with a device.
    pub(super) async fn begin(&mut self, device: ReportDevice, plan: &Plan) -> Result<(), ReportError> {
        match self.reader.begin(device.id, (plan.from(), plan.to())).await {
            // It was deleted meanwhile.
            Err(ReportError::Store(StoreError::NotFound(_))) => {}
            begun => self.current = Some((device.name, begun?)),
        }
        Ok(())
    }

    /// Reads the next part of the device; the batch may be empty.
    pub(super) async fn next(&mut self) -> Result<Batch, ReportError> {
        let Some((name, of)) = self.current.take() else { return Ok(Batch::Maintenance(Vec::new())) };
        let device = of.device;
        let visits = match self.reader.step(of).await {
            Err(ReportError::Store(StoreError::NotFound(_))) => Vec::new(),
            Err(error) => return Err(error),
            Ok(of) if of.is_done() => self.reader.finish(of).await?,
            Ok(mut of) => {
                let ended = if of.found() >= ROWS { of.walk.take() } else { Vec::new() };
                self.current = Some((Arc::clone(&name), of));
                self.reader.measure(device, ended).await?
            }
        };
        let named = visits.into_iter().filter_map(|visit| {
            let fence = self.names.get(&visit.visit.geofence)?;
            Some((visit, Arc::clone(fence)))
        });
        Ok(Batch::Visits((device, name), named.collect()))
    }
}

/// The distance of trips, sorted by time, in a visit.
fn distance_m(trips: &[SegmentFigures], visit: &Visit) -> u64 {
    let first = trips.partition_point(|trip| trip.to <= visit.from);
    let mut totals = Totals::default();
    for trip in trips.iter().skip(first).take_while(|trip| trip.from < visit.to) {
        totals.add(trip, visit.from, visit.to);
    }
    totals.distance_m
}

impl DeviceVisits {
    /// Whether all visits of the period are known.
    pub fn is_done(&self) -> bool {
        self.is_read || self.walk.is_done()
    }

    /// Number of visits so far.
    pub fn found(&self) -> usize {
        self.walk.found()
    }

    /// CPU steps so far.
    pub fn steps(&self) -> u64 {
        self.walk.steps()
    }

    /// Ends the period where enough was read, unless that is its beginning. Returns the instant at which the rest begins. Few
    /// more locations have to be read then.
    pub fn end_here(&mut self) -> Option<Timestamp> {
        let at = self.walk.at();
        (at > self.from).then(|| {
            self.walk.end_at(at);
            at
        })
    }
}
