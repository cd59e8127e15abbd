//! Assignments of drivers to devices by calendar.

use perigee_core::drivers::{Assignment, AssignmentSettings};
use perigee_core::id::{AssignmentId, DeviceId, DriverId};
use perigee_core::zone::Zone;

use crate::http::input::{Instant, read_fields};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::devices::find_device_id;

/// Assignment of a driver to a device for some time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DriverAssignment)]
pub struct AssignmentView {
    /// Unique identifier of the assignment, assigned by the server. It never changes.
    #[schema(example = "asg_01jc2m8k4n5p6")]
    id: String,
    /// ID of the driver. It never changes.
    #[schema(example = "drv_01jc2m8k4n5p6")]
    driver_id: String,
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Beginning of the assignment, which belongs to it.
    #[schema(example = "2026-05-01T08:00:00Z", format = DateTime)]
    from: String,
    /// End of the assignment, which does not belong to it. Null while it is open.
    #[schema(example = json!(null), format = DateTime)]
    to: Option<String>,
    /// Time at which the assignment was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the assignment.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

list! {
    /// A list of assignments.
    pub struct AssignmentList;
    /// Assignments, sorted by ID.
    assignments: AssignmentView,
}

input! {
    /// Settings of an assignment.
    struct AssignmentInput {
        /// Device that the driver drives, given by its ID, identifier or a name that only one device has.
        device as "deviceId": DeviceId, required, example "dev_01jc2m8k4n5p7";
        /// Beginning of the assignment, inclusive. Without an offset, it is in the time zone of the caller.
        from: Instant, required, example "2026-05-01T08:00:00Z";
        /// End of the assignment, exclusive. Must be later than `from`. Null for an assignment without an end.
        to: Instant, nullable, example null;
    }
}

impl From<Assignment> for AssignmentView {
    fn from(assignment: Assignment) -> Self {
        let settings = assignment.settings;
        Self {
            id: assignment.id.to_string(),
            driver_id: assignment.driver.to_string(),
            device_id: settings.device.to_string(),
            from: settings.from.to_string(),
            to: settings.to.map(|to| to.to_string()),
            creation: assignment.creation.to_string(),
            last_modified: assignment.last_modified.to_string(),
        }
    }
}

/// The members that refer to other resources by name or ID.
const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device)];

fn read_assignment(body: &Value, zone: &Zone) -> ApiResult<AssignmentSettings> {
    let ignored: &[&[&str]] = &[ENVELOPE, &["id", "driverId", "creation", "lastModified"]];
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, ignored, |input: AssignmentInput, fields| {
        let settings = AssignmentSettings { device: input.device?, from: input.from?, to: input.to };
        if !settings.is_in_order() {
            fields.refuse("to", "must be later than \"from\"");
        }
        Some(settings)
    })
}

async fn find(app: &App, caller: &Caller, id: Option<AssignmentId>) -> ApiResult<Assignment> {
    let missing = || not_found(Kind::Assignment);
    app.store.find_assignment(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List assignments of a driver
///
/// Returns the assignments of a driver, sorted by ID. Requires a caller who sees the whole account. The list is complete unless
/// `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/drivers/{driverId}/assignments", tag = "drivers", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of assignments in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Assignments of the driver, sorted by ID.", body = AssignmentList)))]
pub async fn list_driver_assignments(
    Call(app, caller): Call,
    IdPath(id): IdPath<DriverId>,
    params: Params,
) -> ApiResult<Response> {
    let driver = super::find(&app, &caller, id).await?.id;
    let part = params.finish_list("assignments")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_driver_assignments(scope, driver, page).await }
    };
    answer_list(&app, &caller, "assignments", part, fetch, AssignmentView::from).await
}

/// List drivers assigned to a device
///
/// Returns the assignments of drivers to a device, sorted by ID. Requires a caller who sees the whole account. The list is
/// complete unless `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/devices/{deviceId}/driverAssignments", tag = "drivers", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of assignments in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Assignments to the device, sorted by ID.", body = AssignmentList)))]
pub async fn list_device_assignments(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiResult<Response> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    caller.require_whole_account()?;
    let part = params.finish_list("driverAssignments")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_device_assignments(scope, device, page).await }
    };
    answer_list(&app, &caller, "assignments", part, fetch, AssignmentView::from).await
}

