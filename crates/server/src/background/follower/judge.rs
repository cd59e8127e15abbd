//! What the rules say of one device after some more locations.

use perigee_core::actor::Scope;
use perigee_core::id::DeviceId;
use perigee_core::location::{HistoryRequest, Order, StoredLocation, TimeRange};
use perigee_core::rule::{Judge, Judgement, RuleSet, Trail};
use perigee_core::store::{Depth, Followed, FollowedDevice, Result, Store};
use perigee_core::time::Timestamp;

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
    let mut judge = Judge::new(rules, set.fences(), start);
    match read_after {
        None => {
            new.sort_by_key(|stored| (stored.location.time, stored.number));
            for stored in new {
                judge.see(stored);
            }
        }
        Some(after) => {
            let from = after.plus_millis(1);
            read(store, followed, device.device, from, |stored| {
                if stored.number <= upto.number {
                    judge.see(stored);
                }
            })
            .await?;
        }
    }
    Ok(Some(judge.finish(followed.now)))
}

/// Shows a device's history from an instant on.
pub(super) async fn read(
    store: &dyn Store,
    followed: &Followed,
    device: DeviceId,
    from: Timestamp,
    mut show: impl FnMut(StoredLocation),
) -> Result<()> {
    let range = TimeRange { from, to: Timestamp::MAX };
    let mut request = HistoryRequest { range, order: Order::Ascending, after: None, limit: PART };
    loop {
        let part = store.list_locations(Scope::whole(followed.account), device, request).await?;
        part.items.into_iter().for_each(&mut show);
        match part.next {
            Some(next) => request.after = Some(next),
            None => return Ok(()),
        }
    }
}
