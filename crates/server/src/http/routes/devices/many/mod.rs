//! Creating many devices with one request, and trying it without creating any.

mod examine;
mod rows;
mod table;
mod view;

use std::collections::BTreeMap;

use http::StatusCode;
use perigee_core::access::actor::Reach;
use perigee_core::devices::new_devices::NEW_DEVICES_MAX;
use perigee_core::idempotency::Created;
use utoipa::PartialSchema;
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};

use self::examine::{Examined, examine, groups_named};
use self::rows::{VALUES_MAX, read_rows};
use self::view::{NewDevicesReport, report};
use super::input::DeviceInput;
use crate::http::extract::{ReadRows, RowsBody};
use crate::http::input::{ObjectSchema, Property, Schemas, array};
use crate::http::prelude::*;

/// Maximum size of a body, in bytes.
const BODY_MAX: usize = 4 * 1024 * 1024;
/// Devices that are charged to the rate limit as one call.
const DEVICES_PER_CALL: usize = 50;
/// Memory of a device while it is created, in bytes, besides that of its texts.
const DEVICE_BYTES: usize = 2 * 1024;

/// Devices as an array, or in the member `devices`.
#[derive(Debug)]
pub struct DevicesBody;

impl DevicesBody {
    fn devices() -> RefOr<Schema> {
        array(Ref::from_schema_name("DeviceInput").into(), 1, NEW_DEVICES_MAX, false)
    }
}

impl PartialSchema for DevicesBody {
    fn schema() -> RefOr<Schema> {
        let body = AnyOfBuilder::new()
            .description(Some("Devices to create, as an array or in the member `devices`."))
            .item(Self::devices())
            .item(Ref::from_schema_name("DevicesWrapped"));
        RefOr::T(Schema::AnyOf(body.build()))
    }
}

impl ToSchema for DevicesBody {
    fn schemas(schemas: &mut Schemas) {
        schemas.push((DeviceInput::name().into(), DeviceInput::schema()));
        DeviceInput::schemas(schemas);
        schemas.push(("DevicesWrapped".into(), wrapped()));
    }
}

fn wrapped() -> RefOr<Schema> {
    let mut object = ObjectSchema::new(&["Devices to create."]);
    object.required(Property {
        name: "devices",
        comment: &["Devices to create."],
        schema: DevicesBody::devices(),
        example: None,
    });
    object.build()
}

/// Create devices
///
/// Creates many devices, all of them or none. The body is an array of devices or `{"devices": [...]}`, each as in
/// `POST /api/devices`. As `application/x-ndjson` it has one device per line. As `text/csv` the first line names the
/// columns: `identifier`, `identifiers`, `name`, `description`, `min`, `icon`, `model`, `groups`, `expirationDate`,
/// `dailyEmailLimit`, `dailySmsLimit`, `criticalReserve`, `expectedIntervalSeconds`, `retentionDays` and `tags.KEY`.
/// Columns are separated by comma, semicolon or tab, and several groups or identifiers of a cell by `|`; an empty cell
/// is as if the member was left out. A body has at most 5,000 devices and 4 MiB, 10,000 identifiers and 20,000
/// memberships of groups.
///
/// A row whose `identifier` a device has already creates nothing and changes nothing, so that a request can safely be
/// repeated. If a row is invalid, or fewer licences are free than needed, nothing is created: the request fails with
/// `invalid-body`, which lists up to 100 problems with the pointers of their rows, or with `license-exhausted`. With
/// `dryRun=true` nothing is created, and the answer reports every row.
///
/// Requires the privilege `devices.write`, and `groups.write` to put devices into groups. If the caller may see only one
/// group, the devices are added to that group. Sends the event `device.created` for each device, and one event
/// `group.updated` for each group. Every 50 devices count as one call in the rate limit.
#[utoipa::path(post, path = "/api/bulk/devices", tag = "devices",
    params(("dryRun" = Option<bool>, Query, description = "Whether to only report what would happen. Default: `false`.", example = false)),
    request_body(content(
        (DevicesBody = "application/json", example = json!([
            {"identifier": "300234010759001", "name": "Northern Star", "tags": {"colour": "red"}},
            {"identifier": "300234010759002", "name": "Southern Cross"}])),
        (String = "application/x-ndjson", example = json!("{\"identifier\":\"300234010759001\",\"name\":\"Northern Star\"}\n")),
        (String = "text/csv", example = json!("identifier,name,tags.colour\n300234010759001,Northern Star,red\n")))),
    responses(
        (status = 201, description = "Devices were created.", body = NewDevicesReport),
        (status = 200, description = "Nothing was created: all devices exist already, or this was a dry run.", body = NewDevicesReport),
    ))]
pub async fn create_devices(
    Call(app, caller): Call,
    once: Once,
    mut params: Params,
    body: RowsBody,
) -> ApiReply<NewDevicesReport> {
    caller.require(Privilege::DevicesWrite)?;
    if let Reach::Device(_) = caller.scope().reach {
        return Err(forbidden(
            "A user who may see only one device cannot create devices. Ask a user who may see the whole account.",
        ));
    }
    let dry_run = params.word("dryRun", &[("true", true), ("false", false)]).unwrap_or(false);
    params.finish()?;
    let received = body.receive(&app, BODY_MAX).await?;
    let ReadRows { rows, hash, mut held } = received.read(&app, VALUES_MAX, read_rows).await?;
    caller.charge_requests(&app, rows.len() / DEVICES_PER_CALL)?;
    held.hold(rows.len() * DEVICE_BYTES)?;
    let mut groups = groups_named(&rows);
    let names = groups.clone();
    resolve_names(&app, &caller, &mut groups, super::write::NAMES).await?;
    let ids = by_name(&names, &groups);
    let memory = rows.len() * DEVICE_BYTES;
    let Examined { rows, settings } =
        app.budget.run(caller.payer(), memory, move || examine(rows, &ids)).await??;
    if settings.iter().any(|device| !device.groups.is_empty()) {
        caller.require(Privilege::GroupsWrite)?;
    }
    let is_valid = rows.iter().all(|row| row.problems.is_empty());
    // One transaction of an account at a time, so that those of others are not behind several.
    let turn = app.budget.reads.acquire(caller.payer(), 0).await?;
    let outcome = if dry_run || !is_valid {
        app.store.preview_devices(&caller.actor(), &settings).await?
    } else {
        let once = once.hold_for(&app, &caller, hash)?;
        let made: Created<_> = app.store.create_devices(&caller.actor(), &settings, once.key.clone()).await?;
        made.into_inner()
    };
    drop(turn);
    let (report, problems) = report(rows, &outcome, dry_run);
    if !dry_run && !problems.is_empty() {
        return Err(invalid_body(problems.into_iter().take(PROBLEMS_MAX).collect()));
    }
    let status = if report.created > 0 { StatusCode::CREATED } else { StatusCode::OK };
    Ok(caller.reply(report).status(status))
}

/// Maximum number of problems in an error.
const PROBLEMS_MAX: usize = 100;

/// The ID of each group by the name that it was given.
fn by_name(names: &Value, ids: &Value) -> BTreeMap<String, String> {
    let list = |value: &Value| -> Vec<String> {
        let items = value["groups"].as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    list(names).into_iter().zip(list(ids)).filter(|(name, id)| name != id).collect()
}
