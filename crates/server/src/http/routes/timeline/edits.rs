//! Dividing and joining trips by hand.

use perigee_core::id::{EditId, SegmentId};
use perigee_core::locations::location::TimeRange;
use perigee_core::revision::Revision;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{EditKind, SegmentKind, StoredSegment, TimelineEdit};
use perigee_core::zone::Zone;

use super::read::find as find_segment;
use crate::http::input::{Instant, Set, Word, read_fields, words};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::devices::find_device_id;

/// An edit never changes, so every edit is at its first revision.
const REVISION: Revision = Revision::FIRST;

words! {
    "TimelineEditKind", "What an edit of a timeline does. `split`: it divides a trip. `merge`: it joins trips and what lies between \
     them." => EditKind;
}

/// A kind of edit, as the API describes it.
pub type TimelineEditKindName = Word<EditKind>;

/// Edit of a timeline: trips that a user divided or joined. It survives new derivations of the timeline.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TimelineEdit)]
pub struct TimelineEditView {
    /// Unique identifier of the edit, assigned by the server.
    #[schema(example = "edt_01jc2m8k4n5p6")]
    id: String,
    /// ID of the device whose timeline is corrected.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// What the edit does.
    #[schema(value_type = TimelineEditKindName, example = "split")]
    kind: &'static str,
    /// Time at which a trip is divided, or the end of the first trip that is joined.
    #[schema(example = "2026-05-01T08:30:00Z", format = DateTime)]
    from: String,
    /// Time at which a trip is divided, or the beginning of the last trip that is joined.
    #[schema(example = "2026-05-01T08:30:00Z", format = DateTime)]
    to: String,
    /// ID of the user who made the edit. Null if an operator of the server did.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    user_id: Option<String>,
    /// Time at which the edit was made.
    #[schema(example = "2026-05-02T09:00:00Z", format = DateTime)]
    creation: String,
}

/// A list of edits of a timeline.
#[derive(Serialize, ToSchema)]
#[schema(as = TimelineEditList)]
pub struct TimelineEditList {
    /// The edits of the device, sorted by `from`.
    edits: Vec<TimelineEditView>,
}

input! {
    /// Where to divide a trip.
    struct SplitInput {
        /// Time within the trip. What is before and after it becomes a trip each.
        at: Instant, required, example "2026-05-01T08:30:00Z";
    }
}

input! {
    /// Trips to join.
    struct MergeInput {
        /// IDs of two to 20 trips of one device, in any order. Everything between the first and the last is joined.
        segments: Set<SegmentId, 2, { TimelineEdit::TRIPS_MAX }>, required, example ["seg_01jc2m8k4n5p6", "seg_01jc2m8k4n5p8"];
    }
}

impl From<TimelineEdit> for TimelineEditView {
    fn from(edit: TimelineEdit) -> Self {
        Self {
            id: edit.id.to_string(),
            device_id: edit.device.to_string(),
            kind: edit.kind.name(),
            from: edit.range.from.to_string(),
            to: edit.range.to.to_string(),
            user_id: edit.user.map(|user| user.to_string()),
            creation: edit.created.to_string(),
        }
    }
}

fn problem(member: &str, detail: impl Into<String>) -> ApiError {
    let detail = format!("\"{member}\" {}.", detail.into());
    invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail }])
}

fn read_split(body: &Value, zone: &Zone, trip: &StoredSegment) -> ApiResult<Timestamp> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE], |input: SplitInput, fields| {
        let at = input.at?;
        if at <= trip.segment.from || at >= trip.segment.to {
            fields.refuse("at", "must be between the beginning and the end of the trip");
        }
        Some(at)
    })
}

fn read_merge(body: &Value) -> ApiResult<Vec<SegmentId>> {
    read_body(body, &[ENVELOPE], |input: MergeInput, _| input.segments)
}

async fn add(
    app: &App,
    caller: &Caller,
    trip: &StoredSegment,
    edit: (EditKind, TimeRange),
    (once, body): (Once, &JsonBody),
) -> ApiReply<TimelineEditView> {
    let held = once.hold(app, caller, body)?;
    let made = app.store.add_timeline_edit(&caller.actor(), trip.device, edit, held.key.clone()).await?;
    let edit = made.into_inner();
    let address = app.base_url.join(&format!("/api/timelineEdits/{}", edit.id));
    Ok(caller.reply(TimelineEditView::from(edit)).created(address).revision(REVISION))
}

/// Split a trip
///
/// Divides a trip at a time within it. The parts appear in the timeline of the device within seconds; until then,
/// `pending` is true there. The longer part keeps the ID and the labels of the trip. The split stays when the timeline
/// is derived again, and can be undone by deleting the edit. A time inside of a merge is refused with `in-use`. The
/// caller needs `devices.write`. A device can have up to 1,000 edits.
#[utoipa::path(post, path = "/api/segments/{segmentId}/split", tag = "trips", request_body = SplitInput,
    responses((status = 201, description = "The edit was created.", body = TimelineEditView)))]
