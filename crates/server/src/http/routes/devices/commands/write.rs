//! Creating and cancelling commands.

use perigee_core::devices::command::{CommandKind, NewCommand};
use perigee_core::devices::device::{Device, DeviceRef};
use perigee_core::gateways::claim::ClaimState;
use perigee_core::id::CommandId;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use perigee_gateways::{
    Command as GatewayCommand, EncodeError, encode_command, find_protocol, supported_commands,
};

use super::input::{CommandInput, SendCommandInput, read_command, read_sent_command};
use super::read::{find, settings_of, target};
use super::view::CommandView;
use crate::config::ClaimRule;
use crate::http::prelude::*;
use crate::http::routes::devices::find_device;

/// Refuses a command that the protocol of the device does not support, or cannot encode with these values.
fn check_protocol(app: &App, device: &Device, new: &NewCommand) -> ApiResult<()> {
    let Some(name) = device.protocol.as_deref() else { return Ok(()) };
    let refuse = |member: &str, detail: String| {
        Err(invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail }]))
    };
    let Some(protocol) = find_protocol(name) else {
        return refuse("type", format!("The device reports with {name}, which supports no commands."));
    };
    let settings = settings_of(app, device, protocol);
    let target = target(device, &settings, device.creation);
    let command = GatewayCommand {
        kind: new.kind.name().to_owned(),
        values: serde_json::from_str(&new.values).unwrap_or_default(),
    };
    match encode_command(protocol, &command, &target) {
        Ok(_) => Ok(()),
        Err(EncodeError::Unsupported) => {
            let names: Vec<&str> =
                supported_commands(protocol, &target).into_iter().map(CommandKind::name).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            refuse(
                "type",
                format!("Devices that use {name} do not support this command. They support: {known}."),
            )
        }
        Err(problem) => refuse("values", format!("The command cannot be encoded for {name}: {problem}.")),
    }
}

/// Refuses to stop the engine of a device whose identifiers may belong to another account.
async fn require_proven_claim(app: &App, caller: &Caller, device: &Device) -> ApiResult<()> {
    if app.config.gateways.claims == ClaimRule::First {
        return Ok(());
    }
    let claims = app.store.list_claims(caller.scope(), device.id).await?;
    if claims.is_empty() || claims.iter().any(|claim| claim.state == ClaimState::Proven) {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::ClaimUnproven,
        "The engine cannot be stopped, because no identifier of the device is proven to belong to the account. Prove one with \
         POST /api/devices/{deviceId}/claims, or ask an operator of the server to confirm it.",
    ))
}

/// Queues a command, and wakes the device's connection.
async fn queue(
    app: &App,
    caller: &Caller,
    once: Once,
    device: Option<&DeviceRef>,
    body: &JsonBody,
    read: fn(&Value, &Zone, Timestamp) -> ApiResult<NewCommand>,
) -> ApiReply<CommandView> {
    let device = find_device(app, caller, device).await?;
    caller.require(Privilege::CommandsSend)?;
    let new = read(&body.value, caller.zone(), caller.now())?;
    check_protocol(app, &device, &new)?;
    if new.kind == CommandKind::EngineStop {
        require_proven_claim(app, caller, &device).await?;
    }
    if new.kind == CommandKind::EngineStop
        && let Some(speed) = app.ingest.commands.speed_above_limit(caller.scope(), device.id).await?
    {
        return Err(ApiError::new(ErrorCode::DeviceMoving, app.ingest.commands.too_fast(speed)));
    }
    let held = once.hold(app, caller, body)?;
    let made = app.store.create_command(&caller.actor(), device.id, new, held.key.clone()).await?;
    let command = made.into_inner();
    app.ingest.commands.wake(device.id);
    let address = app.base_url.join(&format!("/api/commands/{}", command.id));
    Ok(caller.reply(CommandView::from(command)).created(address))
}

/// Send a command to a device
///
/// Queues a command. It is sent immediately if the device is connected by TCP, and otherwise as soon as it connects.
/// Sends the event `command.queued`, and later `command.sent`, `command.answered`, `command.failed` or `command.expired`
/// when the state of the command changes. At most 100 commands may be queued for a device. Requires the privilege
/// `commands.send`.
///
/// A command that the protocol of the device does not support is refused. The command `engineStop` is refused with
/// `device-moving` while the device moves faster than the server allows, and with `claim-unproven` before an identifier
/// of the device is proven to belong to the account.
#[utoipa::path(post, path = "/api/devices/{deviceId}/commands", tag = "commands",
    request_body(content = CommandInput, example = json!({"type": "positionPeriodic", "values": {"frequency": 60}})),
    responses((status = 201, description = "The command was queued.", body = CommandView)))]
pub async fn create_command(
    Call(app, caller): Call,
    once: Once,
    DevicePath(device): DevicePath,
    body: JsonBody,
) -> ApiReply<CommandView> {
    queue(&app, &caller, once, device.as_ref(), &body, read_command).await
}

/// Send a command to a device by type or text
///
/// Does the same as `POST /api/devices/{deviceId}/commands`, for clients of the original API. In addition,
/// `{"command": "text"}` sends a custom command with this text, and with `"format": "hex"` the bytes that the text has
/// in hexadecimal digits. `sms` must be `false`: commands are sent over the connection of the device. Requires the
/// privilege `commands.send`.
#[utoipa::path(post, path = "/api/devices/{deviceId}/sendCommand", tag = "commands",
    request_body(content = SendCommandInput, examples(
        ("By type" = (value = json!({"type": "positionPeriodic", "values": {"frequency": 60}}))),
        ("By text" = (value = json!({"command": "STATUS#", "format": "text", "sms": false}))))),
    responses((status = 201, description = "The command was queued.", body = CommandView)))]
pub async fn send_command(
    Call(app, caller): Call,
    once: Once,
    DevicePath(device): DevicePath,
    body: JsonBody,
) -> ApiReply<CommandView> {
    queue(&app, &caller, once, device.as_ref(), &body, read_sent_command).await
}

/// Cancel a command
///
/// Cancels a command that is queued: its state becomes `failed`, and it is never sent. A command that was sent cannot
/// be cancelled; the request then fails with `already-sent`, and with `already-ended` if the command has failed or
/// expired. Requires the privilege `commands.send`. Sends the event `command.failed`.
#[utoipa::path(delete, path = "/api/commands/{commandId}", tag = "commands",
    responses((status = 200, description = "The command was cancelled.", body = CommandView)))]
pub async fn cancel_command(Call(app, caller): Call, IdPath(id): IdPath<CommandId>) -> ApiReply<CommandView> {
    let command = find(&app, &caller, id).await?;
    caller.require(Privilege::CommandsSend)?;
    let cancelled = app.store.cancel_command(&caller.actor(), command.id).await?;
    Ok(caller.reply(CommandView::from(cancelled)))
}
