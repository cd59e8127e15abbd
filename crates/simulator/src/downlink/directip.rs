//! Iridium's gateway for MT messages by `DirectIP`: one message for each connection, confirmed by its position in the queue
//! of the modem or by a negative status.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{Downlink, Fault, Taken};

/// Maximum number of bytes of a message.
const BYTES: usize = 1_890;
/// Maximum number of messages in the queue of a modem.
const QUEUE: usize = 50;

const HEADER: u8 = 0x41;
const PAYLOAD: u8 = 0x42;
const CONFIRMATION: u8 = 0x44;

/// A message as the elements have it.
#[derive(Default)]
struct Message {
    client: [u8; 4],
    imei: [u8; 15],
    payload: Option<Vec<u8>>,
}

/// Answers the message of one connection.
pub(super) async fn talk(provider: &Downlink, mut stream: TcpStream) -> Option<()> {
    let mut head = [0; 3];
    stream.read_exact(&mut head).await.ok()?;
    let [_, high, low] = head;
    let mut rest = vec![0; usize::from(u16::from_be_bytes([high, low]))];
    stream.read_exact(&mut rest).await.ok()?;
    let answer = answer(provider, head[0], &rest)?;
    provider.wait().await;
    stream.write_all(&answer).await.ok()
}

/// The answer to a message; `None` to close the connection.
pub(super) fn answer(provider: &Downlink, revision: u8, elements: &[u8]) -> Option<Vec<u8>> {
    let fault = provider.begin();
    let message = (revision == 1).then(|| read(elements)).flatten();
    let status = match (&fault, &message) {
        (Some(Fault::Broken), _) => {
            return Some(b"HTTP/1.1 503 Service unavailable\r\n\r\n".to_vec());
        }
        (Some(Fault::Busy(_)), _) => -5,
        (Some(Fault::Code(code)), _) => i16::try_from(*code).map_or(-7, |code| -code),
        (_, None) => -7,
        (_, Some(message)) => take(provider, message),
    };
    let message = message.unwrap_or_default();
    // The reference is 0 if the message was refused.
    let reference = if status > 0 { 4_114_651_u32 } else { 0 };
    let mut bytes = vec![1, 0, 28, CONFIRMATION, 0, 25];
    bytes.extend(message.client);
    bytes.extend(message.imei);
    bytes.extend(reference.to_be_bytes());
    bytes.extend(status.to_be_bytes());
    (fault != Some(Fault::Silent)).then_some(bytes)
}

/// Puts a message into the queue of its modem, and returns its status.
fn take(provider: &Downlink, message: &Message) -> i16 {
    if !message.imei.iter().all(u8::is_ascii_digit) {
        return -1;
    }
    let Some(payload) = &message.payload else { return -4 };
    if payload.len() > BYTES {
        return -3;
    }
    let to = String::from_utf8_lossy(&message.imei).into_owned();
    let text = Some(String::from_utf8_lossy(payload).into_owned());
    let mut state = provider.state();
    let waiting = state.taken.iter().filter(|taken| taken.to == to).count();
    if waiting >= QUEUE {
        return -5;
    }
    state.taken.push(Taken { to, text, ..Taken::default() });
    i16::try_from(waiting + 1).unwrap_or(i16::MAX)
}

/// Reads the elements of a message, in any order.
fn read(mut rest: &[u8]) -> Option<Message> {
    let mut message = Message::default();
    let mut has_header = false;
    while let [kind, high, low, tail @ ..] = rest {
        let (value, after) = tail.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?;
        match *kind {
            HEADER => {
                let (client, value) = value.split_first_chunk::<4>()?;
                let (imei, flags) = value.split_first_chunk::<15>()?;
                if flags.len() != 2 {
                    return None;
                }
                (message.client, message.imei, has_header) = (*client, *imei, true);
            }
            PAYLOAD => message.payload = Some(value.to_vec()),
            _ => {}
        }
        rest = after;
    }
    (has_header && rest.is_empty()).then_some(message)
}
