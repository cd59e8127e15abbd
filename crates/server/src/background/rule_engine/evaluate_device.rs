//! Evaluates the rules of one device on new locations.

use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{HistoryRequest, Order, StoredLocation, TimeRange};
use perigee_core::rules::rule::{Evaluation, Evaluator, RuleSet, Trail};
use perigee_core::store::{DeviceTrail, Result, RoundStart, Store, TrailDepth};
use perigee_core::time::Timestamp;

use super::evaluation::{RoundResult, Turns};

/// Locations of one read of a history.
const PART: u32 = 5_000;

/// How far the log is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpTo {
    /// Number of the last location.
    pub(super) number: i64,
    /// Whether the state of the device may be older than the cursor; the history has the locations since.
    pub(super) is_behind: bool,
}

/// Whether a rule evaluates the locations of a device, or did before it was changed.
pub(super) fn is_evaluated(set: &RuleSet, known: &DeviceTrail) -> bool {
    known.trail.current.as_ref().is_some_and(|current| !current.progresses.is_empty())
        || !set.location_rules_of(known.device, &known.groups).is_empty()
}

/// Evaluates a device's new locations; none if the device was deleted.
///
/// When one of them is older than the state, the history is read again from a checkpoint before it, up to the cursor:
/// locations after the cursor are evaluated in their own round.
pub(super) async fn evaluate(
    store: &dyn Store,
    round_start: &RoundStart,
    set: &RuleSet,
    mut device: DeviceTrail,
    mut new: Vec<StoredLocation>,
    upto: UpTo,
    turns: &mut Turns,
) -> RoundResult<Option<Evaluation>> {
    let rules = set.location_rules_of(device.device, &device.groups);
    let times: Vec<Timestamp> =
        new.iter().filter(|stored| !stored.trust.suspect).map(|stored| stored.location.time).collect();
    let is_late =
        device.trail.current.as_ref().is_some_and(|current| times.iter().any(|time| *time <= current.at));
    if is_late {
        let with_checkpoints =
            store.load_trails(round_start.account, &[device.device], TrailDepth::Checkpoints).await?;
        let Some(whole) = with_checkpoints.into_iter().next() else { return Ok(None) };
        device = DeviceTrail { trail: Trail { current: device.trail.current, ..whole.trail }, ..whole };
    }
    let is_known = device.trail.current.is_some();
    let mut start = device.trail.start(&rules, &times, round_start.now);
    if upto.is_behind && is_known {
        start.read_after = start.progresses.iter().map(|progress| progress.at).min();
        // Occurrences since then are compared with the history, because a late location may have removed them.
        start.late.fill(true);
    }
    if start.too_old > 0 {
        tracing::info!(device = %device.device, rules = start.too_old, "locations are older than the oldest checkpoint of some rules");
    }
    let read_after = start.read_after;
    let mut evaluator = Evaluator::new(rules, Arc::clone(set.fences()), start);
    if let Some(after) = read_after {
        let mut history = History::from(round_start, device.device, after.plus_millis(1));
        while let Some(mut part) = history.next(store).await? {
            part.retain(|stored| stored.number <= upto.number);
            evaluator = turns.advance(evaluator, part).await?;
        }
        new.clear();
    }
    new.sort_by_key(|stored| (stored.location.time, stored.number));
    Ok(Some(turns.finish(evaluator, new, round_start.now).await?))
}

/// A device's history from an instant on, read in parts.
pub(super) struct History {
    scope: Scope,
    device: DeviceId,
    request: Option<HistoryRequest>,
}

impl History {
    pub(super) const fn from(round_start: &RoundStart, device: DeviceId, from: Timestamp) -> Self {
        let range = TimeRange { from, to: Timestamp::MAX };
        let request = HistoryRequest { range, order: Order::Ascending, after: None, limit: PART };
        Self { scope: Scope::for_background_job(round_start.account), device, request: Some(request) }
    }

    /// The next part; none at the end.
    pub(super) async fn next(&mut self, store: &dyn Store) -> Result<Option<Vec<StoredLocation>>> {
        let Some(request) = self.request else { return Ok(None) };
        let part = store.list_locations(self.scope, self.device, request).await?;
        self.request = part.next.map(|next| HistoryRequest { after: Some(next), ..request });
        Ok(Some(part.items))
    }
}
