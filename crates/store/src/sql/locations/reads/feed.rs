//! The location feed: locations in order of arrival, as a list and as events.

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::events::event::{Event, EventKind, EventObject};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Feed, StoredLocation};
use perigee_core::store::Result;

use crate::codec::Point;
use crate::sql::events::event_filter::Wanted;
use crate::sql::locations::log::trimmed_to;
use crate::sql::locations::row::unpack_or_note;
use crate::{Tx, params};

/// A part of the log: locations of wanted and visible devices.
pub(crate) struct FeedPart {
    pub(crate) points: Vec<(DeviceId, Point)>,
    /// The number up to which the log was read; `None` if there is no more of it.
    pub(crate) read_to: Option<i64>,
}

/// Refuses a cursor after which locations were trimmed.
pub(crate) async fn require_kept(tx: &Tx, account: AccountId, after: i64) -> Result<()> {
    if after > 0 && after < trimmed_to(tx, account).await? {
        return Err(StoreError::CursorExpired);
    }
    Ok(())
}

/// Locations of visible devices after this number.
pub(in crate::sql::locations) async fn list(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Feed> {
    require_kept(tx, scope.account, after).await?;
    let FeedPart { points, read_to } = tx.log().feed(tx, scope, None, after, count(limit)).await?;
    let next = match read_to {
        Some(read_to) => read_to,
        // The cursor also moves past rows that were trimmed or erased at the end of the log.
        None => end(tx, scope).await?.max(after),
    };
    let unpack = |(device, point): (DeviceId, Point)| {
        Some((device, unpack_or_note(tx, scope.account, device, &point)?))
    };
    Ok(Feed { items: points.into_iter().filter_map(unpack).collect(), next })
}

/// Locations of wanted devices as events, and the number up to which the log was read if there is more of it.
pub(crate) async fn events(
    tx: &Tx,
    scope: Scope,
    wanted: &Wanted<'_>,
    after: i64,
    limit: u32,
) -> Result<(Vec<Event>, Option<i64>)> {
    let part = tx.log().feed(tx, scope, Some(wanted), after, count(limit)).await?;
    let event = |(device, point): (DeviceId, Point)| {
        let stored = unpack_or_note(tx, scope.account, device, &point)?;
        Some(event_of(scope.account, device, stored))
    };
    Ok((part.points.into_iter().filter_map(event).collect(), part.read_to))
}

/// The highest number of the account's log up to the horizon, including rows that are trimmed.
pub(crate) async fn end(tx: &Tx, scope: Scope) -> Result<i64> {
    let sql = "SELECT MAX(last_number) AS last FROM location_log WHERE account_id = ?1 AND last_number <= ?2";
    let last = tx.query_one(sql, params![scope.account, tx.horizon()]).await?.opt_i64("last")?.unwrap_or(0);
    Ok(last.max(trimmed_to(tx, scope.account).await?))
}

fn count(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// The event of a location.
fn event_of(account: AccountId, device: DeviceId, stored: StoredLocation) -> Event {
    Event {
        number: stored.number,
        account,
        at: stored.received_at,
        kind: EventKind::LocationCreated,
        subject: device.to_string(),
        device: Some(device),
        data: serde_json::Value::Null,
        object: EventObject::Location(Box::new(stored)),
    }
}
