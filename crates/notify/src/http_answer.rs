//! The part of an HTTP answer that is read, and why there is none.

use reqwest::Response;

use crate::retry_after::asked_rest_s;

/// Maximum number of bytes of an answer that are read; more is not needed.
const ANSWER_MAX: usize = 64 * 1024;

/// The part of an answer that was read.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    /// Seconds that it asks to wait.
    pub(crate) retry_after: Option<u32>,
    /// The body; `None` if it was too long or the connection was lost.
    pub(crate) body: Option<Vec<u8>>,
}

/// Reads an answer.
pub(crate) async fn read(mut response: Response) -> HttpAnswer {
    let status = response.status().as_u16();
    let retry_after = asked_rest_s(response.headers());
    let mut body = Vec::new();
    let body = loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() <= ANSWER_MAX => body.extend_from_slice(&chunk),
            Ok(None) => break Some(body),
            Ok(Some(_)) | Err(_) => break None,
        }
    };
    HttpAnswer { status, retry_after, body }
}

/// The innermost cause, which is the most specific.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
