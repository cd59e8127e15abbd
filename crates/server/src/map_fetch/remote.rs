//! Reads ranges of a file on another server, checks that they are what was requested, and tries again when a
//! connection breaks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use perigee_notify::retry_after::asked_rest_s;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::error::{FetchError, Result, not_tiles};
use super::header::{ROOT_END, Span};
use crate::webhook::Client;

/// The longest pause between two attempts.
const PAUSE_MAX: Duration = Duration::from_mins(1);
/// Maximum length of a range that is read into memory.
const READ_MAX: u64 = 16 * 1024 * 1024;

/// How often and how fast a request is repeated.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Attempts without a single byte in between.
    pub attempts: u32,
    /// The pause before the second attempt. It doubles for each further one.
    pub first_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { attempts: 6, first_pause: Duration::from_secs(1) }
    }
}

/// A file on another server.
#[derive(Debug)]
pub(super) struct Remote {
    client: Client,
    url: Url,
    patience: Patience,
    stop: CancellationToken,
    version: Version,
    received: AtomicU64,
}

/// What tells whether the file is still the same.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Version {
    pub(super) size: u64,
    /// Entity tag, or else the time of the last change.
    pub(super) tag: Option<String>,
}

impl Remote {
    /// Opens the file, and returns its beginning too: 16 KiB, or the whole file if it is shorter. `Ok(None)` if there is
    /// no such file.
    pub(super) async fn open(
        client: &Client,
        url: Url,
        patience: Patience,
        stop: &CancellationToken,
    ) -> Result<Option<(Self, Vec<u8>)>> {
        client.check_url(&url).map_err(|refused| FetchError::Address(refused.to_string()))?;
        let version = Version { size: 0, tag: None };
        let mut remote = Self {
            client: client.clone(),
            url,
            patience,
            stop: stop.clone(),
            version,
            received: AtomicU64::new(0),
        };
        let mut failed = 0;
        loop {
            match remote.begin().await {
                Ok(Some(beginning)) => return Ok(Some((remote, beginning))),
                Ok(None) => return Ok(None),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(why, rest)) => remote.rest(&mut failed, why, rest).await?,
            }
        }
    }

    pub(super) const fn url(&self) -> &Url {
        &self.url
    }

    pub(super) const fn version(&self) -> &Version {
        &self.version
    }

    /// Bytes that were received.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The first request, by which the size and the version of the file become known.
    async fn begin(&mut self) -> std::result::Result<Option<Vec<u8>>, Failure> {
        let mut response = self.request(0, ROOT_END - 1).await?;
        if matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::FORBIDDEN | StatusCode::GONE) {
            return Ok(None);
        }
        let range = Self::partial(&response)?;
        self.version = Version { size: range.size, tag: tag_of(response.headers()) };
        let length = ROOT_END.min(range.size);
        if range.first != 0 || range.last + 1 != length {
            return Err(wrong_range());
        }
        let mut bytes = Vec::new();
        while let Some(part) = self.part(&mut response).await? {
            bytes.extend_from_slice(&part);
            if bytes.len() as u64 > length {
                return Err(wrong_range());
            }
        }
        if (bytes.len() as u64) < length {
            return Err(Failure::Passing("the connection ended in the middle of an answer".to_owned(), None));
        }
        Ok(Some(bytes))
    }

    /// A range in memory.
    pub(super) async fn read(&self, span: Span) -> Result<Vec<u8>> {
        if span.length > READ_MAX {
            return Err(not_tiles("has a directory that is too large"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(span.length).unwrap_or(0));
        self.stream(span, &mut |part| {
            bytes.extend_from_slice(part);
            Ok(())
        })
        .await?;
        Ok(bytes)
    }

    /// Passes a range to a sink, part by part. After a broken connection it continues where it was.
    pub(super) async fn stream(
        &self,
        span: Span,
        sink: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
    ) -> Result<()> {
        let end = span.end().filter(|end| *end <= self.version.size);
        let end = end.ok_or_else(|| not_tiles("has parts outside of the file"))?;
        let (mut at, mut failed) = (span.offset, 0);
        while at < end {
            let before = at;
            match self.attempt(&mut at, end, sink).await {
                Ok(()) => {}
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(why, rest)) => {
                    if at > before {
                        failed = 0;
                    }
                    self.rest(&mut failed, why, rest).await?;
                }
            }
        }
        Ok(())
    }

    async fn attempt(
        &self,
        at: &mut u64,
        end: u64,
        sink: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
    ) -> std::result::Result<(), Failure> {
        let mut response = self.request(*at, end - 1).await?;
        if matches!(response.status(), StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PRECONDITION_FAILED) {
            return Err(FetchError::Changed.into());
        }
        let range = Self::partial(&response)?;
        if range.size != self.version.size || tag_of(response.headers()) != self.version.tag {
            return Err(FetchError::Changed.into());
        }
        if range.first != *at || range.last != end - 1 {
            return Err(wrong_range());
        }
        while let Some(part) = self.part(&mut response).await? {
            if part.len() as u64 > end - *at {
                return Err(wrong_range());
            }
            sink(&part)?;
            *at += part.len() as u64;
            self.received.fetch_add(part.len() as u64, Ordering::Relaxed);
        }
        if *at < end {
            return Err(Failure::Passing("the connection ended in the middle of an answer".to_owned(), None));
        }
        Ok(())
    }

    async fn request(&self, first: u64, last: u64) -> std::result::Result<reqwest::Response, Failure> {
        let asked = self.client.get_range(&self.url, first, last);
        let answered = tokio::select! {
            () = self.stop.cancelled() => return Err(FetchError::Stopped.into()),
            answered = asked => answered,
        };
        answered.map_err(|why| Failure::Passing(why, None))
    }

    async fn part(
        &self,
        response: &mut reqwest::Response,
    ) -> std::result::Result<Option<bytes::Bytes>, Failure> {
        let part = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Err(FetchError::Stopped.into()),
            part = response.chunk() => part,
        };
        part.map_err(|error| Failure::Passing(self.client.explain(&error), None))
    }

    /// The range of an answer, if it has one.
    fn partial(response: &reqwest::Response) -> std::result::Result<ContentRange, Failure> {
        let status = response.status();
        if status == StatusCode::PARTIAL_CONTENT {
            let range = response.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
            return range.and_then(ContentRange::read).ok_or_else(wrong_range);
        }
        if status == StatusCode::OK {
            return Err(not_tiles(
                "is on a server that does not send parts of a file (byte ranges); use another server",
            )
            .into());
        }
        if status.is_redirection() {
            return Err(not_tiles(
                "is at another address: redirects are not followed, so give the final one",
            )
            .into());
        }
        let why = format!("the server of the source answered with status {}", status.as_u16());
        let passes = status.is_server_error()
            || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        Err(if passes {
            Failure::Passing(why, asked_rest_s(response.headers()))
        } else {
            FetchError::Unreachable(why).into()
        })
    }

    /// Waits before the next attempt; fails if there were enough.
    async fn rest(&self, failed: &mut u32, why: String, asked_s: Option<u32>) -> Result<()> {
        *failed += 1;
        if *failed >= self.patience.attempts {
            return Err(FetchError::Unreachable(why));
        }
        let doubled = self.patience.first_pause.saturating_mul(1 << (*failed - 1).min(10));
        let asked = Duration::from_secs(asked_s.unwrap_or(0).into());
        tracing::info!(why, "a part of a map could not be read; trying again");
        tokio::select! {
            () = self.stop.cancelled() => Err(FetchError::Stopped),
            () = tokio::time::sleep(doubled.max(asked).min(PAUSE_MAX)) => Ok(()),
        }
    }
}

