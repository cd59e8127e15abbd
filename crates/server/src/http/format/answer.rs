//! A device's track as an answer: read part by part, written as it is read, never whole in memory.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::{HeaderMap, HeaderValue, header};
use perigee_core::actor::Scope;
use perigee_core::device::Device;
use perigee_core::error::Cause;
use perigee_core::location::{HistoryRequest, StoredLocation};
use perigee_core::store::{Result as StoreResult, Store};

use super::choice::Format;
use super::field::{Field, Selection};
use super::simplify::Simplifier;
use super::writer::{Heading, Writer};
use crate::app::App;
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Caller, Params};
use crate::http::history::HistoryPart;
use crate::http::list::Place as _;
use crate::http::reply::Envelope;

/// The coarsest line that may be asked for, in metres.
const TOLERANCE_MAX_M: f64 = 1_000_000.0;

/// How a track is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The format.
    pub format: Format,
    /// The fields, in a format that leaves the choice.
    pub selection: Selection,
    /// How far the line may stray from a location left out, in metres.
    pub simplify: Option<f64>,
}

/// Whose track is answered.
#[derive(Debug)]
pub struct Subject {
    /// The device.
    pub device: Device,
    /// Who asks.
    pub scope: Scope,
}

/// What is still to be read.
struct Source {
    store: Arc<dyn Store>,
    subject: Subject,
    request: HistoryRequest,
    simplifier: Option<Simplifier>,
    more: bool,
}

/// A document being sent.
struct Sending {
    source: Source,
    writer: Box<dyn Writer>,
    closed: bool,
}

impl Shape {
    /// JSON with everything in it.
    pub const PLAIN: Self = Self { format: Format::Json, selection: Selection::ALL, simplify: None };

    /// Takes `format`, `fields` and `simplify` from a query.
    pub fn of_params(params: &mut Params, headers: &HeaderMap) -> ApiResult<Self> {
        let format = Format::choose(params, headers)?;
        let selection = read_fields(params, format);
        let simplify = read_tolerance(params);
        Ok(Self { format, selection, simplify })
    }
}

fn read_fields(params: &mut Params, format: Format) -> Selection {
    let Some(text) = params.text("fields") else { return Selection::ALL };
    if !format.has_fields() {
        params.refuse(
            "fields",
            "The parameter \"fields\" goes with the formats json, ndjson and csv. Leave it out.",
        );
        return Selection::ALL;
    }
    let mut chosen = Vec::new();
    for name in text.split(',') {
        match Field::ALL.iter().find(|field| field.name() == name) {
            Some(field) => chosen.push(*field),
            None => params.refuse(
                "fields",
                format!("A location has no field \"{name}\". Name fields as they stand in locations, with commas between."),
            ),
        }
    }
    Selection::of(&chosen)
}

fn read_tolerance(params: &mut Params) -> Option<f64> {
    if params.has("simplify") && (params.has("limit") || params.has("cursor")) {
        params.refuse(
            "simplify",
            "The parameter \"simplify\" goes with a complete history. Leave \"limit\" and \"cursor\" out.",
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

/// Answers part of a device's track: a page when one was asked for, else all of it, streamed.
pub async fn answer_track(
    app: &App,
    caller: &Caller,
    subject: Subject,
    part: HistoryPart,
    shape: Shape,
) -> ApiResult<Response> {
    let heading = Heading {
        envelope: Envelope::of(Some(caller.usage())),
        title: subject.device.settings.name.clone(),
        selection: shape.selection,
    };
    let file = file_name(&subject.device, shape.format);
    let HistoryPart { list, link, paged, request } = part;
    let simplifier = shape.simplify.map(Simplifier::new);
    let mut source = Source { store: app.store.clone(), subject, request, simplifier, more: true };
    let mut writer = shape.format.writer(heading);
    let mut bytes = Vec::new();
    writer.open(&mut bytes);
    write_all(&mut *writer, &mut bytes, &source.read().await?);

    let next = source.request.after.filter(|_| paged && source.more).map(|next| next.cursor().write(&list));
    let body = if source.more && !paged {
        let opening = stream::once(async { Ok::<_, Cause>(Bytes::from(bytes)) });
        let sending = Sending { source, writer, closed: false };
        Body::from_stream(opening.chain(stream::try_unfold(sending, send_on)))
    } else {
        writer.close(&mut bytes, next.as_deref());
        Body::from(bytes)
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

impl Source {
    /// Reads the next part, and notes whether there is another.
    async fn read(&mut self) -> StoreResult<Vec<StoredLocation>> {
        let Subject { device, scope } = &self.subject;
        let history = self.store.list_locations(*scope, device.id, self.request).await?;
        self.more = history.next.is_some();
        self.request.after = history.next;
        Ok(match &mut self.simplifier {
            Some(simplifier) => simplifier.thin(history.items),
            None => history.items,
        })
    }
}

/// Sends the next part while the client reads; a failure breaks the connection off, so that nobody takes half a
/// track for a whole one.
async fn send_on(mut sending: Sending) -> Result<Option<(Bytes, Sending)>, Cause> {
    if sending.closed {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let part = sending.source.read().await?;
    write_all(&mut *sending.writer, &mut bytes, &part);
    if !sending.source.more {
        sending.writer.close(&mut bytes, None);
        sending.closed = true;
    }
    Ok(Some((Bytes::from(bytes), sending)))
}

fn write_all(writer: &mut dyn Writer, out: &mut Vec<u8>, part: &[StoredLocation]) {
    for stored in part {
        writer.write(out, stored);
    }
}

/// The header that names the file: the device's id for old clients, its name for those that read RFC 8187.
fn file_name(device: &Device, format: Format) -> String {
    let ending = format.name();
    let shown = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        // A slash would name a folder.
        b'/' | b'\\' | 0..0x20 | 0x7f => "_".to_owned(),
        other => format!("%{other:02X}"),
    };
    let name: String = device.settings.name.bytes().map(shown).collect();
    format!("attachment; filename=\"{}.{ending}\"; filename*=UTF-8''{name}.{ending}", device.id)
}
