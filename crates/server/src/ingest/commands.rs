//! Commands on their way to devices that are connected here: which wait, how they are written, what was answered.

use std::net::SocketAddr;
use std::sync::{Arc, MutexGuard, PoisonError};

use perigee_core::access::actor::Scope;
use perigee_core::devices::command::{Command, CommandEnd, CommandKind};
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::{CommandId, DeviceId};
use perigee_core::locations::location::Milli;
use perigee_core::time::Monotonic;
use perigee_gateways::{Command as Order, Options, Protocol, Target, encode_command};
use tokio::sync::Notify;

use super::path::Ingest;

/// Devices with queued commands that one round looks at.
const WAITING_MAX: u32 = 10_000;
/// Commands that one round marks as expired.
const EXPIRED_MAX: u32 = 1_000;
/// Commands of a device that are looked at in one go.
const QUEUED_MAX: u32 = 10;
/// A location that is older tells nothing about the present speed, in milliseconds.
const RECENT_MS: i64 = 10 * 60 * 1000;

type Connected<'a> = MutexGuard<'a, std::collections::HashMap<DeviceId, Vec<Arc<Notify>>>>;

/// A connection of a device, which is woken when commands wait for it. Dropping it ends that.
pub struct Attachment {
    ingest: Arc<Ingest>,
    device: DeviceId,
    wake: Arc<Notify>,
}

impl std::fmt::Debug for Attachment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attachment").field("device", &self.device).finish_non_exhaustive()
    }
}

impl Attachment {
    /// The device that is connected.
    pub fn device(&self) -> DeviceId {
        self.device
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut connected = self.ingest.connected();
        if let Some(wakes) = connected.get_mut(&self.device) {
            wakes.retain(|wake| !Arc::ptr_eq(wake, &self.wake));
            if wakes.is_empty() {
                connected.remove(&self.device);
            }
        }
    }
}

/// How a connected device is spoken to.
#[derive(Clone, Copy, Debug)]
pub struct CommandTarget<'a> {
    /// The protocol of the connection.
    pub protocol: &'static Protocol,
    /// The model, as set or as told.
    pub model: Option<&'a str>,
    /// Settings of the device.
    pub options: &'a Options,
    /// Bytes that a command may have; longer ones stay queued.
    pub room: usize,
}

/// What there is to send to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextCommand {
    /// No command is queued that could be sent.
    Nothing,
    /// The next command is longer than there is room for.
    TooLong,
    /// This one, which is marked as sent.
    Command(Outgoing),
}

/// A command that is marked as sent and has to be written now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The command.
    pub id: CommandId,
    /// What to write.
    pub bytes: Vec<u8>,
}

impl Ingest {
    fn connected(&self) -> Connected<'_> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches a connection to its device. It is woken at once, to send what waits already.
    pub fn attach(self: &Arc<Self>, device: DeviceId, wake: Arc<Notify>) -> Attachment {
        wake.notify_one();
        self.connected().entry(device).or_default().push(Arc::clone(&wake));
        Attachment { ingest: Arc::clone(self), device, wake }
    }

    /// Wakes the connections of a device that are on this node.
    pub fn wake(&self, device: DeviceId) {
        for wake in self.connected().get(&device).into_iter().flatten() {
            wake.notify_one();
        }
    }

    /// Marks overdue commands as expired, and wakes connected devices for which commands wait: those given on another
    /// node too.
    pub async fn run_commands(&self) -> Result<(), StoreError> {
        for account in self.store.expire_commands(EXPIRED_MAX).await? {
            self.announce(account);
        }
        if self.connected().is_empty() {
            return Ok(());
        }
        for device in self.store.devices_with_commands(WAITING_MAX).await? {
            self.wake(device);
        }
        Ok(())
    }