pub async fn split_segment(
    Call(app, caller): Call,
    once: Once,
    IdPath(id): IdPath<SegmentId>,
    body: JsonBody,
) -> ApiReply<TimelineEditView> {
    let trip = find_segment(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    let at = read_split(&body.value, caller.zone(), &trip)?;
    if trip.segment.kind != SegmentKind::Trip {
        return Err(problem("at", "must be within a trip; stops and gaps cannot be split"));
    }
    add(&app, &caller, &trip, (EditKind::Split, TimeRange { from: at, to: at }), (once, &body)).await
}

/// Merge trips
///
/// Joins trips of one device, and everything between the first and the last of them, which may be up to 48 hours. The
/// merged trip appears in the timeline of the device within seconds; until then, `pending` is true there. It keeps the
/// ID and the labels of a trip that has labels, or else of the longest. The merge stays when the timeline is derived
/// again, and can be undone by deleting the edit. The caller needs `devices.write`. A device can have up to 1,000 edits.
#[utoipa::path(post, path = "/api/segments/merge", tag = "trips", request_body = MergeInput,
    responses((status = 201, description = "The edit was created.", body = TimelineEditView)))]
pub async fn merge_segments(
    Call(app, caller): Call,
    once: Once,
    body: JsonBody,
) -> ApiReply<TimelineEditView> {
    caller.require(Privilege::DevicesWrite)?;
    let mut trips = Vec::new();
    for id in read_merge(&body.value)? {
        let found = app.store.find_segment(caller.scope(), id).await?;
        let trip = found.filter(|segment| segment.segment.kind == SegmentKind::Trip);
        trips.push(trip.ok_or_else(|| problem("segments", format!("must be trips, which {id} is not")))?);
    }
    trips.sort_by_key(|trip| trip.segment.from);
    let (Some(first), Some(last)) = (trips.first(), trips.last()) else {
        return Err(problem("segments", "must be two trips or more"));
    };
    if trips.iter().any(|trip| trip.device != first.device) {
        return Err(problem("segments", "must be trips of one device"));
    }
    let range = TimeRange { from: first.segment.to, to: last.segment.from };
    if range.to.as_millis() - range.from.as_millis() > TimelineEdit::MERGE_MAX_MS {
        return Err(problem("segments", "must be no more than 48 hours apart"));
    }
    add(&app, &caller, first, (EditKind::Merge, range), (once, &body)).await
}

/// List edits of a timeline
///
/// Returns the trips of a device that were divided or joined by hand, sorted by time. The device must be visible to the
/// caller.
#[utoipa::path(get, path = "/api/devices/{deviceId}/timelineEdits", tag = "trips",
    responses((status = 200, description = "The edits of the device.", body = TimelineEditList)))]
pub async fn list_timeline_edits(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiReply<TimelineEditList> {
    params.finish()?;
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let edits = app.store.list_timeline_edits(caller.scope(), device).await?;
    Ok(caller.reply(TimelineEditList { edits: edits.into_iter().map(TimelineEditView::from).collect() }))
}

async fn find(app: &App, caller: &Caller, id: Option<EditId>) -> ApiResult<TimelineEdit> {
    let missing = || not_found(Kind::TimelineEdit);
    app.store.find_timeline_edit(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// Retrieve an edit of a timeline
///
/// Returns one edit. Its device must be visible to the caller.
#[utoipa::path(get, path = "/api/timelineEdits/{editId}", tag = "trips",
    responses((status = 200, description = "The edit with this ID.", body = TimelineEditView)))]
pub async fn get_timeline_edit(
    Call(app, caller): Call,
    IdPath(id): IdPath<EditId>,
    params: Params,
) -> ApiReply<TimelineEditView> {
    params.finish()?;
    let edit = find(&app, &caller, id).await?;
    Ok(caller.reply(TimelineEditView::from(edit)).revision(REVISION))
}

/// Delete an edit of a timeline
///
/// Undoes a split or a merge. The timeline of the device is derived again within seconds. The caller needs
/// `devices.write`.
#[utoipa::path(delete, path = "/api/timelineEdits/{editId}", tag = "trips",
    responses((status = 200, description = "The edit was deleted.", body = Done)))]
pub async fn delete_timeline_edit(
    Call(app, caller): Call,
    IdPath(id): IdPath<EditId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    let edit = find(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    preconditions.check(Kind::TimelineEdit, REVISION)?;
    app.store.delete_timeline_edit(&caller.actor(), edit.id).await?;
    Ok(caller.reply(Done {}))
}
