//! The part of HTTP that the simulated providers speak.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::{Downlink, Fault, Interface, Taken, cloudloop, garmin, rockblock};

/// Maximum number of bytes of a request.
const BODY_MAX: usize = 64 * 1024;

/// Status, further header lines and body of an answer.
pub(super) type Answer = (u16, String, String);

/// A request as the simulated provider reads it.
pub(super) struct Request<'a> {
    /// Path and query, as they were sent.
    pub path: &'a str,
    /// The header `X-API-Key`, by which Garmin authenticates.
    pub key: Option<&'a str>,
    pub body: &'a [u8],
}

impl Request<'_> {
    /// The path without its query.
    pub(super) fn bare_path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// A member of a form in the body, as it was sent; none of the members that are read need decoding.
    pub(super) fn field(&self, name: &str) -> String {
        let body = String::from_utf8_lossy(self.body);
        let found = body.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    }
}

/// Answers the requests of one connection.
pub(super) async fn talk(provider: &Downlink, stream: TcpStream) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        let path = line.split(' ').nth(1)?.to_owned();
        let (mut length, mut key) = (0_usize, None);
        loop {
            line.clear();
            stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    length = value.trim().parse().ok().filter(|length| *length <= BODY_MAX)?;
                }
                "x-api-key" => key = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        let request = Request { path: &path, key: key.as_deref(), body: &body };
        let (status, extra, body) = answer(provider, &request)?;
        provider.wait().await;
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n{extra}\r\n", body.len());
        stream.write_all(head.as_bytes()).await.ok()?;
        stream.write_all(body.as_bytes()).await.ok()?;
    }
}

/// The answer to a request; `None` to close the connection.
pub(super) fn answer(provider: &Downlink, request: &Request<'_>) -> Option<Answer> {
    let fault = provider.begin();
    match fault {
        Some(Fault::Busy(seconds)) => {
            return Some((429, format!("retry-after: {seconds}\r\n"), String::new()));
        }
        Some(Fault::Broken) => {
            return Some((503, String::new(), "<html>Service unavailable</html>".to_owned()));
        }
        Some(Fault::Code(code)) => return Some(refusal(provider, code)),
        Some(Fault::Silent) | None => {}
    }
    let answered: Result<(Taken, Answer), Answer> = match provider.interface {
        Interface::Garmin => garmin::take(&provider.key, request),
        Interface::Rockblock => rockblock::take(&provider.key, request),
        Interface::Cloudloop | Interface::DirectIp => cloudloop::take(&provider.key, request),
    };
    let reply = match answered {
        Ok((taken, reply)) => {
            provider.state().taken.push(taken);
            reply
        }
        Err(reply) => reply,
    };
    (fault != Some(Fault::Silent)).then_some(reply)
}

/// The refusal of a message with a code of the interface.
fn refusal(provider: &Downlink, code: u32) -> Answer {
    match provider.interface {
        Interface::Garmin => garmin::refusal(code, &format!("Simulated error {code}")),
        Interface::Rockblock => rockblock::refusal(code, "Simulated error"),
        Interface::Cloudloop | Interface::DirectIp => cloudloop::refusal(code),
    }
}
