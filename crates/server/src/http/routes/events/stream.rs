//! The stream of events (Server-Sent Events).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use perigee_core::access::actor::Scope;
use tokio::sync::watch;

use super::body::read_event_id;
use super::query::read_filter;
use crate::http::accept::Accept;
use crate::http::prelude::*;
use crate::live::{EventStream, LimitReached, Pings, Recheck, Viewer};
use crate::serve::LongLived;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const EVENT_STREAM: &str = "text/event-stream";
/// Seconds after which a client may retry if there are too many streams.
const RETRY_AFTER_S: &str = "10";
const PING_INTERVAL_MAX_S: u32 = 60;

/// Stream events
///
/// Sends events that are visible to the caller as they happen, as Server-Sent Events. The `id` of a message is the ID
/// of the event. A client that reconnects with `Last-Event-ID`, as browsers do by themselves, continues without gaps
/// or duplicates. After 15 seconds without events a comment is sent, with an `id` that only moves the cursor. Scripts
/// in browsers do not see comments: with `pingInterval`, the server sends a message named `ping` instead, with the
/// same `id` and the data `{}`. It is no event; a client uses it only to notice that the connection is dead. A client
/// that reads too slowly for too long is disconnected and can reconnect. The stream follows changes of what the user
/// may see, and ends when the user is disabled or deleted, or when the token or session ends. A cursor older than the
/// retention time of events fails with 410 `cursor-expired`. Too many streams of a user or an account fail with 429
/// `too-many-streams`.
#[utoipa::path(get, path = "/api/stream", tag = "events", params(
    ("Last-Event-ID" = Option<String>, Header, description = "Value of `id` in the last message received; the stream continues after it. Browsers send it when they reconnect. It takes precedence over `cursor`.", max_length = 1000, example = "AAAAAAAAACoAAAAAAAAAAKh8Z1E"),
    ("cursor" = Option<String>, Query, description = "Cursor to continue from: the `id` of an event, `nextCursor` of `GET /api/events`, or `start`. Default: the end of the log.", example = "start"),
    ("types" = Option<String>, Query, description = "Only events of these types, separated by commas. `device.*` means all types that begin with `device.`. Default: all types.", example = "alert.created,device.*"),
    ("devices" = Option<String>, Query, description = "Only events about the devices with these IDs, separated by commas. Default: all events that are visible to the caller.", example = "dev_01jc2m8k4n5p7"),
    ("pingInterval" = Option<u32>, Query, description = "Seconds without events after which a message named `ping` is sent. Default: comments every 15 seconds, and no such messages.", minimum = 1, maximum = 60, example = 3),
), responses((status = 200, description = "The stream. It ends when the server stops or the caller loses access.",
    content((String = "text/event-stream", example = json!("retry: 2000\nid: AAAAAAAAACoAAAAAAAAAAKh8Z1E\n\nid: AAAAAAAAACsAAAAAAAAAAFn1b9o\ndata: {\"id\":\"AAAAAAAAACsAAAAAAAAAAFn1b9o\",\"type\":\"location.created\",\"at\":\"2026-05-01T12:00:03Z\",\"device\":\"dev_01jc2m8k4n5p7\",\"data\":{\"dateTime\":\"2026-05-01T12:00:00Z\",\"latitude\":42.2406,\"longitude\":-8.7207,\"receivedAt\":\"2026-05-01T12:00:03Z\"}}\n\n"))))))]
pub async fn stream_events(
    Call(app, caller): Call,
    headers: HeaderMap,
    mut params: Params,
) -> ApiResult<Response> {
    let cursor = params.text("cursor");
    let filter = read_filter(&mut params);
    let pings = match params.number("pingInterval", 1, PING_INTERVAL_MAX_S) {
        Some(seconds) => Pings::Messages(Duration::from_secs(seconds.into())),
        None => Pings::Comments,
    };
    params.finish()?;
    if Accept::of(&headers).quality(EVENT_STREAM) == 0 {
        return Err(ApiError::new(
            ErrorCode::NotAcceptable,
            "The stream has the media type \"text/event-stream\". Accept that, or use GET /api/events for JSON.",
        ));
    }
    let last = headers.get(LAST_EVENT_ID).map(|id| id.to_str().unwrap_or_default());
    let after = match last.or(cursor.as_deref()) {
        None => app.store.event_end(caller.scope()).await?,
        Some("start" | "0") => 0,
        Some(id) => read_event_id(id)?,
    };
    let permit =
        app.live.streams.permit_stream(caller.account().id, caller.user_id()).map_err(too_many_streams)?;
    let live = Arc::clone(&app.live.streams);
    let (events, opening) =
        EventStream::new(live, StreamCaller { app, caller }, filter, permit, after, pings).await?;
    Ok(reply_stream(events, opening))
}

/// The caller of a stream, whose rights are checked again while it is open.
struct StreamCaller {
    app: App,
    caller: Caller,
}

impl Viewer for StreamCaller {
    fn scope(&self) -> Scope {
        self.caller.scope()
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.app.access.identities.changes()
    }

    async fn recheck(&self) -> Result<Self, Recheck> {
        match self.caller.reauthenticate(&self.app).await {
            Ok(caller) => Ok(Self { app: self.app.clone(), caller }),
            Err(error) if error.code.status().is_server_error() => Err(Recheck::Unavailable),
            Err(error) => Err(Recheck::Refused(error.code.name())),
        }
    }
}

fn reply_stream(events: EventStream<StreamCaller>, opening: Bytes) -> Response {
    let text = stream::unfold((events, Some(opening)), |(mut events, opening)| async move {
        let text = match opening {
            Some(opening) => opening,
            None => events.next().await?,
        };
        Some((Ok::<_, std::convert::Infallible>(text), (events, None)))
    });
    let mut response = Response::new(Body::from_stream(text));
    response.extensions_mut().insert(LongLived);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    // Some proxies buffer answers without this header.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn too_many_streams(reached: LimitReached) -> ApiError {
    let message = match reached {
        LimitReached::User(most) => {
            format!("This user has {most} streams open, the maximum. Close one first.")
        }
        LimitReached::Account(most) => {
            format!("The users of this account have {most} streams open, the maximum. Close one first.")
        }
    };
    ApiError::new(ErrorCode::TooManyStreams, message).with_header(header::RETRY_AFTER, RETRY_AFTER_S)
}
