//! What is read from the store at a time, and the rows that are made of it.

use std::sync::Arc;

use perigee_core::alerts::alert::StoredAlert;
use perigee_core::devices::device::Device;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::maintenance::MaintenanceStatus;
use perigee_core::notifications::notification::MessageCounts;
use perigee_core::store::DriverKey;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Segment, StoredSegment, Totals, clip};
use perigee_reports::{
    AlertRow, DeviceRow, MaintenanceRow, MessagesRow, ReportKind, Row, SegmentRow, TotalsRow, VisitRow,
};

use super::plan::Plan;
use super::visits::MeasuredVisit;

/// Totals of an interval, and whose they are.
#[derive(Clone, Debug)]
pub(super) struct NamedTotals {
    pub(super) device: Option<(DeviceId, Arc<str>)>,
    pub(super) group: Option<(GroupId, Arc<str>)>,
    /// The driver, with an empty name for nobody; `None` unless the totals are those of drivers.
    pub(super) driver: Option<(DriverKey, Arc<str>)>,
    pub(super) interval: usize,
    pub(super) totals: Totals,
}

/// What becomes rows together.
#[derive(Debug)]
pub(super) enum Batch {
    /// Segments with the names of their devices.
    Segments(Vec<(Arc<str>, StoredSegment)>),
    /// Totals.
    Totals(Vec<NamedTotals>),
    /// Alerts, each with the name of its device and of who acknowledged it.
    Alerts(Vec<(Arc<str>, StoredAlert, Option<Arc<str>>)>),
    /// Devices with their last location.
    Devices(Vec<(Device, Option<StoredLocation>)>),
    /// Counts of messages, each with the name of its device.
    Messages(Vec<(Option<Arc<str>>, MessageCounts)>),
    /// Visits of a device, each with the name of its geofence.
    Visits((DeviceId, Arc<str>), Vec<(MeasuredVisit, Arc<str>)>),
    /// Maintenance plans with the names of their devices.
    Maintenance(Vec<(Arc<str>, MaintenanceStatus)>),
}

impl Batch {
    /// The rows of the report.
    pub(super) fn rows(&self, plan: &Plan) -> Vec<Row> {
        match self {
            Self::Segments(segments) => {
                segments.iter().flat_map(|(device, stored)| segment_rows(device, stored, plan)).collect()
            }
            Self::Totals(totals) => totals.iter().filter_map(|totals| totals_row(totals, plan)).collect(),
            Self::Alerts(alerts) => {
                let row = |(device, stored, by): &(Arc<str>, StoredAlert, Option<Arc<str>>)| {
                    AlertRow { device, stored, acknowledged_by: by.as_deref() }
                        .row(&plan.columns, plan.reader)
                };
                alerts.iter().map(row).collect()
            }
            Self::Devices(devices) => {
                let row = |(device, last): &(Device, Option<StoredLocation>)| {
                    DeviceRow { device, last: last.as_ref(), now: plan.now }.row(&plan.columns, plan.reader)
                };
                devices.iter().map(row).collect()
            }
            Self::Messages(all) => {
                let row = |(device, counts): &(Option<Arc<str>>, MessageCounts)| {
                    MessagesRow { device: device.as_deref(), counts, prices: &plan.prices }.row(&plan.columns)
                };
                all.iter().map(row).collect()
            }
            Self::Visits((device, name), visits) => {
                let row = |(measured, fence): &(MeasuredVisit, Arc<str>)| {
                    let MeasuredVisit { visit, distance_m } = *measured;
                    VisitRow { device: (*device, name), geofence: fence, visit, distance_m }
                        .row(&plan.columns)
                };
                visits.iter().map(row).collect()
            }
            Self::Maintenance(plans) => {
                let (day, zone) = &plan.today;
                let row = |(device, status): &(Arc<str>, MaintenanceStatus)| {
                    let due = status.plan.due(status.usage, plan.now, (*day, zone));
                    MaintenanceRow { device, status, due, zone: &plan.zone }.row(&plan.columns, plan.reader)
                };
                plans.iter().map(row).collect()
            }
        }
    }
}

/// A row for the part of a segment in the period, or for each of its days.
fn segment_rows(device: &str, stored: &StoredSegment, plan: &Plan) -> Vec<Row> {
    let whole = std::slice::from_ref(&stored.segment);
    let parts: Vec<Segment> = if plan.kind == ReportKind::Timeline {
        let is_after = |limit: &Timestamp| *limit <= stored.segment.from;
        let first = plan.limits.partition_point(is_after).saturating_sub(1);
        let limits = plan.limits.get(first..).unwrap_or_default();
        let days = limits.windows(2).take_while(|day| day[0] < stored.segment.to);
        days.flat_map(|day| clip(whole, day[0], day[1])).collect()
    } else {
        clip(whole, plan.from(), plan.to())
    };
    let is_wanted = |part: &&Segment| plan.kind != ReportKind::Idling || part.idling_s > 0;
    let row = |part: &Segment| SegmentRow { device, stored, part }.row(&plan.columns, plan.reader);
    parts.iter().filter(is_wanted).map(row).collect()
}

fn totals_row(totals: &NamedTotals, plan: &Plan) -> Option<Row> {
    if plan.kind == ReportKind::EngineHours && totals.totals.engine_s.is_none() {
        return None;
    }
    let (from, to) = (*plan.limits.get(totals.interval)?, *plan.limits.get(totals.interval + 1)?);
    let row = TotalsRow {
        device: totals.device.as_ref().map(|(id, name)| (*id, name.as_ref())),
        group: totals.group.as_ref().map(|(id, name)| (*id, name.as_ref())),
        driver: totals.driver.as_ref().map(|(key, name)| {
            let id = match key {
                DriverKey::Known(id) => Some(*id),
                DriverKey::Named(_) | DriverKey::Unknown => None,
            };
            (id, name.as_ref())
        }),
        from,
        to,
        totals: &totals.totals,
    };
    Some(row.row(&plan.columns, &plan.zone))
}
