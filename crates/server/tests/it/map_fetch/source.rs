//! A server with a file of tiles on a real socket: it sends ranges, refuses them, breaks off, hangs, or changes the file.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{HeaderMap, StatusCode, Uri, header};
use tokio::sync::Notify;

use super::tiles::index;

/// How the server answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mood {
    /// Sends the range.
    #[default]
    Good,
    /// Sends the whole file.
    NoRanges,
    /// Sends half of each range and closes the connection.
    BreaksOff,
    /// Accepts the request and sends nothing.
    Hangs,
    /// Answers with this status.
    Status(u16),
    /// Sends other bytes than were requested.
    OtherRange,
    /// Sends a redirect.
    Redirects,
}

#[derive(Clone, Default)]
pub(super) struct Source {
    inner: Arc<Mutex<Inner>>,
    /// Notified for each request that hangs.
    pub(super) hung: Arc<Notify>,
}

#[derive(Default)]
struct Inner {
    file: Bytes,
    tag: String,
    mood: Mood,
    /// Requests that are answered well before the mood shows.
    good_first: usize,
    /// Requests for which the mood lasts; then it is good again.
    lasts: usize,
    asked: Vec<(String, u64, u64)>,
}

impl Source {
    pub(super) async fn start(file: Vec<u8>) -> (Self, String) {
        let source = Self::default();
        source.replace(file, "\"one\"");
        let answer = |State(source): State<Self>, uri: Uri, headers: HeaderMap| async move {
            source.answer(&uri, &headers).await
        };
        let router = Router::new().fallback(answer).with_state(source.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (source, url)
    }

    pub(super) fn replace(&self, file: Vec<u8>, tag: &str) {
        let mut inner = self.inner.lock().unwrap();
        inner.file = file.into();
        tag.clone_into(&mut inner.tag);
    }

    /// Answers well `good_first` times, then in this mood for `lasts` requests.
    pub(super) fn mood(&self, mood: Mood, good_first: usize, lasts: usize) {
        let mut inner = self.inner.lock().unwrap();
        (inner.mood, inner.good_first, inner.lasts) = (mood, good_first, lasts);
    }

    /// Paths and ranges of the requests since the last call.
    pub(super) fn asked(&self) -> Vec<(String, u64, u64)> {
        std::mem::take(&mut self.inner.lock().unwrap().asked)
    }

    async fn answer(&self, uri: &Uri, headers: &HeaderMap) -> Response {
        assert!(!headers.contains_key("cookie") && !headers.contains_key("authorization"));
        let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).unwrap();
        let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
        let (file, tag, mood) = {
            let mut inner = self.inner.lock().unwrap();
            inner.asked.push((uri.path().to_owned(), first, last));
            let mood = if inner.good_first > 0 {
                inner.good_first -= 1;
                Mood::Good
            } else if inner.lasts > 0 {
                inner.lasts -= 1;
                inner.mood
            } else {
                Mood::Good
            };
            (inner.file.clone(), inner.tag.clone(), mood)
        };
        if !uri.path().ends_with(".pmtiles") {
            return StatusCode::NOT_FOUND.into_response();
        }
        let size = file.len() as u64;
        let last = last.min(size - 1);
        let part = |first: u64, last: u64| file.slice(index(first)..=index(last));
        let partial = |first: u64, last: u64, body: Body| {
            let range = format!("bytes {first}-{last}/{size}");
            let length = (last + 1 - first).to_string();
            let headers = [("content-range", range), ("etag", tag.clone()), ("content-length", length)];
            (StatusCode::PARTIAL_CONTENT, headers, body).into_response()
        };
        match mood {
            Mood::Good => partial(first, last, part(first, last).into()),
            Mood::NoRanges => file.into_response(),
            Mood::BreaksOff => {
                let half = part(first, first + (last - first) / 2);
                let sent = futures_util::stream::once(async { Ok(half) });
                // What was sent is written to the connection while the body has nothing.
                let broken = futures_util::stream::once(async {
                    tokio::task::yield_now().await;
                    Err(std::io::Error::other("broken off"))
                });
                partial(first, last, Body::from_stream(sent.chain(broken)))
            }
            Mood::Hangs => {
                self.hung.notify_one();
                std::future::pending().await
            }
            Mood::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
            Mood::OtherRange => partial(first + 1, last, part(first + 1, last).into()),
            Mood::Redirects => {
                (StatusCode::FOUND, [("location", "http://127.0.0.1:9/world.pmtiles")]).into_response()
            }
        }
    }
}
