//! Commands to devices that are connected here: which ones wait, their encoding, and the answers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::access::actor::Scope;
use perigee_core::devices::command::{Command, CommandEnd, CommandKind};
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::{CommandId, DeviceId};
use perigee_core::locations::location::Milli;
use perigee_core::store::Store;
use perigee_core::time::Clock;
use perigee_gateways::{Command as Order, Options, Protocol, Target, encode_command};
use tokio::sync::Notify;

use crate::cache::BoundedMap;

/// Maximum number of devices with queued commands in one round.
const WAITING_MAX: u32 = 10_000;
/// Maximum number of commands that one round marks as expired.
const EXPIRED_MAX: u32 = 1_000;
/// Maximum number of commands of a device that are read at a time.
const QUEUED_MAX: u32 = 10;
/// Maximum number of devices whose address is cached.
const ADDRESSES_MAX: usize = 20_000;
/// Maximum age of a location that shows the current speed, in milliseconds.
const RECENT_MS: i64 = 10 * 60 * 1000;

/// A connection of a device, which is woken when commands wait for it. Dropping it detaches the connection.
pub struct Attachment {
    commands: Arc<DeviceCommands>,
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
        let mut connected = self.commands.connected.lock();
        if let Some(wakes) = connected.get_mut(&self.device) {
            wakes.retain(|wake| !Arc::ptr_eq(wake, &self.wake));
            if wakes.is_empty() {
                connected.remove(&self.device);
            }
        }
    }
}

/// The parameters of the connection to a device.
#[derive(Clone, Copy, Debug)]
pub struct CommandTarget<'a> {
    /// The protocol of the connection.
    pub protocol: &'static Protocol,
    /// The model, as set or as reported.
    pub model: Option<&'a str>,
    /// Settings of the device.
    pub options: &'a Options,
    /// Maximum size of a command, in bytes; longer ones stay queued.
    pub room: usize,
}

/// Commands to send to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextCommand {
    /// No queued command can be sent.
    Nothing,
    /// The next command is longer than the available room.
    TooLong,
    /// This command, which is marked as sent.
    Command(Outgoing),
}

/// A command that is marked as sent and must be written now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The command, to record its result.
    pub id: CommandId,
    /// The bytes to write.
    pub bytes: Vec<u8>,
}

/// Commands to the devices that are connected to this node.
pub struct DeviceCommands {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// Maximum speed at which engines may be stopped, in km/h.
    engine_stop_max_kmh: f64,
    connected: Mutex<HashMap<DeviceId, Vec<Arc<Notify>>>>,
    /// The address of each device's latest datagram.
    addresses: Mutex<BoundedMap<DeviceId, SocketAddr>>,
}

impl DeviceCommands {
    pub(super) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, engine_stop_max_kmh: f64) -> Self {
        Self {
            store,
            clock,
            engine_stop_max_kmh,
            connected: Mutex::default(),
            addresses: Mutex::new(BoundedMap::new(ADDRESSES_MAX)),
        }
    }

    /// Attaches a connection to its device. It is woken immediately, to send waiting commands.
    pub fn attach(self: &Arc<Self>, device: DeviceId, wake: Arc<Notify>) -> Attachment {
        wake.notify_one();
        self.connected.lock().entry(device).or_default().push(Arc::clone(&wake));
        Attachment { commands: Arc::clone(self), device, wake }
    }

    /// Wakes the connections of a device that are on this node.
    pub fn wake(&self, device: DeviceId) {
        for wake in self.connected.lock().get(&device).into_iter().flatten() {
            wake.notify_one();
        }
    }

    /// Marks overdue commands as expired, and wakes connected devices with waiting commands, including commands from
    /// another node.
    pub async fn run(&self) -> Result<(), StoreError> {
        self.store.expire_commands(EXPIRED_MAX).await?;
        if self.connected.lock().is_empty() {
            return Ok(());
        }
        for device in self.store.devices_with_commands(WAITING_MAX).await? {
            self.wake(device);
        }
        Ok(())
    }

    /// Marks the next command of a device as sent and returns it. Commands that cannot be encoded fail.
    pub async fn next(
        &self,
        reporter: &Reporter,
        target: CommandTarget<'_>,
    ) -> Result<NextCommand, StoreError> {
        for command in self.store.queued_commands(reporter, QUEUED_MAX).await? {
            let written = self.write(reporter, &command, target).await?;
            match written {
                Ok(bytes) if bytes.len() > target.room => return Ok(NextCommand::TooLong),
                Ok(bytes) => {
                    if self.store.mark_sent(reporter, command.id, target.protocol.name).await? {
                        return Ok(NextCommand::Command(Outgoing { id: command.id, bytes }));
                    }
                }
                Err(problem) => {
                    self.store.settle_command(reporter, command.id, CommandEnd::Failed(problem)).await?;
                }
            }
        }
        Ok(NextCommand::Nothing)
    }

    /// Records the address of a device's latest datagram. Returns whether the previous one came from another address.
    pub fn note_address(&self, device: DeviceId, address: SocketAddr) -> bool {
        let mut addresses = self.addresses.lock();
        let is_other = addresses.get(&device).is_some_and(|before| *before != address);
        addresses.insert(device, address, |_| true);
        is_other
    }

    /// Whether the latest datagram of a device came from this address.
    pub fn is_latest_address(&self, device: DeviceId, address: SocketAddr) -> bool {
        let addresses = self.addresses.lock();
        addresses.get(&device) == Some(&address)
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
            now: self.clock.now(),
        };
        let problem = |error| format!("The command was not sent by {}: {error}.", to.protocol.name);
        Ok(encode_command(to.protocol, &order, &target).map_err(problem))
    }

    /// The speed of the device in km/h, if it is known and above the limit for stopping its engine.
    pub async fn speed_above_limit(&self, scope: Scope, device: DeviceId) -> Result<Option<f64>, StoreError> {
        let Some(last) = self.store.find_last_location(scope, device).await? else { return Ok(None) };
        let is_recent = last.location.time.as_millis() >= self.clock.now().as_millis() - RECENT_MS;
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

    /// Puts a command back into the queue after its connection broke while it was written.
    pub async fn requeue(&self, reporter: &Reporter, id: CommandId) -> Result<(), StoreError> {
        self.store.settle_command(reporter, id, CommandEnd::Unsent).await
    }

    /// Records the answer of a device; false if no command waits for an answer.
    pub async fn note_answer(&self, reporter: &Reporter, answer: &str) -> Result<bool, StoreError> {
        self.store.answer_command(reporter, answer).await
    }
}
