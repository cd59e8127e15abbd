//! The timeline of a device.

use perigee_core::id::SegmentId;
use perigee_core::locations::location::TimeRange;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentKind, StoredSegment, clip};

use super::view::{SegmentKindName, SegmentView};
use crate::budget::Payer;
use crate::http::place::place_param;
use crate::http::prelude::*;
use crate::http::read_turn::ReadTurn;
use crate::http::routes::devices::find_device_id;

/// Maximum number of segments of an answer.
const LIMIT_MAX: u32 = 5_000;

/// The timeline of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Timeline)]
pub struct TimelineView {
    /// The segments of the period, oldest first. Each instant belongs to one segment: a segment ends when the next one
    /// begins.
    segments: Vec<SegmentView>,
    /// Whether the device has stored locations that the timeline does not include yet. Repeat the request a second later
    /// for a complete answer.
    #[schema(example = false)]
    pending: bool,
    /// Time from which to continue, as `from` of the next request. Absent if there are no more segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "2026-05-01T08:55:00Z", format = DateTime)]
    next_from: Option<String>,
}

/// Retrieve the timeline of a device
///
/// Returns the trips, stops and gaps of a device that overlap a period. Segments at the ends of the period are cut to it.
/// Their distance, durations and fuel are divided in proportion to time, so that the results of adjacent periods add up.
/// New locations are included within seconds; until then, `pending` is true. Coarse and invalid locations are ignored.
/// Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/timeline", tag = "trips", params(
    ("from" = Option<String>, Query, description = "Start of the period, inclusive. Default: the oldest location.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "End of the period, exclusive. Must not be before `from`. Default: the newest location.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("kind" = Option<SegmentKindName>, Query, description = "Only segments of this kind. Default: all kinds.", example = "trip"),
    ("limit" = Option<u32>, Query, description = "Maximum number of segments. Default: 5000.", minimum = 1, maximum = 5000),
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words, to `start` and `end`. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
), responses((status = 200, description = "The timeline of the device.", body = TimelineView)))]
pub async fn get_timeline(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiReply<TimelineView> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let reader = place_param(&app, &caller, &mut params).await?;
    let from = params.instant("from", caller.zone()).unwrap_or(Timestamp::MIN);
    let to = params.instant("to", caller.zone()).unwrap_or(Timestamp::MAX);
    if to < from {
        params.refuse("to", "The parameter \"to\" must not be before \"from\".");
    }
    let kind = params.word("kind", &SegmentKind::ALL.map(|kind| (kind.name(), kind)));
    let limit = params.number("limit", 1, LIMIT_MAX).unwrap_or(LIMIT_MAX);
    params.finish()?;
    let period = TimeRange { from, to };
    let page = {
        let _slot = ReadTurn::of(&app, Payer::account(caller.account().id)).first().await?;
        app.store.list_segments(caller.scope(), device, period, kind, limit).await?
    };
    let last = page.segments.last().map(|last| last.segment.to.to_string());
    let next_from = last.filter(|_| page.more);
    let cut = |stored: StoredSegment| {
        let part = clip(std::slice::from_ref(&stored.segment), from, to).pop()?;
        Some(SegmentView::part(stored, part, reader))
    };
    let segments = page.segments.into_iter().filter_map(cut).collect();
    Ok(caller.reply(TimelineView { segments, pending: page.pending, next_from }))
}

pub(super) async fn find(app: &App, caller: &Caller, id: Option<SegmentId>) -> ApiResult<StoredSegment> {
    let missing = || not_found(Kind::Segment);
    app.store.find_segment(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// Retrieve a segment
///
/// Returns a trip, stop or gap as a whole. Any user who may see its device may call this operation.
#[utoipa::path(get, path = "/api/segments/{segmentId}", tag = "trips",
    responses((status = 200, description = "The segment with this ID.", body = SegmentView)))]
pub async fn get_segment(
    Call(app, caller): Call,
    IdPath(id): IdPath<SegmentId>,
    params: Params,
) -> ApiReply<SegmentView> {
    params.finish()?;
    let stored = find(&app, &caller, id).await?;
    Ok(caller.reply_at(stored.revision, SegmentView::from(stored)))
}