/// Why an attempt failed.
enum Failure {
    /// Trying again makes no difference.
    Final(FetchError),
    /// Trying again may help, after this many seconds.
    Passing(String, Option<u32>),
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        Self::Final(error)
    }
}

fn wrong_range() -> Failure {
    not_tiles("is on a server that sends other parts of the file than were requested").into()
}

/// `Content-Range`, as RFC 9110 (section 14.4) defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContentRange {
    first: u64,
    last: u64,
    size: u64,
}

impl ContentRange {
    fn read(text: &str) -> Option<Self> {
        let (range, size) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let range = Self { first: first.parse().ok()?, last: last.parse().ok()?, size: size.parse().ok()? };
        (range.first <= range.last && range.last < range.size).then_some(range)
    }
}

fn tag_of(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text(header::ETAG).or_else(|| text(header::LAST_MODIFIED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_read() {
        let range = |first, last, size| Some(ContentRange { first, last, size });
        assert_eq!(ContentRange::read("bytes 0-9/100"), range(0, 9, 100));
        assert_eq!(ContentRange::read("bytes 99-99/100"), range(99, 99, 100));
        for bad in
            ["bytes 0-9/*", "bytes */100", "bytes 9-0/100", "bytes 0-100/100", "items 0-9/100", "", "bytes"]
        {
            assert_eq!(ContentRange::read(bad), None, "{bad}");
        }
    }
}
