//! What the devices of a plan sent since the last check-in, read from committed rows. Nothing is remembered but the last text
//! that was read: a location counts by its time, so that reading it again changes nothing.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::geofence::{Position, Region, Shape};
use perigee_core::locations::location::{
    HistoryRequest, Latitude, Longitude, Order, StoredLocation, TimeRange,
};
use perigee_core::plans::{CheckIn, CheckInBy, Order as TextOrder, Plan, read_order};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::row::PlanRow;
use crate::sql::column;
use crate::sql::locations;
use crate::sql::query::for_ids;
use crate::{Row, Tx, params};

/// Texts that are read in one transaction; the rest follows in the next.
const TEXTS: i64 = 100;
/// Locations of a device that are looked at, the newest ones.
const LOCATIONS: u32 = 500;
/// Locations of a device from which the usual delay is learned.
const DELAYS: u32 = 20;
/// How far ahead of the store's clock the time of a location may be, as for locations that are not suspect.
const AHEAD_MS: i64 = 10 * 60 * 1_000;
/// The longest delay that is added to the grace, in seconds.
const DELAY_MAX_S: i64 = 3_600;

/// Something that a device sent.
#[derive(Clone, Debug)]
pub(super) enum Evidence {
    /// A check-in.
    CheckIn(CheckIn),
    /// A word that steers the plan.
    Order(TextOrder, CheckIn),
    /// The last waypoint was reached.
    Arrival(CheckIn),
}

impl Evidence {
    pub(super) const fn at(&self) -> Timestamp {
        match self {
            Self::CheckIn(check_in) | Self::Order(_, check_in) | Self::Arrival(check_in) => check_in.at,
        }
    }
}

/// The id of the newest text of these devices.
pub(super) async fn newest_text(tx: &Tx, account: AccountId, devices: &[DeviceId]) -> Result<i64> {
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let sql = "SELECT MAX(id) AS newest_id FROM conversation_message WHERE account_id = ?1 AND device_id IN ({ids})";
    let rows = for_ids(tx, sql, params![account], &ids).await?;
    let mut newest = 0;
    for row in &rows {
        newest = newest.max(row.opt_i64("newest_id")?.unwrap_or(0));
    }
    Ok(newest)
}

/// Reads the texts that were not read yet. Returns whether there are more.
pub(super) async fn texts(tx: &Tx, row: &mut PlanRow, found: &mut Vec<Evidence>) -> Result<bool> {
    let plan = &row.plan;
    let ids: Vec<i64> = plan.settings.devices.iter().map(|device| device.as_i64()).collect();
    let sql = "SELECT id, device_id, body, time, received_at, latitude, longitude FROM conversation_message \
               WHERE account_id = ?1 AND id > ?2 AND direction = 'in' AND device_id IN ({ids}) ORDER BY id LIMIT ?3";
    let mut rows = for_ids(tx, sql, params![plan.account, row.last_text, TEXTS], &ids).await?;
    rows.sort_by_key(|row| row.i64("id").unwrap_or(0));
    let mut last = row.last_text;
    for text in &rows {
        last = last.max(text.i64("id")?);
        found.extend(of_text(plan, text)?);
    }
    row.last_text = last;
    Ok(i64::try_from(rows.len()).is_ok_and(|count| count >= TEXTS))
}

fn of_text(plan: &Plan, row: &Row) -> Result<Option<Evidence>> {
    let body = row.text("body")?;
    let latitude = row.opt_int("latitude")?.map(Latitude::from_e7);
    let longitude = row.opt_int("longitude")?.map(Longitude::from_e7);
    let sources = &plan.settings.check_ins.by;
    let order = read_order(&body, &plan.settings.words);
    let is_word = order == Some(TextOrder::CheckIn) && sources.words;
    let check_in = CheckIn {
        at: row.timestamp("time")?.min(row.timestamp("received_at")?),
        by: if is_word { CheckInBy::Word } else { CheckInBy::Message },
        device: Some(DeviceId::from_i64(row.i64("device_id")?)),
        position: latitude.zip(longitude),
        text: Some(body),
        waypoint: None,
    };
    // A word that was sent before the plan was started steers another voyage.
    let is_of_plan = plan.progress.started.is_none_or(|started| check_in.at >= started);
    Ok(match order {
        _ if !is_of_plan => None,
        Some(order) if order != TextOrder::CheckIn => Some(Evidence::Order(order, check_in)),
        _ if is_word || sources.message => Some(Evidence::CheckIn(check_in)),
        _ => None,
    })
}

/// What a location is compared with.
struct Places {
    fences: Vec<Region>,
}

