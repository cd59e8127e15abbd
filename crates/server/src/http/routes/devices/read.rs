//! Listing and reading devices.

use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::{Device, DeviceFilter, DeviceRef};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;
use perigee_core::page::Page;

use super::view::{DeviceList, DeviceView, OneDevice};
use crate::http::names::group_param;
use crate::http::place::{place_of, place_param};
use crate::http::prelude::*;

/// The device of a path, if the caller may see it.
pub(in crate::http::routes) async fn find_device(
    app: &App,
    caller: &Caller,
    device: Option<&DeviceRef>,
) -> ApiResult<Device> {
    let missing = || not_found(Kind::Device);
    app.store.find_device(caller.scope(), device.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// The id of the device of a path, if the caller may see it.
pub(in crate::http::routes) async fn find_device_id(
    app: &App,
    caller: &Caller,
    device: Option<&DeviceRef>,
) -> ApiResult<DeviceId> {
    let missing = || not_found(Kind::Device);
    app.store.find_device_id(caller.scope(), device.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// The answer that holds one device.
pub(in crate::http::routes) fn reply_device(caller: &Caller, device: Device) -> Reply<OneDevice> {
    caller.reply_at(device.revision, OneDevice { device: DeviceView::at(device, caller.now()) })
}

/// List devices
///
/// Returns the devices that the caller may see and that match all given filters, sorted by ID. The list is complete
/// unless `limit` or `cursor` is given; with either, it is returned in pages. Any user may call this operation.
#[utoipa::path(get, path = "/api/devices", tag = "devices", params(
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position of the last location in words. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ("limit" = Option<u32>, Query, description = "Maximum number of devices in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only devices whose name, identifier or description contains this text. Upper and lower case are not distinguished.", example = "star"),
    ("group" = Option<String>, Query, description = "Only devices of this group, given by its ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("state" = Option<super::view::DeviceStateName>, Query, description = "Only devices in this state.", example = "active"),
    ("tag" = Option<String>, Query, description = "Only devices with this tag, given as `key:value`.", example = "colour:red"),
), responses((status = 200, description = "Devices that the caller may see, sorted by ID.", body = DeviceList)))]
pub async fn list_devices(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let states = [DeviceState::Active, DeviceState::Expired].map(|state| (state.name(), state));
    let group = group_param(&app, &caller, &mut params, "group").await?;
    let filter = DeviceFilter {
        text: params.text("q"),
        group,
        state: params.word("state", &states),
        tag: params.tag(),
    };
    let place = place_param(&app, &caller, &mut params).await?;
    let part = params.finish_list("devices")?;
    let (store, scope, now) = (app.store.clone(), caller.scope(), caller.now());
    let fetch = move |page| {
        let (store, filter) = (store.clone(), filter.clone());
        async move {
            let Page { items, next } = store.list_devices(scope, &filter, page).await?;
            let ids = items.iter().map(|device| device.id).filter(|_| place.is_some()).collect();
            let mut last = store.last_locations_of(scope, ids).await?;
            let items = items.into_iter().map(|device| {
                let last = last.remove(&device.id);
                (device, last)
            });
            Ok(Page { items: items.collect(), next })
        }
    };
    let view = move |(device, last): (Device, Option<StoredLocation>)| {
        DeviceView::at(device, now).at_place(last_place(place, last.as_ref()))
    };
    answer_list(&app, &caller, "devices", part, fetch, view).await
}

/// Retrieve a device
///
/// Returns a device with its settings and state. Any user who may see the device may call this operation. The `ETag`
/// changes only with the settings that a client can change, so the answer is complete even if `If-None-Match` has the
/// current value: `status`, `lastSeen` and `counters` change without it.
#[utoipa::path(get, path = "/api/devices/{deviceId}", tag = "devices",
    params(
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position of the last location in words. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ),
    responses((status = 200, description = "The device with this ID.", body = OneDevice)))]
pub async fn get_device(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiReply<OneDevice> {
    let place = place_param(&app, &caller, &mut params).await?;
    params.finish()?;
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let last = match place {
        Some(_) => app.store.find_last_location(caller.scope(), device.id).await?,
        None => None,
    };
    let revision = device.revision;
    let device = DeviceView::at(device, caller.now()).at_place(last_place(place, last.as_ref()));
    Ok(caller.reply(OneDevice { device }).revision(revision))
}

/// The place of the last location, if there is one and the caller requested places.
fn last_place(reader: Option<Reader>, last: Option<&StoredLocation>) -> Option<String> {
    last.and_then(|last| place_of(reader, last.location.latitude, last.location.longitude))
}