    /// Marks the next command of a device as sent and gives it. Commands that cannot be written fail.
    pub async fn next_command(
        &self,
        reporter: &Reporter,
        target: CommandTarget<'_>,
    ) -> Result<NextCommand, StoreError> {
        for command in self.store.queued_commands(reporter, QUEUED_MAX).await? {
            let written = self.write(reporter, &command, target).await?;
            let account = reporter.scope.account;
            match written {
                Ok(bytes) if bytes.len() > target.room => return Ok(NextCommand::TooLong),
                Ok(bytes) => {
                    if self.store.mark_sent(reporter, command.id, target.protocol.name).await? {
                        self.announce(account);
                        return Ok(NextCommand::Command(Outgoing { id: command.id, bytes }));
                    }
                }
                Err(problem) => {
                    self.store.settle_command(reporter, command.id, CommandEnd::Failed(problem)).await?;
                    self.announce(account);
                }
            }
        }
        Ok(NextCommand::Nothing)
    }

    /// Notes the address of a device's latest datagram. Gives whether it came from elsewhere before.
    pub fn note_address(&self, device: DeviceId, address: SocketAddr) -> bool {
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other = addresses.get(&device).is_some_and(|before| *before != address);
        addresses.insert(device, address, |_| true);
        is_other
    }

    /// Whether the latest datagram of a device came from this address.
    pub fn is_latest_address(&self, device: DeviceId, address: SocketAddr) -> bool {
        let addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.get(&device) == Some(&address)
    }

    /// The monotonic time of the service's clock.
    pub fn monotonic(&self) -> Monotonic {
        self.clock.monotonic()
    }

    async fn write(
        &self,
        reporter: &Reporter,
        command: &Command,
        to: CommandTarget<'_>,
    ) -> Result<Result<Vec<u8>, String>, StoreError> {
        if command.kind == CommandKind::EngineStop
            && let Some(speed) = self.speed_above_limit(reporter.scope, reporter.device).await?
        {
            return Ok(Err(self.too_fast(speed)));
        }
        let order = Order {
            kind: command.kind.name().to_owned(),
            values: serde_json::from_str(&command.values).unwrap_or_default(),
        };
        let target = Target {
            identifier: &reporter.identifier,
            model: to.model,
            options: to.options,
            now: self.now(),
        };
        let problem = |error| format!("The command was not sent by {}: {error}.", to.protocol.name);
        Ok(encode_command(to.protocol, &order, &target).map_err(problem))
    }

    /// The speed of the device in km/h, if it is known and above the limit for stopping its engine.
    pub async fn speed_above_limit(&self, scope: Scope, device: DeviceId) -> Result<Option<f64>, StoreError> {
        let Some(last) = self.store.find_last_location(scope, device).await? else { return Ok(None) };
        let is_recent = last.location.time.as_millis() >= self.now().as_millis() - RECENT_MS;
        let speed = last.location.readings.speed.map(Milli::as_f64);
        Ok(speed.filter(|speed| is_recent && *speed > self.engine_stop_max_kmh))
    }

    /// Why an engine is not stopped at this speed.
    pub fn too_fast(&self, speed_kmh: f64) -> String {
        format!(
            "The device moves at {speed_kmh:.0} km/h. Engines are stopped only at up to {:.0} km/h. Send the command again when the device is slower.",
            self.engine_stop_max_kmh
        )
    }

    /// Puts a command back into the queue whose connection broke while it was written.
    pub async fn requeue(&self, reporter: &Reporter, id: CommandId) -> Result<(), StoreError> {
        self.store.settle_command(reporter, id, CommandEnd::Unsent).await?;
        self.announce(reporter.scope.account);
        Ok(())
    }

    /// Records what a device answered; false if no command waits for an answer.
    pub async fn note_answer(&self, reporter: &Reporter, answer: &str) -> Result<bool, StoreError> {
        let was_awaited = self.store.answer_command(reporter, answer).await?;
        if was_awaited {
            self.announce(reporter.scope.account);
        }
        Ok(was_awaited)
    }
}
