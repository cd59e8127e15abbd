//! Commands to devices.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::devices::command::{Command, CommandEnd, CommandFilter, NewCommand};
use crate::gateways::gateway::Reporter;
use crate::id::{AccountId, CommandId, DeviceId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};

/// The queue of commands, and their results. Every change of a state is an event.
#[async_trait]
pub trait Commands: Send + Sync {
    /// Queues a command. Refused if [`Command::QUEUED_MAX`] of the device are queued. The newest
    /// [`Command::KEPT_MAX`] commands of the device are kept.
    async fn create_command(
        &self,
        actor: &Actor,
        device: DeviceId,
        new: NewCommand,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Command>>;

    /// Lists commands to devices in the scope, newest first.
    async fn list_commands(
        &self,
        scope: Scope,
        filter: CommandFilter,
        page: PageRequest,
    ) -> Result<Page<Command>>;

    /// Finds a command to a device in the scope.
    async fn find_command(&self, scope: Scope, id: CommandId) -> Result<Option<Command>>;

    /// Takes a command out of the queue, so that it fails. Refused with `NotQueued` if it is not queued.
    async fn cancel_command(&self, actor: &Actor, id: CommandId) -> Result<Command>;

    /// The commands that wait for this device and whose deadline has not passed, oldest first.
    async fn queued_commands(&self, reporter: &Reporter, limit: u32) -> Result<Vec<Command>>;

    /// Marks a queued command as sent, before it is written. False if it is no longer queued, for example because
    /// another connection of the device took it.
    async fn mark_sent(&self, reporter: &Reporter, id: CommandId, protocol: &'static str) -> Result<bool>;

    /// Records the result of a command that was taken out of the queue.
    async fn settle_command(&self, reporter: &Reporter, id: CommandId, end: CommandEnd) -> Result<()>;

    /// Records an answer of the device for its oldest command that was sent within [`Command::ANSWER_WITHIN_MS`] and is
    /// not answered. False if there is none.
    async fn answer_command(&self, reporter: &Reporter, answer: &str) -> Result<bool>;

    /// Up to `limit` devices for which commands wait.
    async fn devices_with_commands(&self, limit: u32) -> Result<Vec<DeviceId>>;

    /// Marks up to `limit` queued commands whose deadline has passed as expired, and returns their accounts.
    async fn expire_commands(&self, limit: u32) -> Result<Vec<AccountId>>;
}
