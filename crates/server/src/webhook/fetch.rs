//! Fetches from addresses that users set, with the guarded client of webhooks.

use perigee_notify::retry_after::asked_rest_s;
use url::Url;

use super::attempt::explain;
use super::client::Client;

/// The credentials of a request. Never logged, and never part of an error.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// The URL is enough.
    None,
    /// HTTP Basic.
    Basic {
        /// May be empty.
        user: String,
        /// As the provider gave it.
        password: String,
    },
    /// A header that the provider defines.
    Header {
        /// In lower case.
        name: &'static str,
        /// As the provider gave it.
        value: String,
    },
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// HTTP status.
    pub status: u16,
    /// Seconds that the server asks to wait (`Retry-After`).
    pub rest_s: Option<u32>,
    /// `None` if there was no memory for it, or it is longer than was allowed.
    pub body: Option<Vec<u8>>,
}

/// The answer to a request that handed something over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// HTTP status.
    pub status: u16,
    /// Seconds that the server asks to wait (`Retry-After`).
    pub rest_s: Option<u32>,
    /// The beginning of the answer.
    pub body: Vec<u8>,
}

/// Why there is no answer. Each is a sentence without the address, which may have a password in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostError {
    /// The address is not allowed.
    Refused(String),
    /// No connection was made: the request did not arrive.
    NotSent(String),
    /// The connection broke, or no answer came in time: the request may have arrived.
    Unclear(String),
}

impl Client {
    /// Posts to an address that the guard allows, once, and reads up to `most` bytes of the answer.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
        most: usize,
    ) -> Result<Posted, PostError> {
        let url = self.guard.parse(url);
        let url =
            url.map_err(|refused| PostError::Refused(format!("Nothing was sent: the URL {refused}.")))?;
        let mut request = self.http.post(url).body(body);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let sent = request.send().await;
        let mut response = sent.map_err(|error| {
            let reason = explain(self, &error);
            if error.is_connect() || error.is_builder() {
                PostError::NotSent(reason)
            } else {
                PostError::Unclear(reason)
            }
        })?;
        let (status, rest_s) = (response.status().as_u16(), asked_rest_s(response.headers()));
        let mut body = Vec::new();
        // The status is known; a body that breaks off is read as far as it came.
        while let Ok(Some(part)) = response.chunk().await {
            let room = most.saturating_sub(body.len());
            body.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
            if body.len() >= most {
                break;
            }
        }
        Ok(Posted { status, rest_s, body })
    }

    /// Requests a range of bytes, both ends included, from an address that the guard allows. An error is a sentence
    /// without the address.
    pub async fn get_range(&self, url: &Url, first: u64, last: u64) -> Result<reqwest::Response, String> {
        self.guard.check_url(url).map_err(|refused| format!("Nothing was fetched: the URL {refused}."))?;
        let request = self.http.get(url.clone()).header("range", format!("bytes={first}-{last}"));
        // Compressed bytes would not be those of the range.
        let request = request.header("accept-encoding", "identity");
        request.send().await.map_err(|error| explain(self, &error))
    }

    /// Why an answer broke off, as a sentence without the address.
    pub fn explain(&self, error: &reqwest::Error) -> String {
        explain(self, error)
    }

    /// Fetches an address that the guard allows. `reserve` is called with the size of each part of the answer, in
    /// bytes, and may refuse it. An error is a sentence without the address, which may have a password in it.
    pub async fn fetch(
        &self,
        url: &Url,
        credentials: &Credentials,
        mut reserve: impl FnMut(usize) -> bool,
    ) -> Result<Fetched, String> {
        self.guard.check_url(url).map_err(|refused| format!("Nothing was fetched: the URL {refused}."))?;
        let request = self.http.get(url.clone());
        let request = match credentials {
            Credentials::None => request,
            Credentials::Basic { user, password } => request.basic_auth(user, Some(password)),
            Credentials::Header { name, value } => request.header(*name, value),
        };
        let mut response = request.send().await.map_err(|error| explain(self, &error))?;
        let (status, rest_s) = (response.status().as_u16(), asked_rest_s(response.headers()));
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| explain(self, &error))? {
            if !reserve(part.len()) {
                return Ok(Fetched { status, rest_s, body: None });
            }
            body.extend_from_slice(&part);
        }
        Ok(Fetched { status, rest_s, body: Some(body) })
    }
}
