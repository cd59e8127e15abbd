//! Drivers: people with key tags, and their assignments to devices.

pub mod assignments;

use perigee_core::drivers::{Driver, DriverFilter, DriverSettings, DriverTag};
use perigee_core::id::{DriverId, UserId};
use perigee_core::text::{Description, Email, Line, ShortText};

use crate::http::input::{EmailAddress, Set};
use crate::http::prelude::*;

/// Person who drives devices.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Driver)]
pub struct DriverView {
    /// Unique identifier of the driver, assigned by the server. It never changes.
    #[schema(example = "drv_01jc2m8k4n5p6")]
    id: String,
    /// Name of the driver, shown on trips and in reports. Need not be unique.
    #[schema(example = "Ana")]
    name: String,
    /// Telephone number of the driver. Null if not set. Nothing is sent to it.
    #[schema(example = "+34600123456")]
    phone: Option<String>,
    /// E-mail address of the driver. Null if not set. Nothing is sent to it.
    #[schema(example = "ana@example.com")]
    email: Option<String>,
    /// ID of the user who is this person. Null if the driver is not a user.
    #[schema(example = json!(null))]
    user_id: Option<String>,
    /// Key tags that identify the driver, in upper case, without separators and leading zeros, in ascending order.
    #[schema(example = json!(["1000A1B2C"]))]
    tags: Vec<String>,
    /// Free text about the driver. Null if not set.
    #[schema(example = "Night shift")]
    description: Option<String>,
    /// Time at which the driver was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the driver.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

list! {
    /// A list of drivers.
    pub struct DriverList;
    /// Drivers of the account, sorted by ID.
    drivers: DriverView,
}

input! {
    /// Settings of a driver.
    struct DriverInput {
        /// Name of the driver, shown on trips and in reports. Need not be unique.
        name: Line<1, { DriverSettings::NAME_MAX }>, required, example "Ana";
        /// Telephone number of the driver. Null for none.
        phone: ShortText, nullable, example "+34600123456";
        /// E-mail address of the driver. Null for none.
        email: EmailAddress, nullable, example "ana@example.com";
        /// ID of the user who is this person. Null for none.
        user_id as "userId": UserId, nullable, example null;
        /// Key tags that identify the driver, such as iButtons and RFID cards. Letter case, the separators `-`, `:`, `.`, `_`, `/`
        /// and blanks, and leading zeros do not count. No other driver of the account may have one of them. Default: none.
        tags: Set<DriverTag, 0, { DriverSettings::TAGS_MAX }>, nullable, example [];
        /// Free text about the driver. Null for none.
        description: Description, nullable, example "Night shift";
    }
}

impl From<Driver> for DriverView {
    fn from(driver: Driver) -> Self {
        let settings = driver.settings;
        Self {
            id: driver.id.to_string(),
            name: settings.name,
            phone: settings.phone,
            email: settings.email.as_ref().map(Email::to_string),
            user_id: settings.user.map(|user| user.to_string()),
            tags: settings.tags.iter().map(DriverTag::to_string).collect(),
            description: settings.description,
            creation: driver.creation.to_string(),
            last_modified: driver.last_modified.to_string(),
        }
    }
}

fn read_driver(body: &Value) -> ApiResult<DriverSettings> {
    read_body(body, &[ENVELOPE, &["id", "creation", "lastModified"]], |input: DriverInput, _| {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Some(DriverSettings {
            name: input.name?,
            phone: given(input.phone),
            email: input.email,
            user: input.user_id,
            tags: input.tags.unwrap_or_default(),
            description: given(input.description),
        })
    })
}

async fn find(app: &App, caller: &Caller, id: Option<DriverId>) -> ApiResult<Driver> {
    let missing = || not_found(Kind::Driver);
    app.store.find_driver(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List drivers
///
/// Returns the drivers of the account, sorted by ID. Requires a caller who sees the whole account. The list is complete unless
/// `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/drivers", tag = "drivers", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of drivers in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only drivers whose name, telephone number, e-mail address, description or key tag contains this text. Upper and lower case are not distinguished.", example = "ana"),
), responses((status = 200, description = "Drivers of the account, sorted by ID.", body = DriverList)))]
pub async fn list_drivers(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    caller.require_whole_account()?;
    let filter = DriverFilter { text: params.text("q") };
    let part = params.finish_list("drivers")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_drivers(scope, &filter, page).await }
    };
    answer_list(&app, &caller, "drivers", part, fetch, DriverView::from).await
}

