//! A device's track as an answer: its options and its headers.

use axum::body::Body;
use axum::response::Response;
use futures_util::stream::{self, StreamExt};
use http::{HeaderMap, HeaderValue, header};
use perigee_core::access::actor::Scope;
use perigee_core::devices::device::Device;
use perigee_core::error::Cause;
use perigee_core::locations::place::Reader;

use super::field::{Field, Selection};
use super::negotiate::Format;
use super::track::{PART_BYTES, Sending, Source, Track, send_next};
use super::writer::Heading;
use crate::app::App;
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Caller, Params};
use crate::http::held_answer::{hold, hold_parts};
use crate::http::history::HistoryPart;
use crate::http::list::Position as _;
use crate::http::read_turn::ReadTurn;
use crate::http::reply::Envelope;

/// The largest `simplify` tolerance, in metres.
const TOLERANCE_MAX_M: f64 = 1_000_000.0;

/// The options of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The format of the document.
    pub format: Format,
    /// The fields to write, in formats with selectable fields.
    pub selection: Selection,
    /// `simplify`: the largest distance of an omitted location from the line, in metres.
    pub simplify: Option<f64>,
    /// Language and units of `place`; none without places.
    pub place: Option<Reader>,
}

/// The device of a track, and the scope in which it is read.
#[derive(Debug)]
pub struct Subject {
    /// The device whose track it is.
    pub device: Device,
    /// The part of the account that the caller sees.
    pub scope: Scope,
}

impl Shape {
    /// JSON with all fields and all locations.
    pub const PLAIN: Self =
        Self { format: Format::Json, selection: Selection::ALL, simplify: None, place: None };

    /// Reads `format`, `fields` and `simplify` from a query.
    pub fn of_params(params: &mut Params, headers: &HeaderMap) -> ApiResult<Self> {
        let format = Format::choose(params, headers)?;
        let selection = read_fields(params, format);
        let simplify = read_tolerance(params);
        Ok(Self { format, selection, simplify, place: None })
    }
}

fn read_fields(params: &mut Params, format: Format) -> Selection {
    let Some(text) = params.text("fields") else { return Selection::ALL };
    if !format.has_fields() {
        params.refuse(
            "fields",
            "The parameter \"fields\" is supported only by the formats json, ndjson and csv. Leave it out, or choose one of them.",
        );
        return Selection::ALL;
    }
    let mut chosen = Vec::new();
    for name in text.split(',') {
        match Field::ALL.iter().find(|field| field.name() == name) {
            Some(field) => chosen.push(*field),
            None => params.refuse(
                "fields",
                format!("A location has no member \"{name}\". The parameter \"fields\" must be names of members, such as \"dateTime,latitude,longitude\"."),
            ),
        }
    }
    Selection::of(&chosen)
}

fn read_tolerance(params: &mut Params) -> Option<f64> {
    if params.has("simplify") && (params.has("limit") || params.has("cursor")) {
        params.refuse(
            "simplify",
            "The parameter \"simplify\" cannot be combined with \"limit\" or \"cursor\". Leave those out.",
        );
    }
    let must_be = "metres, more than 0 and at most 1000000";
    let metres: f64 = params.parsed("simplify", must_be)?;
    if metres > 0.0 && metres <= TOLERANCE_MAX_M {
        return Some(metres);
    }
    params.refuse("simplify", format!("The parameter \"simplify\" must be {must_be}."));
    None
}

/// Answers part of a device's track: one page if requested, else all of it as a stream.
pub async fn answer_track(
    app: &App,
    caller: &Caller,
    subject: Subject,
    part: HistoryPart,
    shape: Shape,
) -> ApiResult<Response> {
    answer_track_after(app, caller, subject, part, shape, Vec::new()).await
}

/// The same, with further members of a JSON answer before the locations, each written after a comma.
pub async fn answer_track_after(
    app: &App,
    caller: &Caller,
    subject: Subject,
    part: HistoryPart,
    shape: Shape,
    leading_members: Vec<u8>,
) -> ApiResult<Response> {
    let heading = Heading {
        envelope: Envelope::of(Some(caller.usage())),
        leading_members,
        title: subject.device.settings.name.clone(),
        selection: shape.selection,
        place: shape.place,
    };
    let file = file_name(&subject.device, shape.format);
    let HistoryPart { list, link, paged, request } = part;
    let track = Box::new(Track::open(shape.format.writer(heading), shape.simplify, !paged));
    let mut source = Source::new(app.store.clone(), subject.scope, subject.device.id, request, !paged);
    let turn = ReadTurn::of(app, caller.payer());
    let slot = turn.first().await?;
    let mut track = source.read(track).await?;
    drop(slot);

    let next = source.next().filter(|_| paged).map(|next| next.cursor().write(&list));
    let body = if source.next().is_some() && !paged {
        let permit = hold_parts(app, caller.payer(), PART_BYTES)?;
        let part = track.take_part();
        let opening = stream::once(async { Ok::<_, Cause>(part) });
        let sending = Sending { source, track, turn, request_id: caller.request_id().to_owned(), permit };
        Body::from_stream(opening.chain(stream::try_unfold(Some(sending), send_next)))
    } else {
        Body::from(hold(app, caller.payer(), track.close(next.as_deref()))?)
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(shape.format.content_type()));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if shape.format != Format::Json {
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_str(&file).map_err(internal)?);
    }
    if let (Some(link), Some(cursor)) = (link, next) {
        let link = format!("<{}{cursor}>; rel=\"next\"", app.base_url.join(&link));
        headers.insert(header::LINK, HeaderValue::from_str(&link).map_err(internal)?);
    }
    Ok(response)
}

/// `Content-Disposition`: the device's id as the file name, and its name for clients that know RFC 8187.
fn file_name(device: &Device, format: Format) -> String {
    let ending = format.name();
    let shown = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        // A slash would be a directory separator.
        b'/' | b'\\' | 0..0x20 | 0x7f => "_".to_owned(),
        other => format!("%{other:02X}"),
    };
    let name: String = device.settings.name.bytes().map(shown).collect();
    format!("attachment; filename=\"{}.{ending}\"; filename*=UTF-8''{name}.{ending}", device.id)
}
