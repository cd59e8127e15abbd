//! Reads and writes the rows of segments.

use std::sync::Arc;

use perigee_core::drivers::{DriverSource, DriverTag, SegmentDriver};
use perigee_core::id::{AccountId, DeviceId, DriverId, SegmentId};
use perigee_core::locations::location::{Latitude, Longitude, Milli};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::timeline::{DistanceSource, Position, Segment, SegmentKind, SegmentLabels, StoredSegment};

use crate::sql::column;
use crate::{Row, Value, params};

/// The columns, in the order of [`values`].
pub(super) const COLUMNS: &str = "account_id, device_id, id, kind, from_at, to_at, is_open, start_latitude, \
     start_longitude, end_latitude, end_longitude, distance_m, distance_source, moving_s, standing_s, idling_s, engine_s, \
     max_speed, fuel_used, driver_tag, inferred, name, purpose, note, driver, revision, updated_at, change_number, \
     driver_id, driver_name, driver_source, tag_key";

/// The assignments by which a segment replaces the row with its id.
pub(super) const REPLACE: &str = "ON CONFLICT (account_id, device_id, id) DO UPDATE SET kind = excluded.kind, \
     from_at = excluded.from_at, to_at = excluded.to_at, is_open = excluded.is_open, \
     start_latitude = excluded.start_latitude, start_longitude = excluded.start_longitude, \
     end_latitude = excluded.end_latitude, end_longitude = excluded.end_longitude, distance_m = excluded.distance_m, \
     distance_source = excluded.distance_source, moving_s = excluded.moving_s, standing_s = excluded.standing_s, \
     idling_s = excluded.idling_s, engine_s = excluded.engine_s, max_speed = excluded.max_speed, \
     fuel_used = excluded.fuel_used, driver_tag = excluded.driver_tag, inferred = excluded.inferred, \
     name = excluded.name, purpose = excluded.purpose, note = excluded.note, driver = excluded.driver, \
     revision = excluded.revision, updated_at = excluded.updated_at, change_number = excluded.change_number, \
     driver_id = excluded.driver_id, driver_name = excluded.driver_name, driver_source = excluded.driver_source, \
     tag_key = excluded.tag_key";

/// The values of [`COLUMNS`].
pub(super) fn values(stored: &StoredSegment) -> Vec<Value> {
    let (segment, labels, driver) = (&stored.segment, &stored.labels, stored.driver.as_ref());
    let tag: Option<DriverTag> = segment.driver_tag.as_deref().and_then(|tag| tag.parse().ok());
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    params![
        stored.account,
        stored.device,
        stored.id,
        segment.kind.name(),
        segment.from,
        segment.to,
        stored.is_open,
        segment.start.0.as_e7(),
        segment.start.1.as_e7(),
        segment.end.0.as_e7(),
        segment.end.1.as_e7(),
        number(segment.distance_m),
        segment.distance_source.name(),
        number(segment.moving_s),
        number(segment.standing_s),
        number(segment.idling_s),
        segment.engine_s.map(number),
        segment.max_speed.map(Milli::as_thousandths),
        segment.fuel_used.map(Milli::as_thousandths),
        segment.driver_tag.as_deref(),
        segment.inferred,
        labels.name.as_deref(),
        labels.purpose.as_deref(),
        labels.note.as_deref(),
        labels.driver.as_deref(),
        stored.revision.0,
        stored.updated_at,
        stored.change,
        driver.and_then(|driver| driver.id),
        driver.map(|driver| driver.name.as_str()),
        driver.map(|driver| driver.source.name()),
        tag.as_ref().map(DriverTag::as_str)
    ]
    .to_vec()
}

pub(super) fn from_row(row: &Row) -> Result<StoredSegment> {
    let kind = row.str("kind")?;
    let kind = SegmentKind::ALL.into_iter().find(|known| known.name() == kind);
    let source = row.str("distance_source")?;
    let source = DistanceSource::ALL.into_iter().find(|known| known.name() == source);
    let segment = Segment {
        kind: kind.ok_or_else(|| column::unreadable("kind", "unknown kind of segment"))?,
        from: row.timestamp("from_at")?,
        to: row.timestamp("to_at")?,
        start: position(row, "start_latitude", "start_longitude")?,
        end: position(row, "end_latitude", "end_longitude")?,
        distance_m: row.int("distance_m")?,
        distance_source: source.ok_or_else(|| column::unreadable("distance_source", "unknown source"))?,
        moving_s: row.int("moving_s")?,
        standing_s: row.int("standing_s")?,
        idling_s: row.int("idling_s")?,
        engine_s: row.opt_int("engine_s")?,
        max_speed: row.opt_i64("max_speed")?.map(Milli::from_thousandths),
        fuel_used: row.opt_i64("fuel_used")?.map(Milli::from_thousandths),
        driver_tag: row.opt_str("driver_tag")?.map(Arc::from),
        inferred: row.bool("inferred")?,
    };
    let (driver, text) = (driver(row)?, row.opt_text("driver")?);
    let driver_id = driver.as_ref().and_then(|driver| driver.id).filter(|_| text.is_some());
    Ok(StoredSegment {
        account: AccountId::from_i64(row.i64("account_id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        id: SegmentId::from_i64(row.i64("id")?),
        segment,
        is_open: row.bool("is_open")?,
        labels: SegmentLabels {
            name: row.opt_text("name")?,
            purpose: row.opt_text("purpose")?,
            note: row.opt_text("note")?,
            driver: text,
            driver_id,
        },
        driver,
        revision: Revision(row.i64("revision")?),
        updated_at: row.timestamp("updated_at")?,
        change: row.i64("change_number")?,
    })
}

fn driver(row: &Row) -> Result<Option<SegmentDriver>> {
    let Some(name) = row.opt_text("driver_name")? else { return Ok(None) };
    let source = row.opt_str("driver_source")?;
    let source = DriverSource::ALL.into_iter().find(|known| Some(known.name()) == source);
    let source = source.ok_or_else(|| column::unreadable("driver_source", "unknown source of a driver"))?;
    Ok(Some(SegmentDriver { id: row.opt_i64("driver_id")?.map(DriverId::from_i64), name, source }))
}

fn position(row: &Row, latitude: &str, longitude: &str) -> Result<Position> {
    Ok((Latitude::from_e7(row.int(latitude)?), Longitude::from_e7(row.int(longitude)?)))
}
