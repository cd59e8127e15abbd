//! What a report reads: devices, a period, and the columns of its rows.

use perigee_core::access::actor::Scope;
use perigee_core::day::Day;
use perigee_core::id::{DeviceId, GeofenceId, GroupId};
use perigee_core::locations::place::Reader;
use perigee_core::time::Timestamp;
use perigee_core::timeline::SegmentKind;
use perigee_core::zone::Zone;
use perigee_reports::{Column, Grouping, MessagePrices, ReportKind};

/// The devices of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All that the scope sees.
    All,
    /// These devices, and those of these groups, each once.
    Some(Vec<DeviceId>, Vec<GroupId>),
}

/// What a report reads, and for whom.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the reader sees.
    pub scope: Scope,
    /// The kind of report.
    pub kind: ReportKind,
    /// The devices.
    pub selection: Selection,
    /// The geofences of visits; all that the scope sees if empty.
    pub geofences: Vec<GeofenceId>,
    /// The beginning of the period, the limits between its intervals, and its end.
    pub limits: Vec<Timestamp>,
    /// What the totals are about.
    pub grouping: Grouping,
    /// The present, by which devices are judged.
    pub now: Timestamp,
    /// The day of the account that the present is in, and its zone.
    pub today: (Day, Zone),
    /// The columns of rows.
    pub columns: Vec<Column>,
    /// The zone of dates.
    pub zone: Zone,
    /// Language and units of places.
    pub reader: Reader,
    /// What messages cost.
    pub prices: MessagePrices,
}

impl Plan {
    /// The beginning of the period.
    pub fn from(&self) -> Timestamp {
        self.limits.first().copied().unwrap_or(Timestamp::MIN)
    }

    /// The end of the period, which does not belong to it.
    pub fn to(&self) -> Timestamp {
        self.limits.last().copied().unwrap_or(Timestamp::MAX)
    }

    /// The kind of segments that become rows; all kinds if `None`.
    pub(super) const fn segment_kind(&self) -> Option<SegmentKind> {
        match self.kind {
            ReportKind::Trips => Some(SegmentKind::Trip),
            ReportKind::Stops => Some(SegmentKind::Stop),
            _ => None,
        }
    }
}
