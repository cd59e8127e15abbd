//! Lists events after a cursor, and waits for new ones if requested.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use perigee_core::access::actor::Scope;
use perigee_core::events::event::{EventFilter, EventPage};

use super::body::{event_id, read_event_id, write_event};
use super::query::read_filter;
use super::view::EventList;
use crate::budget::Payer;
use crate::http::format::json;
use crate::http::poll::wait_for_commit;
use crate::http::prelude::*;
use crate::http::read_turn::ReadTurn;
use crate::http::reply::Envelope;
use crate::http::shared_body::json_of_buffers;
use crate::live::{EventPollKey, Poll, PollAnswer};

const LIMIT: u32 = 100;
const LIMIT_MAX: u32 = 1_000;
/// The longest wait, in seconds.
const WAIT_MAX_S: u32 = 30;
/// How often the log is read again when no event matched, before the client gets a cursor to continue from. Each read
/// examines up to 50,000 entries while other requests wait for their turn.
const EMPTY_READS_MAX: u32 = 4;

/// List events
///
/// Returns events that are visible to the caller, in the order of the event log. Each answer has `nextCursor`, even
/// if there are no events: pass it as `cursor` of the next request to get every event exactly once. Without `cursor`,
/// the list begins with events that happen from now on. With `cursor=start`, it begins with the oldest event that is
/// stored. The `id` of an event can be used as a cursor too. Events are kept for the retention time of the server, 72
/// hours by default; an older cursor fails with 410 `cursor-expired`. With `wait`, the request waits for an event if
/// there is none; too many waiting requests of a user or an account fail with 429.
#[utoipa::path(get, path = "/api/events", tag = "events", params(
    ("cursor" = Option<String>, Query, description = "Cursor to continue from: `nextCursor` of the previous answer, the `id` of an event, or `start`. Default: the end of the log.", example = "start"),
    ("limit" = Option<u32>, Query, description = "Maximum number of events. Default: 100.", minimum = 1, maximum = 1000),
    ("types" = Option<String>, Query, description = "Only events of these types, separated by commas. `device.*` means all types that begin with `device.`. Default: all types.", example = "alert.created,device.*"),
    ("devices" = Option<String>, Query, description = "Only events about the devices with these IDs, separated by commas. Default: all events that are visible to the caller.", example = "dev_01jc2m8k4n5p7"),
    ("wait" = Option<u32>, Query, description = "Maximum time to wait for an event if there is none, in seconds. Default: 0.", minimum = 0, maximum = 30),
), responses((status = 200, description = "The events, in the order of the event log.", body = EventList)))]
pub async fn list_events(Call(app, mut caller): Call, mut params: Params) -> ApiResult<Response> {
    let cursor = params.text("cursor");
    let limit = params.number("limit", 1, LIMIT_MAX).unwrap_or(LIMIT);
    let wait = params.number("wait", 0, WAIT_MAX_S).unwrap_or(0);
    let filter = read_filter(&mut params);
    params.finish()?;
    let mut poll = Poll::begin(&app.live.streams, caller.scope().account, Duration::from_secs(wait.into()));
    let mut after = match cursor.as_deref() {
        None => app.store.event_end(caller.scope()).await?,
        Some("start" | "0") => 0,
        Some(text) => read_event_id(text)?,
    };
    let mut empty_reads = 0;
    let mut answer = Arc::new(read(&app, caller.scope(), &filter, after, limit).await?);
    loop {
        let more = answer.next > after;
        if !answer.is_empty || (more && empty_reads == EMPTY_READS_MAX) {
            return Ok(reply_events(&caller, &answer));
        }
        after = answer.next;
        let end = if more {
            empty_reads += 1;
            None
        } else {
            empty_reads = 0;
            match wait_for_commit(&app, &mut poll, &mut caller).await? {
                Some(end) => Some(end),
                None => return Ok(reply_events(&caller, &answer)),
            }
        };
        // The caller may have lost access while waiting.
        caller = caller.reauthenticate(&app).await?;
        let scope = caller.scope();
        let reads = read(&app, scope, &filter, after, limit);
        answer = match end {
            // All callers that waited at the same cursor wake up together and share one read.
            Some(end) => {
                let key = EventPollKey { scope, filter: filter.clone(), after, limit, end };
                app.live.event_polls.get(key, reads).await?
            }
            None => Arc::new(reads.await?),
        };
    }
}

async fn read(
    app: &App,
    scope: Scope,
    filter: &EventFilter,
    after: i64,
    limit: u32,
) -> ApiResult<PollAnswer> {
    let _slot = ReadTurn::of(app, Payer::account(scope.account)).first().await?;
    let page = app.store.read_events(scope, filter, after, limit).await?;
    Ok(encode(app, &page))
}

fn encode(app: &App, page: &EventPage) -> PollAnswer {
    let mut out = Vec::new();
    out.extend_from_slice(b",\"events\":[");
    let now = app.clock.now();
    for (index, event) in page.events.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_event(&mut out, event, now);
    }
    out.push(b']');
    json::push_next_cursor(&mut out, Some(&event_id(page.next)));
    out.push(b'}');
    PollAnswer { rest: Bytes::from(out), is_empty: page.events.is_empty(), next: page.next }
}

fn reply_events(caller: &Caller, answer: &PollAnswer) -> Response {
    let mut envelope = Vec::new();
    json::open_envelope(&mut envelope, Envelope::of(Some(caller.usage())));
    json_of_buffers([Bytes::from(envelope), answer.rest.clone()])
}
