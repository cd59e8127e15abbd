//! Lists: complete and streamed, as clients of the original API expect, or in pages with a cursor.

use std::future::Future;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::{HeaderValue, header};
use perigee_core::error::Cause;
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result as StoreResult;
use serde::Serialize;

use super::cursor::Cursor;
use super::error::{ApiResult, chain, internal};
use super::extract::{Caller, ListPart};
use super::held_answer::{hold, hold_parts};
use super::read_turn::ReadTurn;
use super::reply::Envelope;
use crate::app::App;
use crate::budget::Permit;

/// The most items fetched at a time.
const FETCH_MAX: u32 = 1_000;
/// Items fetched first, before it is known how large they are: a group may name 10,000 devices.
const FETCH_FIRST: u32 = 100;
/// The usual size of a part of a streamed list.
const PART_BYTES: usize = 512 * 1024;
/// The size at which a page ends although more items were requested.
const PAGE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A position in a list ordered by number, or by time and number.
pub(super) trait Position: Copy + Send + Sync + 'static {
    /// The cursor of this position.
    fn cursor(self) -> Cursor;
}

impl Position for i64 {
    fn cursor(self) -> Cursor {
        Cursor::at(self)
    }
}

/// Declares the answer of a list in pages: its name in the document, and the member that holds the items.
macro_rules! list {
    (
        $(#[doc = $about:tt])* $visibility:vis struct $list:ident;
        $(#[doc = $items_are:tt])* $items:ident: $item:ident,
    ) => {
        $(#[doc = $about])*
        #[derive(serde::Serialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        $visibility struct $list {
            $(#[doc = $items_are])*
            $items: Vec<$item>,
            /// Cursor of the next page. Absent on the last page.
            #[serde(skip_serializing_if = "Option::is_none")]
            next_cursor: Option<String>,
        }
    };
}

pub(crate) use list;

/// Items of a list and the position after them.
pub(super) type Part<T, K> = (Vec<T>, Option<K>);

/// The requested part of a list.
#[derive(Debug)]
pub(super) struct PageQuery<K> {
    /// The most items of a page; None if everything is wanted.
    pub(super) page: Option<u32>,
    /// The position to begin after; None for the beginning.
    pub(super) after: Option<K>,
    /// The name its cursors are bound to.
    pub(super) list: String,
    /// Path and query for the `Link` to the next page; None if the request was a POST.
    pub(super) link: Option<String>,
}

/// The state of a complete list while it is streamed.
struct Rest<F, G, K> {
    fetch: F,
    write: G,
    next: Option<K>,
    fetch_count: u32,
    closed: bool,
    request: String,
    /// Each part waits for its turn.
    turn: ReadTurn,
    /// Accounts for the memory of the part that the client has not read yet.
    _permit: Permit,
}

/// Answers a list under its plural name. `fetch` gives pages, `view` what a client sees of an item.
pub async fn answer_list<T, V, F, P, G>(
    app: &App,
    caller: &Caller,
    name: &'static str,
    part: ListPart,
    fetch: F,
    view: G,
) -> ApiResult<Response>
where
    T: Send + 'static,
    V: Serialize + 'static,
    F: Fn(PageRequest) -> P + Send + Sync + 'static,
    P: Future<Output = StoreResult<Page<T>>> + Send + 'static,
    G: Fn(T) -> V + Send + Sync + 'static,
{
    answer_written_list(app, caller, name, part, fetch, written(view)).await
}

/// A function that writes the view of an item as JSON.
pub(super) fn written<T, V: Serialize>(
    view: impl Fn(T) -> V + Send + Sync + 'static,
) -> impl Fn(&mut Vec<u8>, T) -> serde_json::Result<()> + Send + Sync + 'static {
    move |out, item| serde_json::to_writer(out, &view(item))
}

/// Answers a list under its plural name. `fetch` gives pages, `write` writes an item as JSON.
pub async fn answer_written_list<T, F, P, G>(
    app: &App,
    caller: &Caller,
    name: &'static str,
    part: ListPart,
    fetch: F,
    write: G,
) -> ApiResult<Response>
where
    T: Send + 'static,
    F: Fn(PageRequest) -> P + Send + Sync + 'static,
    P: Future<Output = StoreResult<Page<T>>> + Send + 'static,
    G: Fn(&mut Vec<u8>, T) -> serde_json::Result<()> + Send + Sync + 'static,
{
    let query = PageQuery {
        page: part.page.map(|page| page.limit),
        after: part.page.and_then(|page| page.after),
        list: part.list.to_owned(),
        link: Some(part.link),
    };
    let fetch = move |after, limit| {
        let page = fetch(PageRequest { after, limit });
        async move { page.await.map(|page| (page.items, page.next)) }
    };
    answer_parts(app, caller, name, query, fetch, write).await
}

/// Answers one page of a list, or streams all of it with one part in memory at a time.
pub(super) async fn answer_parts<T, K, F, P, G>(
    app: &App,
    caller: &Caller,
    name: &'static str,
    query: PageQuery<K>,
    fetch: F,
    write: G,
) -> ApiResult<Response>
where
    T: Send + 'static,
    K: Position,
    F: Fn(Option<K>, u32) -> P + Send + Sync + 'static,
    P: Future<Output = StoreResult<Part<T, K>>> + Send + 'static,
    G: Fn(&mut Vec<u8>, T) -> serde_json::Result<()> + Send + Sync + 'static,
{
    let mut bytes = open(caller, name)?;
    let enough = if query.page.is_some() { PAGE_BYTES_MAX } else { PART_BYTES };
    let mut left = query.page.unwrap_or(u32::MAX);
    let (mut next, mut fetch_count, mut is_first) = (query.after, FETCH_FIRST, true);
    let turn = ReadTurn::of(app, caller.payer());
    let slot = turn.first().await?;
    loop {
        let (items, after) = fetch(next, fetch_count.min(left)).await?;
        let (count, before) = (u32::try_from(items.len()).unwrap_or(u32::MAX), bytes.len());
        write_items(&mut bytes, items, &write, is_first).map_err(internal)?;
        fetch_count = next_fetch_count(count, bytes.len() - before);
        left = left.saturating_sub(count);
        (next, is_first) = (after, false);
        if next.is_none() || left == 0 || bytes.len() >= enough {
            break;
        }
    }
    drop(slot);

    let next_cursor = next.filter(|_| query.page.is_some()).map(|next| next.cursor().write(&query.list));
    let mut response = match next {
        Some(next) if query.page.is_none() => {
            let permit = hold_parts(app, caller.payer(), bytes.capacity())?;
            let rest = Rest {
                _permit: permit,
                fetch_count,
                fetch,
                write,
                next: Some(next),
                closed: false,
                request: caller.request_id().to_owned(),
                turn,
            };
            let opening = stream::once(async { Ok::<_, Cause>(Bytes::from(bytes)) });
            Response::new(Body::from_stream(opening.chain(stream::try_unfold(rest, send_next))))
        }
        _ => Response::new(Body::from(hold(app, caller.payer(), close(bytes, next_cursor.as_deref()))?)),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let (Some(link), Some(cursor)) = (query.link, next_cursor) {
        let link = format!("<{}{cursor}>; rel=\"next\"", app.base_url.join(&link));
        headers.insert(header::LINK, HeaderValue::from_str(&link).map_err(internal)?);
    }
    Ok(response)
}

/// Sends the next items while the client reads. A failure closes the connection, so that a partial list is not
/// mistaken for a complete one.
async fn send_next<T, K, F, P, G>(mut rest: Rest<F, G, K>) -> Result<Option<(Bytes, Rest<F, G, K>)>, Cause>
where
    F: Fn(Option<K>, u32) -> P,
    P: Future<Output = StoreResult<Part<T, K>>>,
    G: Fn(&mut Vec<u8>, T) -> serde_json::Result<()>,
{
    let Some(after) = rest.next.take() else {
        let end = (!rest.closed).then(|| Bytes::from_static(b"]}"));
        rest.closed = true;
        return Ok(end.map(|end| (end, rest)));
    };
    let mut bytes = Vec::new();
    let slot = rest.turn.next().await?;
    let sent = match (rest.fetch)(Some(after), rest.fetch_count).await {
        Ok((items, next)) => {
            let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
            let written = write_items(&mut bytes, items, &rest.write, false).map_err(Cause::from);
            (rest.next, rest.fetch_count) = (next, next_fetch_count(count, bytes.len()));
            written
        }
        Err(error) => Err(Cause::from(error)),
    };
    drop(slot);
    match sent {
        Ok(()) => Ok(Some((Bytes::from(bytes), rest))),
        Err(cause) => {
            // The status was sent already, so the cause can only be logged.
            tracing::error!(
                request = rest.request,
                cause = chain(&*cause),
                "the answer with a list was cut off"
            );
            Err(cause)
        }
    }
}

/// Number of items to fetch next for a part of the usual size, given the size of the previous items.
fn next_fetch_count(count: u32, bytes: usize) -> u32 {
    let each = bytes / usize::try_from(count).unwrap_or(1).max(1);
    u32::try_from(PART_BYTES / each.max(1)).unwrap_or(FETCH_MAX).clamp(1, FETCH_MAX)
}

/// The envelope, up to the opening bracket of the list.
fn open(caller: &Caller, name: &str) -> ApiResult<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&Envelope::of(Some(caller.usage()))).map_err(internal)?;
    bytes.pop();
    bytes.extend(format!(",\"{name}\":[").as_bytes());
    Ok(bytes)
}

fn write_items<T>(
    bytes: &mut Vec<u8>,
    items: Vec<T>,
    write: &impl Fn(&mut Vec<u8>, T) -> serde_json::Result<()>,
    first: bool,
) -> serde_json::Result<()> {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 || !first {
            bytes.push(b',');
        }
        write(bytes, item)?;
    }
    Ok(())
}

fn close(mut bytes: Vec<u8>, next_cursor: Option<&str>) -> Vec<u8> {
    bytes.push(b']');
    if let Some(cursor) = next_cursor {
        bytes.extend(format!(",\"nextCursor\":\"{cursor}\"").as_bytes());
    }
    bytes.push(b'}');
    bytes
}
