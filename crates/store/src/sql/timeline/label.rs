//! Labels of segments, set by users: name, purpose, note and driver.

use std::collections::BTreeMap;

use perigee_core::access::actor::Actor;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{DriverId, SegmentId};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::timeline::{SegmentKind, SegmentLabels, StoredSegment};
use serde_json::json;

use super::changes::event;
use super::row::{COLUMNS, REPLACE, values};
use super::{follow, read};
use crate::Tx;
use crate::sql::access::audit;
use crate::sql::events::event_append::append_events;
use crate::sql::query::insert_many;
use crate::sql::rules::trip_rules;
use crate::sql::{accounts, drivers};

/// Sets the labels of a segment, if its revision is still `seen`.
pub(super) async fn set(
    tx: &Tx,
    actor: Actor,
    id: SegmentId,
    seen: Revision,
    mut labels: SegmentLabels,
) -> Result<StoredSegment> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let found = read::find(tx, actor.scope, id).await?;
    let mut stored = found.ok_or(StoreError::NotFound(Kind::Segment))?;
    if stored.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Segment));
    }
    labels.driver_id = None;
    if labels.driver == stored.labels.driver {
        labels.driver_id = stored.labels.driver_id;
    } else if let Some(text) = &labels.driver {
        if let Some((driver, name)) = drivers::named(tx, account, text).await? {
            (labels.driver, labels.driver_id) = (Some(name), Some(driver));
        } else if text.parse::<DriverId>().is_ok() {
            return Err(StoreError::UnknownReference { kind: Kind::Driver, id: text.clone() });
        }
    }
    if stored.labels == labels {
        return Ok(stored);
    }
    let changed = labels.changes_since(&stored.labels).join(", ");
    stored.labels = labels;
    drivers::resolve(tx, account, stored.device, std::slice::from_mut(&mut stored)).await?;
    stored.revision = stored.revision.next();
    stored.updated_at = tx.now();
    stored.change = follow::take_changes(tx, account, 1).await?;
    let head = format!("INSERT INTO timeline_segment ({COLUMNS})");
    insert_many(tx, &head, &[values(&stored)], REPLACE).await?;
    if stored.segment.kind == SegmentKind::Trip {
        append_events(tx, account, EventKind::TripChanged, vec![event(&stored, &json!({}))]).await?;
        trip_rules::evaluate(tx, account, &BTreeMap::from([(stored.device, stored.segment.from)])).await?;
    }
    audit::record_with(tx, account, &actor.origin, "segment.update", Some(id.to_string()), Some(changed))
        .await?;
    Ok(stored)
}
