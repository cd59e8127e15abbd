//! Trackers whose protocols are binary.

use perigee_gateways::notation::checksum::{crc16_arc, crc16_kermit, crc16_x25, sum, xor};
use perigee_gateways::notation::reader::hex_digits;

use super::client::{Expect, ProtocolClient, packed};
use super::record::Record;

/// A length as these trackers write it; messages here are far shorter than the largest number.
fn short(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes()
}

fn byte(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// Concox, Jimi and others.
pub(super) struct Gt06 {
    name: Vec<u8>,
    serial: u16,
}

impl Gt06 {
    pub(super) fn new(name: &str) -> Self {
        Self { name: packed(name, 8), serial: 0 }
    }

    fn frame(kind: u8, content: &[u8], serial: u16) -> Vec<u8> {
        let mut body = vec![byte(content.len() + 5), kind];
        body.extend_from_slice(content);
        body.extend_from_slice(&serial.to_be_bytes());
        let crc = crc16_x25(&body);
        [b"\x78\x78".as_slice(), &body, &crc.to_be_bytes(), b"\r\n"].concat()
    }

    /// A message that is answered by its kind and serial number.
    fn request(&mut self, kind: u8, content: &[u8]) -> (Vec<u8>, Expect) {
        self.serial = self.serial.wrapping_add(1);
        let expect = Expect::Bytes(Self::frame(kind, &[], self.serial));
        (Self::frame(kind, content, self.serial), expect)
    }
}

impl ProtocolClient for Gt06 {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        let name = self.name.clone();
        vec![self.request(0x01, &name)]
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let Some(record) = records.first() else { return (Vec::new(), Expect::Nothing) };
        // 30,000 parts of a minute.
        let units = |e7: i32| u32::try_from(i64::from(e7) * 18 / 100).unwrap_or(0).to_be_bytes();
        let mut content = record.clock().to_vec();
        content.push(0xc9);
        content.extend_from_slice(&units(record.latitude_e7()));
        content.extend_from_slice(&units(record.longitude_e7()));
        content.push(record.speed_kmh());
        // A fix, north and east.
        content.extend_from_slice(&(0x1400 | record.course()).to_be_bytes());
        content.extend_from_slice(&[0x00, 0xd6, 0x03, 0x00, 0x26, 0x00, 0x0f, 0x17]);
        self.request(0x12, &content)
    }

    fn answer_command(&mut self, received: &mut Vec<u8>) -> Option<Vec<u8>> {
        let at = received.windows(2).position(|pair| pair == [0x78, 0x78])?;
        let length = usize::from(*received.get(at + 2)?);
        let frame = received.get(at..at + length + 5)?.to_vec();
        if frame.get(3) != Some(&0x80) {
            return None;
        }
        received.drain(..at + frame.len());
        let text = b"OK";
        let content = [[byte(text.len() + 4), 0, 0, 0, 0].as_slice(), text, &[0, 2]].concat();
        Some(self.request(0x15, &content).0)
    }
}

/// Teltonika, codec 8.
pub(super) struct Teltonika {
    name: String,
}

impl Teltonika {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    fn frame(data: &[u8]) -> Vec<u8> {
        let [high, low] = short(data.len());
        let crc = u32::from(crc16_arc(data)).to_be_bytes();
        [[0, 0, 0, 0, 0, 0, high, low].as_slice(), data, &crc].concat()
    }
}

impl ProtocolClient for Teltonika {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        let login = [short(self.name.len()).as_slice(), self.name.as_bytes()].concat();
        vec![(login, Expect::Bytes(vec![1]))]
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let count = byte(records.len());
        let mut data = vec![0x08, count];
        for record in records {
            data.extend_from_slice(&record.time().as_millis().to_be_bytes());
            data.push(0);
            data.extend_from_slice(&record.longitude_e7().to_be_bytes());
            data.extend_from_slice(&record.latitude_e7().to_be_bytes());
            data.extend_from_slice(&[0, 10]);
            data.extend_from_slice(&record.course().to_be_bytes());
            data.extend_from_slice(&[9, 0, record.speed_kmh()]);
            // The event, the number of elements, and no elements of one, two, four and eight bytes.
            data.extend_from_slice(&[0; 6]);
        }
        data.push(count);
        (Self::frame(&data), Expect::Bytes(vec![0, 0, 0, count]))
    }

    fn batch_max(&self) -> usize {
        25
    }

    fn answer_command(&mut self, received: &mut Vec<u8>) -> Option<Vec<u8>> {
        let at = received.windows(3).position(|window| window == [0x0c, 1, 5])?.checked_sub(8)?;
        let length = u32::from_be_bytes(received.get(at + 4..at + 8)?.try_into().ok()?);
        let end = at + 8 + usize::try_from(length).ok()? + 4;
        received.get(..end)?;
        received.drain(..end);
        Some(Self::frame(&[b"\x0c\x01\x06\x00\x00\x00\x02OK".as_slice(), &[1]].concat()))
    }
}

