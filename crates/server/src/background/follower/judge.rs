//! What the rules say of one device after some more locations.

use std::sync::Arc;

use perigee_core::actor::Scope;
use perigee_core::id::DeviceId;
use perigee_core::location::{HistoryRequest, Order, StoredLocation, TimeRange};
use perigee_core::rule::{Judge, Judgement, RuleSet, Trail};
use perigee_core::store::{Depth, Followed, FollowedDevice, Result, Store};
use perigee_core::time::Timestamp;

use crate::judging;

/// Locations of a history read at a time.
const PART: u32 = 5_000;

/// How far the log is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpTo {
    /// Up to this number.
    pub(super) number: i64,
    /// What is known of the device may be of some time ago: the history has what came since.
    pub(super) is_behind: bool,
}

/// Whether a rule judges a device by its locations, or did.
pub(super) fn is_judged(set: &RuleSet, known: &FollowedDevice) -> bool {
    known.trail.current.as_ref().is_some_and(|current| !current.progresses.is_empty())
        || !set.rules_by_location(known.device, &known.groups).is_empty()
}

/// Judges a device's new locations; none when it is gone.
///
/// When one of them is older than what is known, the history is read from a checkpoint before it, as far as the log was
/// judged: what is in the log after that is judged in its turn.
pub(super) async fn judge(
    store: &dyn Store,
    followed: &Followed,
    set: &RuleSet,
    mut device: FollowedDevice,
    mut new: Vec<StoredLocation>,
    upto: UpTo,
) -> Result<Option<Judgement>> {
    let rules = set.rules_by_location(device.device, &device.groups);
    let times: Vec<Timestamp> =
        new.iter().filter(|stored| !stored.trust.suspect).map(|stored| stored.location.time).collect();
    let is_late =
        device.trail.current.as_ref().is_some_and(|current| times.iter().any(|time| *time <= current.at));
    if is_late {
        let with_checkpoints =
            store.load_followed(followed.account, &[device.device], Depth::Checkpoints).await?;
        let Some(whole) = with_checkpoints.into_iter().next() else { return Ok(None) };
        device = FollowedDevice { trail: Trail { current: device.trail.current, ..whole.trail }, ..whole };
    }
    let is_known = device.trail.current.is_some();
    let mut start = device.trail.start(&rules, &times, followed.now);
    if upto.is_behind && is_known {
        start.read_after = start.progresses.iter().map(|progress| progress.at).min();
        // What was raised since then is held against what the history says now: a late location may have undone it.
        start.late.fill(true);
    }
    if start.too_old > 0 {
        tracing::info!(device = %device.device, rules = start.too_old, "locations too old for rules to look back to");
    }
    let read_after = start.read_after;
    let mut judge = Judge::new(rules, Arc::clone(set.fences()), start);
    if let Some(after) = read_after {
        let mut history = History::from(followed, device.device, after.plus_millis(1));
        while let Some(mut part) = history.next(store).await? {
            part.retain(|stored| stored.number <= upto.number);
            judge = judging::see(judge, part).await?;
        }
        new.clear();
    }
    new.sort_by_key(|stored| (stored.location.time, stored.number));
    Ok(Some(judging::finish(judge, new, followed.now).await?))
}

/// A device's history from an instant on, read a part at a time.
pub(super) struct History {
    scope: Scope,
    device: DeviceId,
    request: Option<HistoryRequest>,
}

impl History {
    pub(super) const fn from(followed: &Followed, device: DeviceId, from: Timestamp) -> Self {
        let range = TimeRange { from, to: Timestamp::MAX };
        let request = HistoryRequest { range, order: Order::Ascending, after: None, limit: PART };
        Self { scope: Scope::whole(followed.account), device, request: Some(request) }
    }

    /// The next part; none at the end.
    pub(super) async fn next(&mut self, store: &dyn Store) -> Result<Option<Vec<StoredLocation>>> {
        let Some(request) = self.request else { return Ok(None) };
        let part = store.list_locations(self.scope, self.device, request).await?;
        self.request = part.next.map(|next| HistoryRequest { after: Some(next), ..request });
        Ok(Some(part.items))
    }
}
