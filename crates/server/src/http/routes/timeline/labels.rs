//! Labels of segments: name, purpose, note and driver, set by users.

use perigee_core::id::SegmentId;
use perigee_core::text::{Line, Lines};
use perigee_core::timeline::SegmentLabels;

use super::read::find;
use super::view::SegmentView;
use crate::http::input::input;
use crate::http::prelude::*;

/// Members that only the server sets.
const READ_ONLY: &[&str] = &[
    "id",
    "deviceId",
    "kind",
    "from",
    "to",
    "open",
    "start",
    "end",
    "distance",
    "distanceSource",
    "movingSeconds",
    "standingSeconds",
    "idlingSeconds",
    "engineSeconds",
    "maxSpeed",
    "averageSpeed",
    "fuelUsed",
    "inferred",
    "driverTag",
    "driverId",
    "driverName",
    "driverSource",
    "updatedAt",
];

input! {
    /// Labels of a segment.
    struct SegmentInput {
        /// Name of the segment. Null for none.
        name: Line<0, { SegmentLabels::NAME_MAX }>, nullable, example "Delivery to Porto";
        /// Purpose of the segment: `business`, `private` or any other text. Null for none.
        purpose: Line<0, { SegmentLabels::NAME_MAX }>, nullable, example "business";
        /// Note about the segment. Null for none.
        note: Lines<0, { SegmentLabels::NOTE_MAX }>, nullable, example "Two pallets";
        /// Driver of the segment: the ID or the name of a driver of the account, or any other name. It takes precedence over a
        /// key tag and an assignment. Null to go by these.
        driver: Line<0, { SegmentLabels::NAME_MAX }>, nullable, example "Ana";
    }
}

fn read_labels(body: &Value) -> ApiResult<SegmentLabels> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: SegmentInput, _| {
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Some(SegmentLabels {
            name: given(input.name),
            purpose: given(input.purpose),
            note: given(input.note),
            driver: given(input.driver),
            // The store finds the driver with this name or ID.
            driver_id: None,
        })
    })
}

/// Update a segment
///
/// Sets the name, purpose, note or driver of a trip, stop or gap. Members that the body does not contain stay as they
/// are. The labels stay with the segment when late locations change it. Requires the privilege `devices.write`. For a
/// trip, an event `trip.changed` is created.
#[utoipa::path(patch, path = "/api/segments/{segmentId}", tag = "trips", request_body = SegmentInput,
    responses((status = 200, description = "The updated segment.", body = SegmentView)))]
pub async fn update_segment(
    Call(app, caller): Call,
    IdPath(id): IdPath<SegmentId>,
    change: Change,
) -> ApiReply<SegmentView> {
    let segment = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::DevicesWrite)?;
        change.preconditions.check(Kind::Segment, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let labels = read_labels(&change.apply(&SegmentView::from(present)).await?)?;
        attribute_reference(app.store.label_segment(&caller.actor(), id, seen, labels).await, "driver")
    })
    .await?;
    Ok(caller.reply_at(segment.revision, SegmentView::from(segment)))
}