/// Terminals of the Chinese standard JT/T 808 of 2013.
pub(super) struct Jt808 {
    name: Vec<u8>,
    serial: u16,
}

impl Jt808 {
    pub(super) fn new(name: &str) -> Self {
        Self { name: packed(name, 6), serial: 0 }
    }

    fn message(&self, kind: u16, serial: u16, body: &[u8]) -> Vec<u8> {
        let length = short(body.len());
        let mut plain =
            [kind.to_be_bytes().as_slice(), &length, self.name.as_slice(), &serial.to_be_bytes(), body]
                .concat();
        plain.push(xor(&plain));
        let mut frame = vec![0x7e];
        for byte in plain {
            match byte {
                0x7e => frame.extend_from_slice(&[0x7d, 0x02]),
                0x7d => frame.extend_from_slice(&[0x7d, 0x01]),
                byte => frame.push(byte),
            }
        }
        frame.push(0x7e);
        frame
    }

    /// A message that is answered by its serial number and kind.
    fn request(&mut self, kind: u16, body: &[u8]) -> (Vec<u8>, Expect) {
        self.serial = self.serial.wrapping_add(1);
        let done = [self.serial.to_be_bytes().as_slice(), &kind.to_be_bytes(), &[0]].concat();
        let expect = Expect::Bytes(self.message(0x8001, 0, &done));
        (self.message(kind, self.serial, body), expect)
    }
}

impl ProtocolClient for Jt808 {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        // Province, town, maker, model, terminal, colour of the plate and the plate.
        let about = [[0, 44, 1, 47].as_slice(), b"PRGEE", &[b'S'; 20], b"0000001", &[1], b"TEST"].concat();
        self.serial = self.serial.wrapping_add(1);
        let register = self.message(0x0100, self.serial, &about);
        let code = hex_digits(&self.name);
        vec![(register, Expect::UpTo(vec![0x7e, 0x81, 0x00], 0x7e)), self.request(0x0102, code.as_bytes())]
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let Some(record) = records.first() else { return (Vec::new(), Expect::Nothing) };
        let e6 = |e7: i32| u32::try_from(e7 / 10).unwrap_or(0).to_be_bytes();
        let mut body = vec![0, 0, 0, 0, 0, 0, 0, 3];
        body.extend_from_slice(&e6(record.latitude_e7()));
        body.extend_from_slice(&e6(record.longitude_e7()));
        body.extend_from_slice(&[0, 10]);
        body.extend_from_slice(&(u16::from(record.speed_kmh()) * 10).to_be_bytes());
        body.extend_from_slice(&record.course().to_be_bytes());
        // The standard's clock is that of Beijing.
        let local = Record { time_s: record.time_s + 8 * 3600 }.clock();
        body.extend(local.map(|number| number / 10 * 16 + number % 10));
        self.request(0x0200, &body)
    }
}

/// Meitrack, with reports of a fixed format.
pub(super) struct Meitrack {
    name: String,
}

impl Meitrack {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }

    fn sentence(&self, start: &str, content: &[u8]) -> Vec<u8> {
        let length = self.name.len() + content.len() + 7;
        let mut bytes = format!("{start}A{length:02},{},", self.name).into_bytes();
        bytes.extend_from_slice(content);
        bytes.push(b'*');
        let checksum = format!("{:02X}\r\n", sum(&bytes));
        bytes.extend_from_slice(checksum.as_bytes());
        bytes
    }
}

