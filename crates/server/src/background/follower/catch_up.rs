//! Going on when the log was trimmed before it was judged: what it told is in the histories.

use std::collections::BTreeMap;

use perigee_core::actor::Scope;
use perigee_core::alert::Alert;
use perigee_core::device::DeviceFilter;
use perigee_core::id::DeviceId;
use perigee_core::page::PageRequest;
use perigee_core::rule::{Judge, LOOK_BACK_MS, RuleSet, carried_alerts};
use perigee_core::store::{Depth, DeviceRound, Followed, Result};
use perigee_core::time::Timestamp;

use super::judge::read;
use super::node::{Follower, Outcome};
use super::round::{blank, finished};

/// Devices looked at in one round.
const DEVICES: u32 = 100;

impl Follower {
    /// Judges every device of an account from its history, and goes on from the log's present end.
    ///
    /// What was judged before is judged again, which changes nothing: the same episodes are the same occurrences, and
    /// the same alerts are stored once.
    pub(super) async fn catch_up(&self, mut followed: Followed, set: &RuleSet) -> Result<Outcome> {
        let account = followed.account;
        tracing::warn!(%account, "the log was trimmed before rules had judged it; judging the histories instead");
        let scope = Scope::whole(account);
        let end = self.app.store.feed_end(scope).await?;
        let mut page = PageRequest::first(DEVICES);
        loop {
            let part = self.app.store.list_devices(scope, &DeviceFilter::default(), page).await?;
            let ids: Vec<DeviceId> = part.items.iter().map(|device| device.id).collect();
            let devices = self.judge_histories(&followed, set, &ids, end).await?;
            let cursor = if part.next.is_some() { followed.cursor } else { end };
            let round = finished(followed, cursor, set, devices, Vec::new());
            if !self.app.store.finish_round(round).await? {
                return Ok(Outcome::More);
            }
            followed.round += 1;
            match part.next {
                Some(next) => page.after = Some(next),
                None => return Ok(Outcome::More),
            }
        }
    }

    async fn judge_histories(
        &self,
        followed: &Followed,
        set: &RuleSet,
        ids: &[DeviceId],
        end: i64,
    ) -> Result<BTreeMap<DeviceId, DeviceRound>> {
        let mut devices = BTreeMap::new();
        let back = followed.now.plus_millis(-LOOK_BACK_MS);
        for known in self.app.store.load_followed(followed.account, ids, Depth::Checkpoints).await? {
            let device = known.device;
            let rules = set.rules_by_location(device, &known.groups);
            // As if the earliest location that can be judged had come late.
            let oldest = known.trail.checkpoints.first().map(|oldest| oldest.at.plus_millis(1));
            let start = known.trail.start(&rules, &[oldest.unwrap_or(back)]);
            let from = start.progresses.iter().map(|progress| progress.at).min().unwrap_or(back).min(back);
            let mut judge = Judge::new(rules, set.fences(), start);
            let mut carried: Vec<Alert> = Vec::new();
            read(&*self.app.store, followed, device, from.max(Timestamp::MIN), |stored| {
                if stored.number <= end {
                    carried.extend(carried_alerts(&stored.location));
                    judge.see(stored);
                }
            })
            .await?;
            let judgement = judge.finish(followed.now);
            let judged = !judgement.snapshot.progresses.is_empty();
            if judged || !carried.is_empty() {
                let judgement = judged.then_some(judgement);
                devices.insert(device, DeviceRound { carried, judgement, save: true, ..blank(device) });
            }
        }
        Ok(devices)
    }
}
