//! Deleting a device's locations in a time range.

use perigee_core::locations::location::TimeRange;
use perigee_core::zone::Zone;

use crate::http::prelude::*;
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
    ("from" = String, Query, description = "Start of the time range, inclusive.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = String, Query, description = "End of the time range, inclusive. Must not be before `from`.", format = DateTime, example = "2026-05-02T00:00:00Z"),
), responses((status = 200, description = "The locations were deleted.", body = LocationsDeleted)))]
pub async fn delete_locations(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiReply<LocationsDeleted> {
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
    range.ok_or_else(|| internal("the parameters \"from\" and \"to\" were accepted, but one is missing"))
}
