//! Reading commands, and the types of commands that a device supports.

use perigee_core::devices::command::{Command, CommandFilter, CommandKind, CommandState};
use perigee_core::devices::device::Device;
use perigee_core::id::CommandId;
use perigee_core::time::Timestamp;
use perigee_gateways::{Protocol, Target, find_protocol, supported_commands};

use super::view::{CommandList, CommandStateName, CommandTypeList, CommandTypeView, CommandView};
use crate::http::extract::ListPart;
use crate::http::names::device_param;
use crate::http::prelude::*;
use crate::http::routes::devices::{find_device, find_device_id};
use crate::ingest::DeviceDecoding;

/// The default number of commands in a page.
const PAGE: u32 = 100;

fn state_param(params: &mut Params) -> Option<CommandState> {
    params.word("state", &CommandState::ALL.map(|state| (state.name(), state)))
}

async fn answer_commands(
    app: &App,
    caller: &Caller,
    filter: CommandFilter,
    part: ListPart,
) -> ApiResult<Response> {
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_commands(scope, filter, page).await }
    };
    answer_list(app, caller, "commands", part, fetch, CommandView::from).await
}

/// The command of a path, if the caller may see its device.
pub(super) async fn find(app: &App, caller: &Caller, id: Option<CommandId>) -> ApiResult<Command> {
    let missing = || not_found(Kind::Command);
    app.store.find_command(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List commands
///
/// Returns commands to the devices that the caller may see, newest first, in pages. The newest 1000 commands of each
/// device are stored. Any user may call this operation.
#[utoipa::path(get, path = "/api/commands", tag = "commands", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of commands in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("device" = Option<String>, Query, description = "Only commands to this device, given by its ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("state" = Option<CommandStateName>, Query, description = "Only commands in this state.", example = "queued"),
), responses((status = 200, description = "Commands, newest first.", body = CommandList)))]
pub async fn list_commands(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let filter = CommandFilter {
        device: device_param(&app, &caller, &mut params, "device").await?,
        state: state_param(&mut params),
    };
    let part = params.finish_page("commands", PAGE)?;
    answer_commands(&app, &caller, filter, part).await
}

/// List commands to a device
///
/// Returns the commands to a device, newest first, in pages. The newest 1000 commands are stored. Any user who may see
/// the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/commands", tag = "commands", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of commands in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("state" = Option<CommandStateName>, Query, description = "Only commands in this state.", example = "queued"),
), responses((status = 200, description = "Commands, newest first.", body = CommandList)))]
pub async fn list_device_commands(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiResult<Response> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let filter = CommandFilter { device: Some(device), state: state_param(&mut params) };
    let part = params.finish_page("device-commands", PAGE)?;
    answer_commands(&app, &caller, filter, part).await
}

/// Retrieve a command
///
/// Returns a command with its state and the answer of the device. Any user who may see the device may call this
/// operation.
#[utoipa::path(get, path = "/api/commands/{commandId}", tag = "commands",
    responses((status = 200, description = "The command with this ID.", body = CommandView)))]
pub async fn get_command(
    Call(app, caller): Call,
    IdPath(id): IdPath<CommandId>,
    params: Params,
) -> ApiReply<CommandView> {
    params.finish()?;
    let command = find(&app, &caller, id).await?;
    Ok(caller.reply(CommandView::from(command)))
}

/// The settings by which commands to a device are encoded in a protocol.
pub(in crate::http::routes::devices) fn settings_of(
    app: &App,
    device: &Device,
    protocol: &Protocol,
) -> DeviceDecoding {
    let settings = &device.settings;
    let (model, reported) = (settings.model.as_deref(), device.reported_model.as_deref());
    app.ingest.decodings.of_device(protocol, model, reported, Some(&settings.decoding))
}

/// The values of a device that encoders need.
pub(in crate::http::routes::devices) fn target<'a>(
    device: &'a Device,
    settings: &'a DeviceDecoding,
    now: Timestamp,
) -> Target<'a> {
    Target {
        identifier: device.settings.identifier.as_deref().unwrap_or("0"),
        model: settings.model.as_deref(),
        options: &settings.options,
        now,
    }
}

/// List command types of a device
///
/// Returns the types of commands that a device supports, by the protocol of its last message. For a device that has not
/// sent a message yet, all types are listed; a command that its protocol does not support fails when the device
/// connects. Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/commandTypes", tag = "commands",
    responses((status = 200, description = "Command types that the device supports, with their values.", body = CommandTypeList)))]
pub async fn list_command_types(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiReply<CommandTypeList> {
    params.finish()?;
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let kinds = match &device.protocol {
        None => CommandKind::ALL.to_vec(),
        Some(name) => {
            let supported = |protocol| {
                let settings = settings_of(&app, &device, protocol);
                supported_commands(protocol, &target(&device, &settings, caller.now()))
            };
            find_protocol(name).map(supported).unwrap_or_default()
        }
    };
    let command_types = kinds.into_iter().map(CommandTypeView::from).collect();
    Ok(caller.reply(CommandTypeList { protocol: device.protocol, command_types }))
}
