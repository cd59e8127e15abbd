//! Reading commands, and which a device takes.

use axum::extract::State;
use axum::response::Response;
use perigee_core::command::{Command, CommandFilter, CommandKind, CommandState};
use perigee_core::device::Device;
use perigee_core::error::Kind;
use perigee_core::id::CommandId;
use perigee_core::time::Timestamp;
use perigee_gateways::{Protocol, Target, find_protocol, supported_commands};

use super::view::{CommandList, CommandStateName, CommandTypeList, CommandTypeView, CommandView};
use crate::app::App;
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Caller, DevicePath, IdPath, ListPart, Params};
use crate::http::list::answer_list;
use crate::http::names::device_param;
use crate::http::reply::Reply;
use crate::http::routes::devices::{find_device, find_device_id};
use crate::ingest::DeviceDecoding;

/// Commands of a page unless the client says otherwise.
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

/// The command a path names, if the caller sees its device.
pub(super) async fn find(app: &App, caller: &Caller, id: Option<CommandId>) -> ApiResult<Command> {
    let missing = || not_found(Kind::Command);
    app.store.find_command(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List commands.
///
/// Newest first and always in pages. Of each device the newest 1000 are kept.
#[utoipa::path(get, path = "/api/commands", tag = "commands", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of commands; 100 by default.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
    ("device" = Option<String>, Query, description = "Only to this device, by its id, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("state" = Option<CommandStateName>, Query, description = "Only commands in this state."),
), responses((status = 200, description = "Commands, newest first.", body = CommandList)))]
pub async fn list_commands(
    State(app): State<App>,
    caller: Caller,
    mut params: Params,
) -> ApiResult<Response> {
    let filter = CommandFilter {
        device: device_param(&app, &caller, &mut params, "device").await?,
        state: state_param(&mut params),
    };
    let part = params.finish_page("commands", PAGE)?;
    answer_commands(&app, &caller, filter, part).await
}

/// List a device's commands.
///
/// Newest first and always in pages.
#[utoipa::path(get, path = "/api/devices/{deviceId}/commands", tag = "commands", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
    ("limit" = Option<u32>, Query, description = "Maximum number of commands; 100 by default.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
    ("state" = Option<CommandStateName>, Query, description = "Only commands in this state."),
), responses((status = 200, description = "Commands, newest first.", body = CommandList)))]
pub async fn list_device_commands(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiResult<Response> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let filter = CommandFilter { device: Some(device), state: state_param(&mut params) };
    let part = params.finish_page("device-commands", PAGE)?;
    answer_commands(&app, &caller, filter, part).await
}

/// Read a command.
#[utoipa::path(get, path = "/api/commands/{commandId}", tag = "commands",
    params(("commandId" = String, Path, description = "The command's id.", example = "cmd_01jc2m8k4n5p6")),
    responses((status = 200, description = "The command.", body = CommandView)))]
pub async fn get_command(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<CommandId>,
    params: Params,
) -> ApiResult<Reply<CommandView>> {
    params.finish()?;
    let command = find(&app, &caller, id).await?;
    Ok(caller.reply(CommandView::from(command)))
}

/// How commands to a device are written in a protocol.
pub(super) fn settings_of(app: &App, device: &Device, protocol: &Protocol) -> DeviceDecoding {
    let settings = &device.settings;
    let (model, told) = (settings.model.as_deref(), device.reported_model.as_deref());
    app.ingest.decoding_of(protocol, model, told, Some(&settings.decoding))
}

/// The device as encoders see it.
pub(super) fn target<'a>(device: &'a Device, settings: &'a DeviceDecoding, now: Timestamp) -> Target<'a> {
    Target {
        identifier: device.settings.identifier.as_deref().unwrap_or("0"),
        model: settings.model.as_deref(),
        options: &settings.options,
        now,
    }
}

/// List the commands that a device takes.
///
/// By the protocol that it last spoke. A device that has not been heard may be given any command; what its protocol does not
/// have fails when the device connects.
#[utoipa::path(get, path = "/api/devices/{deviceId}/commandTypes", tag = "commands",
    params(("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7")),
    responses((status = 200, description = "The commands and their values.", body = CommandTypeList)))]
pub async fn list_command_types(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiResult<Reply<CommandTypeList>> {
    params.finish()?;
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let kinds = match &device.protocol {
        None => CommandKind::ALL.to_vec(),
        Some(name) => {
            let taken = |protocol| {
                let settings = settings_of(&app, &device, protocol);
                supported_commands(protocol, &target(&device, &settings, caller.now()))
            };
            find_protocol(name).map(taken).unwrap_or_default()
        }
    };
    let command_types = kinds.into_iter().map(CommandTypeView::from).collect();
    Ok(caller.reply(CommandTypeList { protocol: device.protocol, command_types }))
}