/// Assign a driver to a device
///
/// States that a person drives a device from a time on. Trips of the device that begin within the assignment get the driver,
/// past ones too, unless the device reported the key tag of a driver, or a user set another. Requires the privilege
/// `devices.write` and a caller who sees the whole account. Fails with 409 `driver-assigned` if the device has another
/// assignment at that time. An account may have up to 100000 assignments. Sends the event `driver.updated`.
#[utoipa::path(post, path = "/api/drivers/{driverId}/assignments", tag = "drivers", request_body = AssignmentInput,
    responses((status = 201, description = "The driver was assigned.", body = AssignmentView)))]
pub async fn create_assignment(
    Call(app, caller): Call,
    IdPath(id): IdPath<DriverId>,
    once: Once,
    mut body: JsonBody,
) -> ApiReply<AssignmentView> {
    let driver = super::find(&app, &caller, id).await?.id;
    caller.require(Privilege::DevicesWrite)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_assignment(&body.value, caller.zone())?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_assignment(&caller.actor(), driver, settings, held.key.clone()).await;
    let assignment = attribute_reference(created, "deviceId")??.into_inner();
    let address = app.base_url.join(&format!("/api/driverAssignments/{}", assignment.id));
    Ok(caller.reply_at(assignment.revision, AssignmentView::from(assignment)).created(address))
}

/// Retrieve an assignment
///
/// Returns an assignment of a driver to a device. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/driverAssignments/{assignmentId}", tag = "drivers",
    responses((status = 200, description = "The assignment with this ID.", body = AssignmentView)))]
pub async fn get_assignment(
    Call(app, caller): Call,
    IdPath(id): IdPath<AssignmentId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let assignment = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, assignment.revision, AssignmentView::from(assignment)))
}

change_handlers! {
    path: "/api/driverAssignments/{assignmentId}", tag: "drivers", body: AssignmentInput, answer: AssignmentView, "The updated assignment.";
    /// Replace an assignment
    ///
    /// Sets device, beginning and end of an assignment. Trips that the change concerns are updated within seconds, without events.
    /// Requires the privilege `devices.write` and a caller who sees the whole account. Fails with 409 `driver-assigned` if the
    /// device has another assignment at that time. Sends the event `driver.updated`.
    replace_assignment,
    /// Update an assignment
    ///
    /// Changes the given settings of an assignment and leaves the others, for example sets the end of an open assignment. Trips
    /// that the change concerns are updated within seconds, without events. Requires the privilege `devices.write` and a caller
    /// who sees the whole account. Fails with 409 `driver-assigned` if the device has another assignment at that time. Sends the
    /// event `driver.updated`.
    update_assignment => change_assignment(id: IdPath<AssignmentId>)
}

async fn change_assignment(
    Call(app, caller): Call,
    IdPath(id): IdPath<AssignmentId>,
    change: Change,
) -> ApiReply<AssignmentView> {
    let assignment = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::Assignment, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let mut wanted = change.apply(&AssignmentView::from(present)).await?;
        resolve_names(&app, &caller, &mut wanted, NAMES).await?;
        let settings = read_assignment(&wanted, caller.zone())?;
        let replaced = app.store.replace_assignment(&caller.actor(), id, seen, settings).await;
        attribute_reference(replaced, "deviceId")
    })
    .await?;
    Ok(caller.reply_at(assignment.revision, AssignmentView::from(assignment)))
}

/// Delete an assignment
///
/// Deletes an assignment. Trips that had the driver because of it lose the driver within seconds, without events. To keep them,
/// set `to` instead. Requires the privilege `devices.write` and a caller who sees the whole account. Sends the event
/// `driver.updated`.
#[utoipa::path(delete, path = "/api/driverAssignments/{assignmentId}", tag = "drivers",
    responses((status = 200, description = "The assignment was deleted.", body = Done)))]
pub async fn delete_assignment(
    Call(app, caller): Call,
    IdPath(id): IdPath<AssignmentId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        preconditions.check(Kind::Assignment, present.revision)?;
        Ok(app.store.delete_assignment(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
