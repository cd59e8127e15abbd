//! Submits locations and reads the result of each.

use anyhow::{Context, Result};
use reqwest::{Method, StatusCode, header};
use serde::Deserialize;
use serde_json::Value;

use super::client::{Api, refusal};

/// Bodies from this size on are compressed.
const COMPRESSED_FROM: usize = 1024;

/// A body of locations, one JSON object per line.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    body: Vec<u8>,
    is_compressed: bool,
    count: usize,
}

/// The result of a submission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Outcome {
    /// How many are new.
    pub(crate) accepted: u64,
    /// How many were duplicates.
    pub(crate) duplicates: u64,
    /// The locations that were rejected.
    pub(crate) rejected: Vec<Rejected>,
}

/// A location that was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Rejected {
    /// Its index in the submission, from 0.
    pub(crate) index: usize,
    /// The server's reason for rejecting it.
    pub(crate) error: String,
}

impl Submission {
    /// Makes a body from `count` lines.
    pub(crate) fn new(lines: Vec<u8>, count: usize) -> Result<Self> {
        if lines.len() < COMPRESSED_FROM {
            return Ok(Self { body: lines, is_compressed: false, count });
        }
        let body = zstd::encode_all(&lines[..], 1).context("cannot compress the locations")?;
        Ok(Self { body, is_compressed: true, count })
    }
}

impl Api {
    /// Submits locations of a device. Sending them again, for example after a failure, changes nothing.
    pub(crate) async fn submit(&self, device: &str, submission: &Submission) -> Result<Outcome> {
        let url = self.url(&["api", "devices", device, "locations"])?;
        let answer = self
            .call_for_any(Method::POST, url, |request| {
                let request = request.header(header::CONTENT_TYPE, "application/x-ndjson");
                let request = if submission.is_compressed {
                    request.header(header::CONTENT_ENCODING, "zstd")
                } else {
                    request
                };
                request.body(submission.body.clone())
            })
            .await?;
        match answer.status() {
            StatusCode::OK | StatusCode::CREATED => {
                answer.json().await.context("cannot read the server's answer")
            }
            StatusCode::BAD_REQUEST => {
                let body: Value = answer.json().await.unwrap_or_default();
                Ok(all_refused(&body, submission.count))
            }
            _ => Err(refusal(answer).await),
        }
    }
}

/// Every location was rejected; the server lists the reasons of the first ones.
fn all_refused(body: &Value, count: usize) -> Outcome {
    let general = body["error"].as_str().unwrap_or("The server refused it.");
    let reason = |index: usize| {
        let pointer_prefix = format!("/{index}");
        let listed = body["errors"].as_array().into_iter().flatten();
        let of_item = listed.filter(|error| {
            let rest = error["pointer"].as_str().and_then(|pointer| pointer.strip_prefix(&pointer_prefix));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let details: Vec<&str> = of_item.filter_map(|error| error["detail"].as_str()).collect();
        if details.is_empty() { general.to_owned() } else { details.join(" ") }
    };
    let rejected = (0..count).map(|index| Rejected { index, error: reason(index) });
    Outcome { rejected: rejected.collect(), ..Outcome::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reasons_go_to_their_items() {
        let body = json!({"error": "Nothing.", "errors": [
            {"pointer": "/1/latitude", "detail": "\"latitude\" is required."},
            {"pointer": "/11/latitude", "detail": "Other."},
            {"pointer": "/1", "detail": "More."},
        ]});
        let outcome = all_refused(&body, 2);
        let errors: Vec<&str> = outcome.rejected.iter().map(|rejected| rejected.error.as_str()).collect();
        assert_eq!(errors, ["Nothing.", "\"latitude\" is required. More."]);
    }
}
