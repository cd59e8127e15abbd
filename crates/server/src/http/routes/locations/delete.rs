//! Deleting a device's locations in a time range.

use axum::extract::State;
use perigee_core::access::privilege::Privilege;
use perigee_core::locations::location::TimeRange;
use perigee_core::zone::Zone;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Caller, DevicePath, Params};
use crate::http::reply::Reply;
use crate::http::routes::devices::find_device;

/// Result of deleting locations.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct LocationsDeleted {
    /// Number of locations that were deleted.
    #[schema(example = 1440, minimum = 0)]
    deleted: u64,
}

/// Delete locations of a device
///
/// Deletes the locations of a device whose `dateTime` lies between `from` and `to`, both included. Both parameters are
/// required, so that an omitted one cannot delete more than intended. Deleted locations cannot be restored. Requires
/// the privilege `devices.write`.
#[utoipa::path(delete, path = "/api/devices/{deviceId}/locations", tag = "locations", params(
    ("deviceId" = String, Path, description = "ID or identifier of the device.", example = "dev_01jc2m8k4n5p7"),
    ("from" = String, Query, description = "Start of the time range, inclusive.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = String, Query, description = "End of the time range, inclusive. Must not be before `from`.", format = DateTime, example = "2026-05-02T00:00:00Z"),
), responses((status = 200, description = "The locations were deleted.", body = LocationsDeleted)))]
pub async fn delete_locations(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiResult<Reply<LocationsDeleted>> {
    let device = find_device(&app, &caller, device.as_ref()).await?.id;
    caller.require(Privilege::DevicesWrite)?;
    let range = read_range(params, caller.zone())?;
    let deleted = app.store.delete_locations(&caller.actor(), device, range).await?;
    Ok(caller.reply(LocationsDeleted { deleted }))
}

/// Reads the range from a query, and refuses other parameters.
fn read_range(mut params: Params, zone: &Zone) -> ApiResult<TimeRange> {
    // Both are read before either is checked, so that all problems are reported.
    let (from, to) = (params.required_instant("from", zone), params.required_instant("to", zone));
    let range = from.zip(to).map(|(from, to)| TimeRange { from, to });
    if range.is_some_and(|range| range.to < range.from) {
        params.refuse("to", "The parameter \"to\" must not be before \"from\".");
    }
    params.finish()?;
    range.ok_or_else(|| internal("a range was read without its ends"))
}
