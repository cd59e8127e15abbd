//! One slice of an account: reads a part of its log, and derives some of the marked devices.

use std::collections::BTreeMap;

use metrics::counter;
use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::{CatchUp, LogScan, LogScanLimits, Result, TimelineMarks, TimelineRound};
use perigee_core::time::Timestamp;
use perigee_core::timeline::WalkEnd;

use super::derive::derive;
use super::engine::{Outcome, TimelineEngine};

/// The part of the log that one slice reads. Alerts in it do not matter.
const LIMITS: LogScanLimits = LogScanLimits { locations: 20_000, devices: 1_000, carriers: usize::MAX };
/// Maximum number of existing devices that one slice marks.
const DEVICES: u32 = 500;
/// Maximum number of marked devices of a slice, and number of locations after which it ends.
const MARKED: u32 = 50;
const LOCATIONS: usize = 50_000;
/// Segments of a slice whose drivers are found again.
const SEGMENTS: u32 = 2_000;

impl TimelineEngine {
    pub(super) async fn round(&self, account: AccountId) -> Result<Outcome> {
        let store = &self.app.store;
        let Some(round) = store.lease_timelines(account, self.lease()).await? else {
            return Ok(Outcome::Nothing);
        };
        if round.catch_up.is_some() {
            return self.mark_existing(round).await;
        }
        let part = match store.scan_log(account, round.cursor, LIMITS).await {
            Err(StoreError::CursorExpired) => {
                tracing::warn!(%account, "the log was trimmed before timelines were derived; deriving from the histories instead");
                return self.mark_existing(round).await;
            }
            part => part?,
        };
        let Some(round) = self.mark(round, &part).await? else { return Ok(Outcome::Nothing) };
        let outcome = self.derive_marked(round).await?;
        let resolved = store.resolve_drivers(account, SEGMENTS).await?;
        Ok(match outcome {
            _ if resolved == Some(true) => Outcome::More,
            Outcome::Nothing | Outcome::Done if part.more => Outcome::More,
            Outcome::Nothing if resolved.is_some() => Outcome::Done,
            Outcome::Nothing if part.count > 0 => Outcome::Done,
            outcome => outcome,
        })
    }

    /// Marks the devices of a part of the log. Returns the next round, or `None` if another node committed this one first.
    async fn mark(&self, round: TimelineRound, part: &LogScan) -> Result<Option<TimelineRound>> {
        if part.next == round.cursor {
            return Ok(Some(round));
        }
        let span = (round.cursor, part.next);
        let mut ranges: BTreeMap<DeviceId, TimeRange> = BTreeMap::new();
        if !part.devices.is_empty() {
            for (device, stored) in self.app.store.read_log(round.account, span, &part.devices).await? {
                let time = stored.location.time;
                let range = ranges.entry(device).or_insert(TimeRange { from: time, to: time });
                (range.from, range.to) = (range.from.min(time), range.to.max(time));
            }
        }
        counter!("perigee_timeline_locations_total").increment(u64::try_from(part.count).unwrap_or(0));
        let devices = ranges.into_iter().collect();
        let marks = TimelineMarks { round, cursor: part.next, catch_up: None, devices, quiet: false };
        let done = self.app.store.mark_timelines(marks, self.lease()).await?;
        Ok(done.then_some(TimelineRound { cursor: part.next, round: round.round + 1, ..round }))
    }

    /// Marks the next devices of an account with their whole histories. After the last device, the log is read from where it
    /// ended when this began. No events are written, because the locations were stored before.
    async fn mark_existing(&self, round: TimelineRound) -> Result<Outcome> {
        let store = &self.app.store;
        let progress = round.catch_up.filter(|progress| progress.end > 0);
        let end = match progress {
            Some(progress) => progress.end,
            None => store.feed_end(Scope::for_background_job(round.account)).await?,
        };
        let after = progress.map(|progress| progress.after);
        let ids = store.list_device_ids(round.account, after, DEVICES).await?;
        let is_last = ids.len() < usize::try_from(DEVICES).unwrap_or(usize::MAX);
        let catch_up = ids.last().filter(|_| !is_last).map(|after| CatchUp { after: *after, end });
        let cursor = if catch_up.is_some() { round.cursor } else { end };
        let whole = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };
        let devices = ids.into_iter().map(|device| (device, whole)).collect();
        let marks = TimelineMarks { round, cursor, catch_up, devices, quiet: true };
        store.mark_timelines(marks, self.lease()).await?;
        Ok(Outcome::More)
    }

    /// Derives some of the marked devices and saves them together.
    async fn derive_marked(&self, round: TimelineRound) -> Result<Outcome> {
        let (account, store) = (round.account, &self.app.store);
        let after = self.positions.lock().remove(&account);
        let marked = store.pending_timelines(account, after, MARKED).await?;
        let mut is_last = marked.len() < usize::try_from(MARKED).unwrap_or(usize::MAX);
        let (mut derived, mut locations, mut is_part, mut last) = (Vec::new(), 0, false, None);
        for one in marked {
            if locations >= LOCATIONS {
                is_last = false;
                break;
            }
            last = Some(one.device);
            if let Some(done) = derive(&self.app, account, one).await? {
                locations += done.locations;
                is_part |= matches!(done.timeline.end, WalkEnd::Part(..));
                derived.push(done.timeline);
            }
        }
        if let Some(last) = last.filter(|_| !is_last) {
            self.positions.lock().insert(account, last, |_| true);
        }
        let more = !is_last || is_part || after.is_some();
        if derived.is_empty() {
            return Ok(if more { Outcome::More } else { Outcome::Nothing });
        }
        let result = store.save_timelines(round, derived, self.lease()).await?;
        Ok(match result.saved {
            true if more => Outcome::More,
            true => Outcome::Done,
            false => Outcome::Nothing,
        })
    }
}
