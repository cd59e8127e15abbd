//! Simulated providers that accept messages to devices: Garmin IPC Inbound and `RockBLOCK` MT, with their checks, errors and
//! limits. They answer on a real socket.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Maximum number of bytes of a request.
const BODY_MAX: usize = 64 * 1024;
/// Maximum number of bytes of a message of `RockBLOCK`.
const ROCKBLOCK_BYTES: usize = 270;
/// Maximum number of characters of a message of Garmin.
const GARMIN_CHARACTERS: usize = 160;

/// The interface that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// IPC Inbound, for gateways of the feed `garmin`.
    Garmin,
    /// MT messages, for gateways of the feed `rockblock`.
    Rockblock,
}

impl Interface {
    /// The interface for gateways of this feed.
    pub fn of(feed: &str) -> Option<Self> {
        match feed {
            "garmin" => Some(Self::Garmin),
            "rockblock" => Some(Self::Rockblock),
            _ => None,
        }
    }
}

/// A fault that the provider has for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It takes no message, and asks to wait for this many seconds.
    Busy(u32),
    /// It refuses the message with this code.
    Code(u32),
    /// It has an error, and answers with a page of HTML.
    Broken,
    /// It takes the message, and closes the connection without an answer.
    Silent,
}

/// A message that the provider took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The IMEI of the recipient.
    pub imei: String,
    /// The text; `None` for a request for the position.
    pub text: Option<String>,
    /// The sender, if the interface has one.
    pub sender: String,
}

/// What the provider knows.
#[derive(Debug, Default)]
struct State {
    faults: VecDeque<Fault>,
    taken: Vec<Taken>,
    requests: usize,
}

/// A provider that accepts messages to devices. Clones share what it has taken.
#[derive(Clone, Debug)]
pub struct Downlink {
    interface: Interface,
    /// The key of Garmin, or the password of `RockBLOCK`.
    key: String,
    delay: Duration,
    state: Arc<Mutex<State>>,
}

/// Status, further header lines and body of an answer.
type Answer = (u16, String, String);

impl Downlink {
    /// A provider that accepts this key, or this password of any user.
    pub fn new(interface: Interface, key: impl Into<String>) -> Self {
        Self { interface, key: key.into(), delay: Duration::ZERO, state: Arc::default() }
    }

