//! Fair reads: histories and lists are read part by part, and each part waits for the turn of its account.

use std::sync::Arc;

use super::error::ApiResult;
use crate::app::App;
use crate::budget::{Exhausted, Payer, Queue, Slot};

/// Lets the parts of one answer be read in turn with those of other accounts.
#[derive(Clone, Debug)]
pub struct ReadTurn {
    queue: Arc<Queue>,
    payer: Payer,
}

impl ReadTurn {
    /// The turns of the account that pays.
    pub fn of(app: &App, payer: Payer) -> Self {
        Self { queue: Arc::clone(&app.budget.reads), payer }
    }

    /// Waits to read the first part. Refused when the account has too many reads waiting.
    pub async fn first(&self) -> ApiResult<Slot> {
        Ok(self.queue.acquire(self.payer, 0).await?)
    }

    /// Waits to read the next part of an answer that has begun, and so can no longer be refused.
    pub async fn next(&self) -> Result<Slot, Exhausted> {
        self.queue.acquire_next(self.payer, 0).await
    }
}
