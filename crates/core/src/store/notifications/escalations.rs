//! Escalations of critical alerts that nobody acknowledges.

use async_trait::async_trait;

use crate::id::{AccountId, AlertId};
use crate::store::Result;
use crate::time::Timestamp;

/// A step of an escalation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DueStep {
    /// The account of the alert.
    pub account: AccountId,
    /// The alert that nobody has acknowledged.
    pub alert: AlertId,
    /// Which of the alert's escalations, from 0.
    pub plan: i64,
}

/// Methods of the store for the escalation job, on all nodes.
#[async_trait]
pub trait Escalations: Send + Sync {
    /// Lists steps that are due, the oldest first. Several nodes may get the same step; only one takes it.
    async fn due_steps(&self, limit: u32) -> Result<Vec<DueStep>>;

    /// Takes a step: writes its messages and sets when the next one is due, in one transaction. Returns false if it is
    /// no longer due, because another node took it or somebody acknowledged the alert.
    async fn take_step(&self, step: DueStep) -> Result<bool>;

    /// When the next step is due.
    async fn next_step_due(&self) -> Result<Option<Timestamp>>;
}