/// Create a driver
///
/// Creates a driver. Trips on which one of the driver's key tags was reported get the driver, earlier ones too. Requires the
/// privilege `devices.write` and a caller who sees the whole account. An account may have up to 10000 drivers. Fails with 409
/// `tag-taken` if another driver has one of the tags. Sends the event `driver.created`.
#[utoipa::path(post, path = "/api/drivers", tag = "drivers", request_body = DriverInput,
    responses((status = 201, description = "The driver was created.", body = DriverView)))]
pub async fn create_driver(Call(app, caller): Call, once: Once, body: JsonBody) -> ApiReply<DriverView> {
    caller.require(Privilege::DevicesWrite)?;
    caller.require_whole_account()?;
    let settings = read_driver(&body.value)?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_driver(&caller.actor(), settings, held.key.clone()).await;
    let driver = attribute_reference(created, "userId")??.into_inner();
    let address = app.base_url.join(&format!("/api/drivers/{}", driver.id));
    Ok(caller.reply_at(driver.revision, DriverView::from(driver)).created(address))
}

/// Retrieve a driver
///
/// Returns a driver with the key tags. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/drivers/{driverId}", tag = "drivers",
    responses((status = 200, description = "The driver with this ID.", body = DriverView)))]
pub async fn get_driver(
    Call(app, caller): Call,
    IdPath(id): IdPath<DriverId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let driver = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, driver.revision, DriverView::from(driver)))
}

change_handlers! {
    path: "/api/drivers/{driverId}", tag: "drivers", body: DriverInput, answer: DriverView, "The updated driver.";
    /// Replace a driver
    ///
    /// Sets all settings of a driver. A member that is omitted is set to its default. Trips that the change concerns, also past
    /// ones, are updated within seconds, without events. Requires the privilege `devices.write` and a caller who sees the whole
    /// account. Sends the event `driver.updated`.
    replace_driver,
    /// Update a driver
    ///
    /// Changes the given settings of a driver and leaves the others. Trips that the change concerns, also past ones, are updated
    /// within seconds, without events. Requires the privilege `devices.write` and a caller who sees the whole account. Sends the
    /// event `driver.updated`.
    update_driver => change_driver(id: IdPath<DriverId>)
}

async fn change_driver(
    Call(app, caller): Call,
    IdPath(id): IdPath<DriverId>,
    change: Change,
) -> ApiReply<DriverView> {
    let driver = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::Driver, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let settings = read_driver(&change.apply(&DriverView::from(present)).await?)?;
        let replaced = app.store.replace_driver(&caller.actor(), id, seen, settings).await;
        attribute_reference(replaced, "userId")
    })
    .await?;
    Ok(caller.reply_at(driver.revision, DriverView::from(driver)))
}

/// Delete a driver
///
/// Deletes a driver with the key tags and all assignments. Trips keep the driver's name as `driverName`, with null as `driverId`.
/// Requires the privilege `devices.write` and a caller who sees the whole account. Sends the event `driver.deleted`.
#[utoipa::path(delete, path = "/api/drivers/{driverId}", tag = "drivers",
    responses((status = 200, description = "The driver was deleted.", body = Done)))]
pub async fn delete_driver(
    Call(app, caller): Call,
    IdPath(id): IdPath<DriverId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        preconditions.check(Kind::Driver, present.revision)?;
        Ok(app.store.delete_driver(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
