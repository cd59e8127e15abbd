//! The client side of each protocol: the frames that a tracker sends, and the acknowledgements that it waits for.

use super::record::Record;
use super::{binary, text};

/// The acknowledgement that a tracker waits for before it continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No acknowledgement: the protocol has none.
    Nothing,
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, and everything up to this one.
    UpTo(Vec<u8>, u8),
}

impl Expect {
    /// Removes the acknowledgement and everything before it from the received bytes. False while it has not arrived.
    pub fn take(&self, received: &mut Vec<u8>) -> bool {
        let (wanted, last) = match self {
            Self::Nothing => return true,
            Self::Bytes(wanted) => (wanted, None),
            Self::UpTo(wanted, last) => (wanted, Some(last)),
        };
        let found = received.windows(wanted.len()).position(|window| window == wanted.as_slice());
        let Some(end) = found.map(|at| at + wanted.len()) else { return false };
        let rest = received.get(end..).unwrap_or_default();
        let more = last.map_or(Some(0), |last| rest.iter().position(|byte| byte == last).map(|at| at + 1));
        let Some(more) = more else { return false };
        received.drain(..end + more);
        true
    }
}

/// A tracker's side of a protocol.
pub trait ProtocolClient: Send {
    /// The frames of a new connection, in order, and the acknowledgement of each.
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)>;

    /// Records in one message, and the acknowledgement after which the tracker deletes them.
    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect);

    /// Records that one message may carry.
    fn batch_max(&self) -> usize {
        1
    }

    /// Whether it sends datagrams.
    fn is_datagram(&self) -> bool {
        false
    }

    /// Removes a command from the received bytes and returns the answer to it.
    fn answer_command(&mut self, _received: &mut Vec<u8>) -> Option<Vec<u8>> {
        None
    }
}

type Make = fn(&str) -> Box<dyn ProtocolClient>;

/// The protocols that can be simulated.
pub const PROTOCOLS: [(&str, Make); 12] = [
    ("gt06", |name| Box::new(binary::Gt06::new(name))),
    ("teltonika", |name| Box::new(binary::Teltonika::new(name))),
    ("queclink", |name| Box::new(text::Queclink::new(name))),
    ("jt808", |name| Box::new(binary::Jt808::new(name))),
    ("h02", |name| Box::new(text::H02::new(name))),
    ("gps103", |name| Box::new(text::Gps103::new(name))),
    ("tk103", |name| Box::new(text::Tk103::new(name))),
    ("suntech", |name| Box::new(text::Suntech::new(name))),
    ("meitrack", |name| Box::new(binary::Meitrack::new(name))),
    ("ruptela", |name| Box::new(binary::Ruptela::new(name))),
    ("wialon-ips", |name| Box::new(text::Wialon::new(name))),
    ("calamp", |name| Box::new(binary::Calamp::new(name))),
];

/// The client of a tracker of this protocol, whose name is decimal digits.
pub fn protocol_client(protocol: &str, name: &str) -> Option<Box<dyn ProtocolClient>> {
    PROTOCOLS.iter().find(|(known, _)| *known == protocol).map(|(_, make)| make(name))
}

/// The name as packed digits with zeros in front, to this many bytes.
pub(super) fn packed(name: &str, bytes: usize) -> Vec<u8> {
    let width = bytes * 2;
    let digits = format!("{name:0>width$}");
    let kept = digits.get(digits.len() - width..).unwrap_or_default();
    let pair = |pair: &[u8]| pair.iter().fold(0, |byte, digit| byte << 4 | (digit.wrapping_sub(b'0') & 0x0f));
    kept.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use perigee_core::time::Timestamp;
    use perigee_gateways::{Context, FrameBuffer, Options, find_protocol};

    use super::*;

    const NAME: &str = "356938035643";

    #[test]
    fn every_protocol_is_understood_and_acknowledged_by_its_decoder() {
        let options = Options::default();
        let records: Vec<Record> = (0..3).map(|step| Record { time_s: 1_767_225_600 + step }).collect();
        for (name, make) in PROTOCOLS {
            let protocol = find_protocol(name).unwrap();
            let (mut client, mut reader) = (make(NAME), (protocol.decoder)());
            let mut named: Vec<String> = Vec::new();
            let mut frames = FrameBuffer::new((protocol.framer)(), protocol.max_frame);
            let mut receive = |bytes: &[u8], datagram: bool| {
                let mut received = Vec::new();
                if datagram {
                    received.push(bytes.to_vec());
                } else {
                    frames.push(bytes, |frame| received.push(frame.to_vec()));
                }
                let (mut times, mut replies) = (Vec::new(), Vec::new());
                for frame in received {
                    let context = Context {
                        known: !named.is_empty(),
                        identifier: named.first().map(String::as_str),
                        model: None,
                        options: &options,
                        datagram,
                        now: Timestamp::from_millis(1_767_225_600_000),
                    };
                    let decoded = reader.decode(&frame, &context);
                    assert_eq!(decoded.error, None, "{name}");
                    if !decoded.identifiers.is_empty() {
                        named.clone_from(&decoded.identifiers);
                    }
                    times.extend(decoded.reports.iter().map(|report| report.time));
                    replies.extend(decoded.replies.concat());
                }
                (times, replies)
            };
            let datagram = client.is_datagram();
            for (bytes, expect) in client.greeting() {
                let (_, mut replies) = receive(&bytes, datagram);
                assert!(expect.take(&mut replies), "{name} {expect:?} {replies:?}");
            }
            for batch in [&records[..1], &records[1..]] {
                let sent = batch.get(..client.batch_max().min(batch.len())).unwrap();
                let (bytes, expect) = client.report(sent);
                let (times, mut replies) = receive(&bytes, datagram);
                let wanted: Vec<_> = sent.iter().map(|record| Some(record.time())).collect();
                assert_eq!(times, wanted, "{name}");
                assert!(expect.take(&mut replies), "{name} {expect:?} {replies:?}");
                assert_eq!(replies, b"", "{name}: everything was expected");
            }
            assert!(named.iter().any(|known| known.contains(NAME)), "{name} {named:?}");
        }
    }
}