impl Places {
    async fn of(tx: &Tx, plan: &Plan) -> Result<Self> {
        let ids: Vec<i64> = plan.settings.check_ins.by.geofences.iter().map(|fence| fence.as_i64()).collect();
        let mut fences = Vec::with_capacity(ids.len());
        if !ids.is_empty() {
            let sql = "SELECT f.shape FROM geofence f WHERE f.account_id = ?1 AND f.id IN ({ids})";
            for row in for_ids(tx, sql, params![plan.account], &ids).await? {
                let shape: Shape = column::json(&row, "shape")?;
                fences.push(shape.region());
            }
        }
        Ok(Self { fences })
    }

    /// What a location is for the plan.
    fn judge(&self, plan: &Plan, device: DeviceId, stored: &StoredLocation) -> Option<Evidence> {
        let location = &stored.location;
        let position = (location.latitude, location.longitude);
        let settings = &plan.settings;
        let check_in = |by, waypoint| CheckIn {
            at: location.time.min(stored.received_at),
            by,
            device: Some(device),
            position: Some(position),
            text: None,
            waypoint,
        };
        if settings.ends_at_destination && settings.waypoints.last().is_some_and(|last| last.is_at(position))
        {
            return Some(Evidence::Arrival(check_in(CheckInBy::Waypoint, None)));
        }
        let is_next = |index: &u16| !plan.progress.reached.contains(index);
        let mut timed =
            settings.waypoints.iter().zip(0_u16..).filter(|(waypoint, _)| waypoint.time.is_some());
        if let Some((_, index)) = timed.find(|(waypoint, index)| is_next(index) && waypoint.is_at(position)) {
            return Some(Evidence::CheckIn(check_in(CheckInBy::Waypoint, Some(index))));
        }
        let at = Position { latitude: position.0, longitude: position.1 };
        if self.fences.iter().any(|fence| fence.contains(at)) {
            return Some(Evidence::CheckIn(check_in(CheckInBy::Geofence, None)));
        }
        settings.check_ins.by.location.then(|| Evidence::CheckIn(check_in(CheckInBy::Location, None)))
    }
}

/// Reads the locations since the last check-in: those at places of the plan, and the newest one.
pub(super) async fn locations(tx: &Tx, plan: &Plan, found: &mut Vec<Evidence>) -> Result<()> {
    let needs_all = plan.settings.needs_positions();
    let Some(base) = plan.progress.base else { return Ok(()) };
    if !needs_all && !plan.settings.check_ins.by.location {
        return Ok(());
    }
    let places = Places::of(tx, plan).await?;
    for device in &plan.settings.devices {
        let limit = if needs_all { LOCATIONS } else { DELAYS };
        let newest = newest(tx, plan.account, *device, base.plus_millis(1), limit).await?;
        let mut has_plain = false;
        for stored in newest.iter().filter(|stored| !stored.trust.suspect) {
            let Some(evidence) = places.judge(plan, *device, stored).filter(|one| one.at() <= tx.now())
            else {
                continue;
            };
            let is_plain =
                matches!(&evidence, Evidence::CheckIn(check_in) if check_in.by == CheckInBy::Location);
            if is_plain && std::mem::replace(&mut has_plain, true) {
                continue;
            }
            found.push(evidence);
        }
    }
    Ok(())
}

async fn newest(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    from: Timestamp,
    limit: u32,
) -> Result<Vec<StoredLocation>> {
    // Later ones were stored while the clock was ahead.
    let range = TimeRange { from, to: tx.now().plus_millis(AHEAD_MS) };
    let request = HistoryRequest { range, order: Order::Descending, after: None, limit };
    Ok(locations::read_part(tx, account, device, &request).await?.items)
}

/// How long locations of the devices of a plan usually take to arrive, in seconds: the median of the last ones.
pub(super) async fn usual_delay_s(tx: &Tx, plan: &Plan) -> Result<u32> {
    let mut delays = Vec::new();
    for device in &plan.settings.devices {
        let locations = newest(tx, plan.account, *device, Timestamp::MIN, DELAYS).await?;
        let delay = |stored: &StoredLocation| {
            (stored.received_at.as_millis() - stored.location.time.as_millis()).max(0) / 1_000
        };
        delays.extend(locations.iter().filter(|stored| !stored.trust.suspect).map(delay));
    }
    delays.sort_unstable();
    let median = delays.get(delays.len() / 2).copied().unwrap_or(0).min(DELAY_MAX_S);
    Ok(u32::try_from(median).unwrap_or(0))
}
