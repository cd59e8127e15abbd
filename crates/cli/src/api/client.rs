//! An authenticated HTTP client of a server, with retries. Errors show the server's own message.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use perigee_core::time::{Clock, SystemClock, Timestamp};
use perigee_notify::retry_after::asked_rest_s;
use perigee_tls::{Trust, client_config};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use url::Url;

use crate::args::Remote;

/// Attempts before a request is given up.
const ATTEMPTS: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time without data after which an answer is given up.
const READ_TIMEOUT: Duration = Duration::from_mins(1);
/// How long before its expiry a token is renewed.
const RENEW_BEFORE_S: i64 = 60;

/// A client of one server.
pub(crate) struct Api {
    http: Client,
    base: Url,
    credential: Credential,
    /// The current token; the first request after it is due for renewal renews it.
    token: Mutex<Option<Token>>,
    clock: SystemClock,
}

enum Credential {
    Key { user_name: String, api_key: SecretString },
    Token(SecretString),
}

#[derive(Clone)]
struct Token {
    text: Arc<SecretString>,
    expires: Timestamp,
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: Option<SecretString>,
    expires: Option<String>,
    error: Option<String>,
}

impl Api {
    /// Makes a client from these options.
    pub(crate) fn new(remote: &Remote) -> Result<Self> {
        let credential = match (&remote.token, &remote.user_name, &remote.api_key) {
            (Some(token), _, _) => Credential::Token(token.clone()),
            (None, Some(user_name), Some(api_key)) => {
                Credential::Key { user_name: user_name.clone(), api_key: api_key.clone() }
            }
            _ => bail!("give --user-name and --api-key (or PERIGEE_API_KEY), or --token (or PERIGEE_TOKEN)"),
        };
        if !matches!(remote.url.scheme(), "http" | "https") {
            bail!("{} is not the URL of a server; it must begin with http:// or https://", remote.url);
        }
        let http = Client::builder()
            .tls_backend_preconfigured(tls(remote.ca.as_deref())?)
            .user_agent(concat!("perigee/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .context("cannot set up the HTTP client")?;
        let clock = SystemClock;
        Ok(Self { http, base: remote.url.clone(), credential, token: Mutex::new(None), clock })
    }

    /// The base URL of the server.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// A URL below the base URL; each path segment is escaped.
    pub(crate) fn url(&self, path: &[&str]) -> Result<Url> {
        let mut url = self.base.clone();
        let mut segments = url.path_segments_mut().map_err(|()| {
            anyhow!("{} is not the URL of a server; give one such as https://track.example.com", self.base)
        })?;
        segments.pop_if_empty().extend(path);
        drop(segments);
        Ok(url)
    }

    /// Sends a request. Returns a successful answer, or the server's error.
    pub(crate) async fn call(
        &self,
        method: Method,
        url: Url,
        complete: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response> {
        let answer = self.call_for_any(method, url, complete).await?;
        if answer.status().is_success() { Ok(answer) } else { Err(refusal(answer).await) }
    }

    /// Sends a request. Returns any answer that a retry would not change.
    pub(crate) async fn call_for_any(
        &self,
        method: Method,
        url: Url,
        complete: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response> {
        let mut has_renewed = false;
        let mut attempt = 1;
        loop {
            let token = self.token().await?;
            let request = self.http.request(method.clone(), url.clone()).bearer_auth(token.expose_secret());
            let wait = match complete(request).send().await {
                Ok(answer) if answer.status() == StatusCode::UNAUTHORIZED && !has_renewed => {
                    has_renewed = true;
                    self.token.lock().await.take();
                    continue;
                }
                Ok(answer) if !is_temporary(answer.status()) || attempt == ATTEMPTS => return Ok(answer),
                Ok(answer) => asked_wait(&answer).unwrap_or_else(|| wait_after(attempt)),
                Err(error) if attempt == ATTEMPTS || error.is_builder() => {
                    return Err(error).with_context(|| format!("cannot reach {}", self.base));
                }
                Err(_another_attempt_may_pass) => wait_after(attempt),
            };
            tokio::time::sleep(wait.min(LONGEST_WAIT)).await;
            attempt += 1;
        }
    }

    async fn token(&self) -> Result<Arc<SecretString>> {
        let (user_name, api_key) = match &self.credential {
            Credential::Token(token) => return Ok(Arc::new(token.clone())),
            Credential::Key { user_name, api_key } => (user_name, api_key),
        };
        let mut held = self.token.lock().await;
        let renew_at = self.clock.now().plus_seconds(RENEW_BEFORE_S);
        if let Some(token) = held.as_ref().filter(|token| token.expires > renew_at) {
            return Ok(Arc::clone(&token.text));
        }
        let body = json!({"userName": user_name, "apiKey": api_key.expose_secret()});
        let fresh = self.request_token(&body).await?;
        let text = Arc::clone(&fresh.text);
        *held = Some(fresh);
        Ok(text)
    }

    async fn request_token(&self, body: &Value) -> Result<Token> {
        let url = self.url(&["api", "Auth", "Token"])?;
        let unreachable = || format!("cannot reach {}", self.base);
        let answer = self.http.post(url).json(body).send().await.with_context(unreachable)?;
        let status = answer.status();
        let answer: TokenAnswer = answer
            .json()
            .await
            .with_context(|| format!("{} is not a Perigee server; check the URL", self.base))?;
        let expires = answer.expires.as_deref().and_then(|text| text.parse().ok());
        match (answer.token, expires) {
            (Some(token), Some(expires)) => Ok(Token { text: Arc::new(token), expires }),
            _ => bail!(
                "{}",
                answer.error.unwrap_or_else(|| format!(
                    "the server did not issue a token (status {status}); try again later"
                ))
            ),
        }
    }
}

/// The server's error message.
pub(crate) async fn refusal(answer: Response) -> anyhow::Error {
    let status = answer.status();
    let body: Value = answer.json().await.unwrap_or_default();
    let code = body["code"].as_str().unwrap_or_default();
    match body["error"].as_str() {
        Some(error) if code.is_empty() => anyhow!("{error} ({})", status.as_u16()),
        Some(error) => anyhow!("{error} ({} {code})", status.as_u16()),
        None => anyhow!("the server answered with status {status}"),
    }
}

/// Whether a retry may get another answer.
fn is_temporary(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn asked_wait(answer: &Response) -> Option<Duration> {
    asked_rest_s(answer.headers()).map(|seconds| Duration::from_secs(seconds.into()))
}

fn wait_after(attempt: u32) -> Duration {
    FIRST_WAIT * 2_u32.saturating_pow(attempt.saturating_sub(1))
}

/// Trusts the given certificates, or the public ones.
pub(crate) fn tls(ca: Option<&Path>) -> Result<rustls::ClientConfig> {
    let trust = ca.map_or(Trust::Public, |path| Trust::File(path.to_owned()));
    Ok(client_config(&trust)?)
}
