//! Evaluates rules outside the threads that serve connections, in turns of about 50 ms. Between two turns of an
//! account, other accounts have theirs.

use std::sync::Arc;
use std::vec::IntoIter;

use perigee_core::error::StoreError;
use perigee_core::id::AccountId;
use perigee_core::locations::location::StoredLocation;
use perigee_core::rules::rule::{Evaluation, Evaluator, Rule, RuleFences};
use perigee_core::time::Timestamp;

use crate::budget::{Budget, OutOfSteps, Payer, Queue, Steps};

/// An evaluator that can be moved to another thread.
pub(super) type SharedEvaluator = Evaluator<Arc<Rule>, Arc<RuleFences>>;

/// CPU steps of work that runs on the caller's thread, because queueing it would take longer: some tens of
/// microseconds.
const INLINE_STEPS: u64 = 20_000;
/// CPU steps of one turn: about 50 ms. Then it is the turn of other accounts.
const TURN_STEPS: u64 = 10_000_000;

/// CPU steps of a round at most, unless its slice is the smallest: about a second.
pub(super) const STEPS_MAX: u64 = 200_000_000;

/// Why a round was not finished.
#[derive(Debug, thiserror::Error)]
pub(super) enum RoundError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The slice costs too much for one round.
    #[error(transparent)]
    OutOfSteps(#[from] OutOfSteps),
}

/// The result of a part of a round.
pub(super) type RoundResult<T> = Result<T, RoundError>;

/// The turns of one account in one round of the rule engine. A turn is one piece of work in the queue for rules.
pub(super) struct Turns {
    queue: Arc<Queue>,
    payer: Payer,
    steps: Steps,
    used: u64,
    taken: usize,
}

impl Turns {
    /// Turns that may together use this many CPU steps; further work fails with [`RoundError::OutOfSteps`].
    pub(super) fn new(budget: &Budget, account: AccountId, steps: u64) -> Self {
        let (queue, payer) = (Arc::clone(&budget.rules), Payer::account(account));
        Self { queue, payer, steps: Steps::new(steps), used: 0, taken: 0 }
    }

    /// CPU steps used so far.
    pub(super) const fn used(&self) -> u64 {
        self.used
    }

    /// Turns taken so far, besides work on the caller's thread.
    pub(super) const fn taken(&self) -> usize {
        self.taken
    }

    /// Evaluates locations, in order of time.
    pub(super) async fn advance(
        &mut self,
        evaluator: SharedEvaluator,
        part: Vec<StoredLocation>,
    ) -> RoundResult<SharedEvaluator> {
        self.run(evaluator, part, Evaluator::advance).await
    }

    /// Evaluates the last locations and returns the result.
    pub(super) async fn finish(
        &mut self,
        evaluator: SharedEvaluator,
        part: Vec<StoredLocation>,
        now: Timestamp,
    ) -> RoundResult<Evaluation> {
        Ok(self.run(evaluator, part, Evaluator::advance_to_end).await?.finish(now))
    }

    async fn run(
        &mut self,
        mut evaluator: SharedEvaluator,
        part: Vec<StoredLocation>,
        advance: fn(&mut SharedEvaluator, &mut IntoIter<StoredLocation>, u64) -> u64,
    ) -> RoundResult<SharedEvaluator> {
        let is_cheap = evaluator.excess_max(part.len()) <= INLINE_STEPS;
        let mut part = part.into_iter();
        if is_cheap {
            let used = advance(&mut evaluator, &mut part, INLINE_STEPS);
            self.charge(used)?;
            if used < INLINE_STEPS {
                return Ok(evaluator);
            }
        }
        loop {
            let turn = move || {
                let used = advance(&mut evaluator, &mut part, TURN_STEPS);
                (evaluator, part, used)
            };
            let internal = |error| StoreError::Internal(Box::new(error));
            let used;
            (evaluator, part, used) = self.queue.run(self.payer, 0, turn).await.map_err(internal)?;
            self.taken += 1;
            self.charge(used)?;
            if used < TURN_STEPS {
                return Ok(evaluator);
            }
        }
    }

    fn charge(&mut self, used: u64) -> Result<(), OutOfSteps> {
        self.used = self.used.saturating_add(used);
        self.steps.charge(used)
    }
}

#[cfg(test)]
mod tests;
