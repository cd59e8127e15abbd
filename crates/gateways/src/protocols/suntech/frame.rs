//! Suntech frames: lines that end with a carriage return, or a kind, a length of two bytes and that many bytes.

use crate::framer::{Framer, Step};
use crate::sniff::Sniff;

/// Longer than the longest list of settings.
pub(super) const MAX: usize = 4096;
/// The compressed form, which has a byte 03 after the counted bytes.
const ZIP: u8 = 0x02;
/// Maximum bytes that a device on a unit's serial port may send at once.
const SERIAL_MAX: usize = 1024;

/// Splits a stream into Suntech frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct SuntechFramer;

impl Framer for SuntechFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        let [first, rest @ ..] = bytes else { return Step::Wait };
        match (*first, rest) {
            (b'\r' | b'\n', _) => Step::Skip(1),
            (ZIP | 0x81..=0x8f, [high, ..]) if usize::from(*high) >= MAX >> 8 => Step::Skip(1),
            (ZIP | 0x81..=0x8f, [high, low, ..]) => {
                let length = usize::from(u16::from_be_bytes([*high, *low]));
                Step::whole(bytes, length + if *first == ZIP { 4 } else { 3 })
            }
            (ZIP | 0x81..=0x8f, [] | [_]) => Step::Wait,
            _ => line(bytes),
        }
    }
}

/// A line; data of the serial port may contain line ends and is skipped by its length.
fn line(bytes: &[u8]) -> Step<'_> {
    let from = match serial_data(bytes) {
        Serial::None => 0,
        Serial::Until(end) => end,
        Serial::Unknown => return if bytes.len() >= MAX { Step::Skip(MAX) } else { Step::Wait },
    };
    let end = bytes.iter().take(MAX).skip(from).position(|byte| matches!(byte, b'\r' | b'\n'));
    match end {
        Some(end) => Step::within(bytes, from + end + 1, 0, from + end),
        None if bytes.len() >= MAX => Step::Skip(MAX),
        None => Step::Wait,
    }
}

enum Serial {
    /// There is no such data.
    None,
    /// The data ends at this index.
    Until(usize),
    /// More bytes are needed to decide.
    Unknown,
}

/// The end of the serial port data in a `UEX` line, by the length before it.
fn serial_data(bytes: &[u8]) -> Serial {
    let Some(kind) = bytes.get(..9) else {
        let ends = bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
        return if ends || !b"SU".contains(bytes.first().unwrap_or(&0)) {
            Serial::None
        } else {
            Serial::Unknown
        };
    };
    if kind.get(5..) != Some(b"UEX;") {
        return Serial::None;
    }
    let before = length_field(kind);
    let mut at = 0;
    for (index, field) in bytes.split(|byte| *byte == b';').enumerate() {
        let next = at + field.len() + 1;
        let complete = next <= bytes.len();
        if !complete {
            let ends = field.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
            return if ends { Serial::None } else { Serial::Unknown };
        }
        if index < before {
            if field.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
                return Serial::None;
            }
            at = next;
            continue;
        }
        let length: Option<usize> = std::str::from_utf8(field).ok().and_then(|digits| digits.parse().ok());
        let Some(end) = length.filter(|length| *length <= SERIAL_MAX).map(|length| next + length) else {
            return Serial::None;
        };
        return match bytes.get(end) {
            Some(b';') => Serial::Until(end),
            // The length is wrong.
            Some(_) => Serial::None,
            None => Serial::Unknown,
        };
    }
    Serial::Unknown
}

/// The index of the length among the fields of a line of this kind.
pub(super) fn length_field(kind: &[u8]) -> usize {
    match kind {
        [b'S', b'T', b'6', ..] => 20,
        [b'S', b'T', b'3', ..] => 16,
        _ => 15,
    }
}

/// A model and a type, a type of the mapped form, or a binary frame.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    let kinds = ["STT;", "ALT;", "EMG;", "EVT;", "UEX;", "ALV;", "BLE;", "BSA;", "RES;", "CMD;", "CRR;"];
    let mapped =
        kinds.iter().fold(Sniff::No, |best, prefix| best.or(Sniff::prefix(bytes, prefix.as_bytes())));
    let model = match bytes {
        [] | [b'S' | 0x81 | 0x82 | ZIP] => Sniff::More,
        [0x81 | 0x82 | ZIP, high, ..] => {
            if *high < 4 {
                Sniff::Yes
            } else {
                Sniff::No
            }
        }
        [b'S', b'T' | b'A', digits @ ..] => {
            match (digits.iter().take(3).all(u8::is_ascii_digit), digits.len()) {
                (true, 3..) => Sniff::Yes,
                (true, _) => Sniff::More,
                (false, _) => Sniff::No,
            }
        }
        _ => Sniff::No,
    };
    mapped.or(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stream: &[u8], expect: usize) {
        let Step::Frame { frame, .. } = SuntechFramer.step(stream) else { panic!("no frame") };
        assert_eq!(frame.len(), expect);
        for cut in 0..expect {
            let front = stream.get(..cut).unwrap();
            assert!(matches!(SuntechFramer.step(front), Step::Wait), "{cut}");
        }
    }

    #[test]
    fn serial_data_may_have_line_ends() {
        let line = b"ST300UEX;1;45;311;20220701;18:42:08;14c943;-22.9;-043.3;0;0;0;0;0;12.1;100010;6;AB\r\nCD;3E;1\r";
        check(line, line.len() - 1);
        check(b"ST300STT;1;2\rST300STT;1;2\r", 12);
        check(b"\x81\x00\x02ab", 5);
    }
}