impl ProtocolClient for Meitrack {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        Vec::new()
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        /// Seconds from 1970 to 2000.
        const EPOCH_S: i64 = 946_684_800;
        let mut content = b"CCC,\x01\x00".to_vec();
        content.extend_from_slice(&[byte(records.len()), 0, 0, 0, 0, 0]);
        for record in records {
            content.push(35);
            content.extend_from_slice(&(record.latitude_e7() / 10).to_le_bytes());
            content.extend_from_slice(&(record.longitude_e7() / 10).to_le_bytes());
            let seconds = u32::try_from(record.time_s - EPOCH_S).unwrap_or(0);
            content.extend_from_slice(&seconds.to_le_bytes());
            content.extend_from_slice(&[1, 9, 20]);
            content.extend_from_slice(&u16::from(record.speed_kmh()).to_le_bytes());
            content.extend_from_slice(&record.course().to_le_bytes());
            content.extend_from_slice(&[10, 0, 10, 0]);
            content.extend_from_slice(&[0; 28]);
        }
        let acknowledged = format!("CCC,{}", records.len());
        let expect = Expect::Bytes(self.sentence("@@", acknowledged.as_bytes()));
        (self.sentence("$$", &content), expect)
    }

    fn batch_max(&self) -> usize {
        9
    }
}

/// Ruptela.
pub(super) struct Ruptela {
    name: u64,
}

impl Ruptela {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.parse().unwrap_or(0) }
    }
}

impl ProtocolClient for Ruptela {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        Vec::new()
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let mut body = self.name.to_be_bytes().to_vec();
        body.extend_from_slice(&[1, 0, byte(records.len())]);
        for record in records {
            body.extend_from_slice(&u32::try_from(record.time_s).unwrap_or(0).to_be_bytes());
            body.extend_from_slice(&[0, 0]);
            body.extend_from_slice(&record.longitude_e7().to_be_bytes());
            body.extend_from_slice(&record.latitude_e7().to_be_bytes());
            body.extend_from_slice(&[0, 100]);
            body.extend_from_slice(&(record.course() * 100).to_be_bytes());
            body.extend_from_slice(&[9, 0, record.speed_kmh(), 10]);
            // The event, and no elements of one, two, four and eight bytes.
            body.extend_from_slice(&[0; 5]);
        }
        let crc = crc16_kermit(&body);
        let bytes = [short(body.len()).as_slice(), &body, &crc.to_be_bytes()].concat();
        (bytes, Expect::Bytes(vec![0x00, 0x02, 0x64, 0x01, 0x13, 0xbc]))
    }

    fn batch_max(&self) -> usize {
        20
    }
}

/// `CalAmp` LM Direct, by datagrams.
pub(super) struct Calamp {
    name: Vec<u8>,
    sequence: u16,
}

impl Calamp {
    pub(super) fn new(name: &str) -> Self {
        // Digits are padded at their end with 15.
        let digits = format!("{name:f<16}");
        let nibble = |digit: &u8| if *digit == b'f' { 0x0f } else { digit.wrapping_sub(b'0') & 0x0f };
        let pair = |pair: &[u8]| pair.iter().fold(0, |byte: u8, digit| byte << 4 | nibble(digit));
        Self { name: digits.as_bytes().chunks(2).map(pair).collect(), sequence: 0 }
    }
}

impl ProtocolClient for Calamp {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        Vec::new()
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let Some(record) = records.first() else { return (Vec::new(), Expect::Nothing) };
        self.sequence = self.sequence.wrapping_add(1);
        let [high, low] = self.sequence.to_be_bytes();
        let mut bytes = vec![0x83, byte(self.name.len())];
        bytes.extend_from_slice(&self.name);
        // The name is an IMEI; an event that is to be acknowledged.
        bytes.extend_from_slice(&[1, 2, 1, 2, high, low]);
        let seconds = u32::try_from(record.time_s).unwrap_or(0).to_be_bytes();
        bytes.extend_from_slice(&seconds);
        bytes.extend_from_slice(&seconds);
        bytes.extend_from_slice(&record.latitude_e7().to_be_bytes());
        bytes.extend_from_slice(&record.longitude_e7().to_be_bytes());
        bytes.extend_from_slice(&1_000_u32.to_be_bytes());
        bytes.extend_from_slice(&(u32::from(record.speed_kmh()) * 1000 / 36).to_be_bytes());
        bytes.extend_from_slice(&record.course().to_be_bytes());
        bytes.extend_from_slice(&[9, 0, 0, 4, 0xff, 0xa0, 0x0f, 10, 1, 0]);
        // The event's index and code, no counters.
        bytes.extend_from_slice(&[0, 1, 0, 0]);
        (bytes, Expect::Bytes(vec![2, 1, high, low, 2, 0, 0, 0, 0, 0]))
    }

    fn is_datagram(&self) -> bool {
        true
    }
}
