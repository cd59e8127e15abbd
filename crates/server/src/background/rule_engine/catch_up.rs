//! Catches up from the histories if the log was trimmed before it was evaluated.

use std::collections::BTreeMap;
use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::alerts::alert::Alert;
use perigee_core::id::DeviceId;
use perigee_core::rules::rule::{Evaluator, LOOK_BACK_MS, RuleSet, carried_alerts};
use perigee_core::store::{CatchUp, DeviceRound, Round, RoundStart, TrailDepth};
use perigee_core::time::Timestamp;

use super::engine::{Outcome, RuleEngine};
use super::evaluate_device::History;
use super::evaluation::{RoundResult, STEPS_MAX, Turns};
use super::round::{blank, finished};

/// Devices of one slice, and the number of locations after which the slice ends so that other accounts have their turn;
/// it also ends after [`STEPS_MAX`].
const DEVICES: u32 = 100;
const LOCATIONS: usize = 10_000;

impl RuleEngine {
    /// Evaluates the histories of the next devices of an account. After the last device the cursor is set to where the
    /// log ended when catching up began.
    ///
    /// Locations that were evaluated before are evaluated again without effect: occurrences are identified by their
    /// episode, and an alert is stored once. Progress is stored, so that any node can continue.
    pub(super) async fn catch_up(&self, round_start: RoundStart, set: &RuleSet) -> RoundResult<Outcome> {
        let account = round_start.account;
        let end = if let Some(progress) = round_start.catch_up {
            progress.end
        } else {
            tracing::warn!(%account, "the log was trimmed before rules were evaluated; evaluating the histories instead");
            self.app.store.feed_end(Scope::for_background_job(account)).await?
        };
        let after = round_start.catch_up.map(|progress| progress.after);
        let mut ids = self.app.store.list_device_ids(account, after, DEVICES).await?;
        let is_last = ids.len() < usize::try_from(DEVICES).unwrap_or(usize::MAX);
        let (devices, looked_at) = self.evaluate_histories(&round_start, set, &ids, end).await?;
        let is_done = is_last && looked_at == ids.len();
        ids.truncate(looked_at);
        let progress = ids.last().filter(|_| !is_done).map(|after| CatchUp { after: *after, end });
        let cursor = if progress.is_some() { round_start.cursor } else { end };
        let round = Round { catch_up: progress, ..finished(round_start, cursor, set, devices, Vec::new()) };
        self.app.store.finish_round(round, self.lease()).await?;
        Ok(Outcome::More)
    }

    /// The results of as many of these devices as a slice may have, and how many devices were evaluated.
    async fn evaluate_histories(
        &self,
        round_start: &RoundStart,
        set: &RuleSet,
        ids: &[DeviceId],
        end: i64,
    ) -> RoundResult<(BTreeMap<DeviceId, DeviceRound>, usize)> {
        let mut devices = BTreeMap::new();
        let (mut looked_at, mut locations) = (0, 0);
        let mut turns = Turns::new(&self.app.budget, round_start.account, u64::MAX);
        let back = round_start.now.plus_millis(-LOOK_BACK_MS);
        for known in self.app.store.load_trails(round_start.account, ids, TrailDepth::Checkpoints).await? {
            let device = known.device;
            if locations >= LOCATIONS || turns.used() >= STEPS_MAX {
                return Ok((devices, looked_at));
            }
            looked_at = ids.partition_point(|id| *id <= device);
            let rules = set.location_rules_of(device, &known.groups);
            // Starts each rule as if the earliest location it can evaluate had arrived late.
            let oldest = known.trail.checkpoints.first().map_or(back, |oldest| oldest.at.plus_millis(1));
            let times: Vec<Timestamp> = rules.iter().map(|rule| rule.since.max(oldest)).collect();
            let start = known.trail.start(&rules, &times, round_start.now);
            let from = start.progresses.iter().map(|progress| progress.at).min().unwrap_or(back).min(back);
            let mut evaluator = Evaluator::new(rules, Arc::clone(set.fences()), start);
            let mut carried: Vec<Alert> = Vec::new();
            let mut history = History::from(round_start, device, from.max(Timestamp::MIN));
            while let Some(mut part) = history.next(&*self.app.store).await? {
                locations += part.len();
                part.retain(|stored| stored.number <= end);
                carried.extend(part.iter().flat_map(|stored| carried_alerts(&stored.location)));
                evaluator = turns.advance(evaluator, part).await?;
            }
            let evaluation = turns.finish(evaluator, Vec::new(), round_start.now).await?;
            let evaluated = !evaluation.snapshot.progresses.is_empty();
            if evaluated || !carried.is_empty() {
                let evaluation = evaluated.then_some(evaluation);
                devices.insert(device, DeviceRound { carried, evaluation, save: true, ..blank(device) });
            }
        }
        Ok((devices, ids.len()))
    }
}