    /// Answers so long after it took a message.
    #[must_use]
    pub fn answering_after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a fault for the next request that has none yet.
    pub fn fail_next(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    /// The messages that it took, oldest first.
    pub fn taken(&self) -> Vec<Taken> {
        self.state().taken.clone()
    }

    /// How many requests it got.
    pub fn requests(&self) -> usize {
        self.state().requests
    }

    /// Answers requests until the listener fails.
    pub async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _peer)) = listener.accept().await {
            let provider = self.clone();
            tokio::spawn(async move { provider.talk(stream).await });
        }
    }

    /// Answers the requests of one connection.
    async fn talk(&self, stream: TcpStream) -> Option<()> {
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
            let (status, extra, body) = self.answer(&path, key.as_deref(), &body)?;
            if !self.delay.is_zero() {
                tokio::time::sleep(self.delay).await;
            }
            let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n{extra}\r\n", body.len());
            stream.write_all(head.as_bytes()).await.ok()?;
            stream.write_all(body.as_bytes()).await.ok()?;
        }
    }

    fn answer(&self, path: &str, key: Option<&str>, body: &[u8]) -> Option<Answer> {
        let mut state = self.state();
        state.requests += 1;
        let fault = state.faults.pop_front();
        match fault {
            Some(Fault::Busy(seconds)) => {
                return Some((429, format!("retry-after: {seconds}\r\n"), String::new()));
            }
            Some(Fault::Broken) => {
                return Some((503, String::new(), "<html>Service unavailable</html>".to_owned()));
            }
            Some(Fault::Code(code)) => return Some(self.refusal(code)),
            Some(Fault::Silent) | None => {}
        }
        let answered = match self.interface {
            Interface::Garmin => self.garmin(path, key, body),
            Interface::Rockblock => self.rockblock(body),
        };
        let reply = match answered {
            Ok((taken, reply)) => {
                state.taken.push(taken);
                reply
            }
            Err(reply) => reply,
        };
        (fault != Some(Fault::Silent)).then_some(reply)
    }

    /// The refusal of a message with a code of the interface.
    fn refusal(&self, code: u32) -> Answer {
        match self.interface {
            Interface::Garmin => {
                let body = json!({"Code": code, "Description": format!("Simulated error {code}"), "Message": "",
                                  "URL": "", "IMEI": null});
                (422, String::new(), body.to_string())
            }
            Interface::Rockblock => (200, String::new(), format!("FAILED,{code},Simulated error")),
        }
    }

    fn garmin(&self, path: &str, key: Option<&str>, body: &[u8]) -> Result<(Taken, Answer), Answer> {
        let refuse = |status: u16| Err((status, String::new(), String::new()));
        match key {
            None => return refuse(401),
            Some(key) if key != self.key => return refuse(403),
            Some(_) => {}
        }
        let invalid =
            |text: &str| Err((422, String::new(), json!({"Code": 2, "Description": text}).to_string()));
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return invalid("The body is not JSON") };
        let word = |value: &Value, path: &str| {
            value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let count = || (200, String::new(), json!({"count": 1}).to_string());
        if path.ends_with("/Location/SendLocationRequest") {
            let imei = word(&body, "/IMEI/0");
            return Ok((Taken { imei, text: None, sender: String::new() }, count()));
        }
        if !path.ends_with("/Messaging/Message") {
            return refuse(404);
        }
        let message = body.pointer("/Messages/0").cloned().unwrap_or_default();
        let (imei, text, sender) =
            (word(&message, "/Recipients/0"), word(&message, "/Message"), word(&message, "/Sender"));
        if imei.len() != 15 || sender.is_empty() || !word(&message, "/Timestamp").starts_with("/Date(") {
            return invalid("A member is missing");
        }
        if text.is_empty() || text.chars().count() > GARMIN_CHARACTERS {
            return invalid("The message is too long");
        }
        Ok((Taken { imei, text: Some(text), sender }, count()))
    }

    fn rockblock(&self, body: &[u8]) -> Result<(Taken, Answer), Answer> {
        let body = String::from_utf8_lossy(body);
        let field = |name: &str| {
            let found =
                body.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        let failed = |code: u32, text: &str| Err((200, String::new(), format!("FAILED,{code},{text}")));
        if field("password") != self.key {
            return failed(10, "Invalid login credentials");
        }
        let data = field("data");
        if data.is_empty() {
            return failed(16, "No data");
        }
        let byte =
            |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Option<Vec<u8>> = data.as_bytes().chunks(2).map(byte).collect();
        let Some(bytes) = bytes else { return failed(14, "Could not decode hex data") };
        if bytes.len() > ROCKBLOCK_BYTES {
            return failed(15, "Data too long");
        }
        let text = Some(String::from_utf8_lossy(&bytes).into_owned());
        let taken = Taken { imei: field("imei"), text, sender: field("username") };
        Ok((taken, (200, String::new(), "OK,4114651".to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn garmin_body(text: &str) -> Vec<u8> {
        let message = json!({"Recipients": ["300434030000000"], "Sender": "a@b.example", "Timestamp": "/Date(1)/",
                             "Message": text});
        json!({"Messages": [message]}).to_string().into_bytes()
    }

    #[test]
    fn garmin_checks_key_and_length() {
        let garmin = Downlink::new(Interface::Garmin, "k");
        let status = |key, body: &[u8]| garmin.answer("/api/Messaging/Message", key, body).unwrap().0;
        assert_eq!(status(None, b""), 401);
        assert_eq!(status(Some("other"), b""), 403);
        assert_eq!(status(Some("k"), &garmin_body(&"x".repeat(161))), 422);
        assert_eq!(status(Some("k"), &garmin_body("hello")), 200);
        garmin.fail_next(Fault::Busy(7));
        assert_eq!(status(Some("k"), &garmin_body("again")), 429);
        garmin.fail_next(Fault::Silent);
        assert_eq!(garmin.answer("/api/Messaging/Message", Some("k"), &garmin_body("lost")), None);
        let texts: Vec<_> = garmin.taken().into_iter().filter_map(|taken| taken.text).collect();
        assert_eq!((texts, garmin.requests()), (vec!["hello".to_owned(), "lost".to_owned()], 6));
    }

    #[test]
    fn rockblock_answers_with_codes() {
        let rockblock = Downlink::new(Interface::Rockblock, "p");
        let answer = |body: &str| rockblock.answer("/rockblock/MT", None, body.as_bytes()).unwrap().2;
        assert!(answer("imei=1&password=x&data=00").starts_with("FAILED,10,"));
        assert!(answer("imei=1&password=p&data=").starts_with("FAILED,16,"));
        assert!(answer("imei=1&password=p&data=0g").starts_with("FAILED,14,"));
        assert!(answer(&format!("imei=1&password=p&data={}", "00".repeat(271))).starts_with("FAILED,15,"));
        assert_eq!(answer("imei=1&username=u&password=p&data=6869"), "OK,4114651");
        assert_eq!(rockblock.taken()[0].text.as_deref(), Some("hi"));
    }
}
