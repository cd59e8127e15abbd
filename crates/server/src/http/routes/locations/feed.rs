//! Locations of all visible devices in order of arrival.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use perigee_core::access::actor::Scope;
use perigee_core::locations::location::Feed;

use super::view::LocationFeed;
use crate::budget::Payer;
use crate::http::cursor::Cursor;
use crate::http::format::{Selection, json};
use crate::http::history::LIMIT_MAX;
use crate::http::poll::wait_for_commit;
use crate::http::prelude::*;
use crate::http::read_turn::ReadTurn;
use crate::http::reply::Envelope;
use crate::http::shared_body::json_of_buffers;
use crate::live::{FeedPollKey, Poll, PollAnswer};

/// The name that the cursors of this list are bound to.
const LIST: &str = "locations feed";
const LIMIT: u32 = 1_000;
/// The longest wait, in seconds.
const WAIT_MAX_S: u32 = 30;

/// List locations in order of arrival
///
/// Returns locations of all devices that the caller may see, in the order in which they were received, including
/// locations that were received late. A client that passes `nextCursor` of each answer as `cursor` of the next request
/// receives every location exactly once. `nextCursor` is present in every answer, even if there are no locations.
/// Without `cursor`, the answer has no locations and a `nextCursor` from which locations that arrive from now on are
/// listed. With `cursor=start` or `cursor=0`, the list begins with the oldest stored location. With `wait`, the request
/// waits until a location arrives or the time is over. Any user may call this operation.
#[utoipa::path(get, path = "/api/locations/feed", tag = "locations", params(
    ("cursor" = Option<String>, Query, description = "Cursor to continue from: `nextCursor` of the previous answer, or `start` for the oldest stored location. Default: locations that arrive from now on.", example = "start"),
    ("limit" = Option<u32>, Query, description = "Maximum number of locations. Default: 1000.", minimum = 1, maximum = 10000),
    ("wait" = Option<u32>, Query, description = "Maximum time to wait for a location if there is none yet, in seconds. Default: 0, which answers immediately.", minimum = 0, maximum = 30),
), responses((status = 200, description = "Locations in order of arrival.", body = LocationFeed)))]
pub async fn list_location_feed(Call(app, mut caller): Call, mut params: Params) -> ApiResult<Response> {
    let cursor = params.text("cursor");
    let limit = params.number("limit", 1, LIMIT_MAX).unwrap_or(LIMIT);
    let wait = params.number("wait", 0, WAIT_MAX_S).unwrap_or(0);
    params.finish()?;
    let mut poll = Poll::begin(&app.live.streams, caller.scope().account, Duration::from_secs(wait.into()));
    let after = match cursor.as_deref() {
        None => app.store.feed_end(caller.scope()).await?,
        Some("start" | "0") => 0,
        Some(text) => Cursor::read(LIST, text)?.number,
    };
    let mut answer = Arc::new(read(&app, caller.scope(), after, limit).await?);
    while answer.is_empty {
        let Some(end) = wait_for_commit(&app, &mut poll, &mut caller).await? else { break };
        // The caller may have lost access while waiting.
        caller = caller.reauthenticate(&app).await?;
        // All callers that waited at the same cursor wake up together and share one read.
        let (scope, after) = (caller.scope(), answer.next);
        let key = FeedPollKey { scope, after, limit, end };
        answer = app.live.feed_polls.get(key, read(&app, scope, after, limit)).await?;
    }
    let mut envelope = Vec::new();
    json::open_envelope(&mut envelope, Envelope::of(Some(caller.usage())));
    Ok(json_of_buffers([Bytes::from(envelope), answer.rest.clone()]))
}

async fn read(app: &App, scope: Scope, after: i64, limit: u32) -> ApiResult<PollAnswer> {
    let _slot = ReadTurn::of(app, Payer::account(scope.account)).first().await?;
    Ok(encode(&app.store.list_location_feed(scope, after, limit).await?))
}

fn encode(feed: &Feed) -> PollAnswer {
    let mut out = Vec::new();
    out.extend_from_slice(b",\"locations\":[");
    for (index, (device, stored)) in feed.items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        json::write_location(&mut out, Some(*device), stored, Selection::ALL);
    }
    out.push(b']');
    json::push_next_cursor(&mut out, Some(&Cursor::at(feed.next).write(LIST)));
    out.push(b'}');
    PollAnswer { rest: Bytes::from(out), is_empty: feed.items.is_empty(), next: feed.next }
}
