//! Derives the timeline of one device from its history, beginning at the last anchor before its new locations.

use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::AccountId;
use perigee_core::locations::location::{HistoryRequest, Order, TimeRange};
use perigee_core::store::{DerivedTimeline, PendingTimeline, Result};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Anchor, Walk, WalkEnd, WalkPlan};

use crate::app::App;
use crate::budget::Payer;

/// Number of locations of one read of a history, and of one task in the queue for computations.
const PART: u32 = 5_000;
/// Number of locations after which a derivation ends at the next anchor. The rest is derived in another slice.
const LOCATIONS: usize = 50_000;

/// A derived part of a timeline.
pub(super) struct Derived {
    pub(super) timeline: DerivedTimeline,
    /// Number of locations that were read.
    pub(super) locations: usize,
}

/// Derives the timeline of a device; `None` if it was deleted.
pub(super) async fn derive(
    app: &App,
    account: AccountId,
    marked: PendingTimeline,
) -> Result<Option<Derived>> {
    let PendingTimeline { device, range, marks, resume, later, settings, edits } = marked;
    let from = resume.as_ref().map(Anchor::stop_from);
    let resumed_at = resume.as_ref().map(|anchor| anchor.at);
    let read = TimeRange { from: resumed_at.unwrap_or(Timestamp::MIN), to: Timestamp::MAX };
    let mut request = HistoryRequest { range: read, order: Order::Ascending, after: None, limit: PART };
    let plan = WalkPlan { resume, changed_to: Some(range.to), later, edits, limit: Some(LOCATIONS) };
    let mut walk = Walk::new(settings, plan);
    let (queue, payer) = (Arc::clone(&app.budget.rules), Payer::account(account));
    let lost = |error| StoreError::Internal(Box::new(error));
    let end = loop {
        let part = app.store.list_locations(Scope::for_background_job(account), device, request).await;
        let part = match part {
            Err(StoreError::NotFound(_)) => return Ok(None),
            part => part?,
        };
        let work = move || {
            let end = walk.pass(part.items);
            (walk, end)
        };
        let end;
        (walk, end) = queue.run(payer, 0, work).await.map_err(lost)?;
        match (end, part.next) {
            (Some(end), _) => break end,
            (None, Some(next)) => request.after = Some(next),
            (None, None) => break WalkEnd::Newest,
        }
    };
    let locations = walk.locations();
    let (segments, anchors) = queue.run(payer, 0, move || walk.finish(end)).await.map_err(lost)?;
    let anchors_after = resumed_at;
    let timeline = DerivedTimeline { device, marks, settings, from, anchors_after, end, segments, anchors };
    Ok(Some(Derived { timeline, locations }))
}
