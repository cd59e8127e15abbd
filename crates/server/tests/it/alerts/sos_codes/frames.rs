//! A frame for each SOS code. Devices are at 22.5 N 113.9 E, on 31 December 2025 at 12:00, where the frame has a position.

use perigee_gateways::notation::checksum::{crc16_arc, crc16_x25};

/// A frame with an SOS code.
pub(super) struct Case {
    pub(super) protocol: &'static str,
    /// The field of the table of alarms.
    pub(super) field: &'static str,
    /// The code in it.
    pub(super) code: &'static str,
    pub(super) identifier: &'static str,
    pub(super) model: Option<&'static str>,
    /// Everything that the connection sends.
    pub(super) bytes: fn() -> Vec<u8>,
}

const fn case(
    protocol: &'static str,
    field: &'static str,
    code: &'static str,
    identifier: &'static str,
    bytes: fn() -> Vec<u8>,
) -> Case {
    Case { protocol, field, code, identifier, model: None, bytes }
}

impl Case {
    const fn model(mut self, model: &'static str) -> Self {
        self.model = Some(model);
        self
    }
}

fn unhex(digits: &str) -> Vec<u8> {
    let digits: String = digits.split_whitespace().collect();
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// A login and a message of GT06.
fn gt06(imei: &str, kind: u8, content: &str) -> Vec<u8> {
    let frame = |kind: u8, content: &[u8]| {
        let mut body = vec![u8::try_from(content.len() + 5).unwrap(), kind];
        body.extend_from_slice(content);
        body.extend_from_slice(&[0, 1]);
        let checksum = crc16_x25(&body).to_be_bytes();
        [b"xx".as_slice(), &body, &checksum, b"\r\n"].concat()
    };
    [frame(1, &unhex(&format!("0{imei}"))), frame(kind, &unhex(content))].concat()
}

/// Time, satellites, coordinates, speed and flags of a GT06 position.
const GT06_FIX: &str = "190c1f0c0000 ca 026a1fa0 0c39a150 3c 145a";

/// A login and a packet of Teltonika.
fn teltonika(imei: &str, data: &str) -> Vec<u8> {
    let data = unhex(data);
    let mut bytes = vec![0, 15];
    bytes.extend_from_slice(imei.as_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&u32::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(&data);
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&crc16_arc(&data).to_be_bytes());
    bytes
}

/// A position of JT/T 808 with these alarms and elements.
fn jt808(phone: &str, alarms: &str, elements: &str) -> Vec<u8> {
    let body = unhex(&format!("{alarms} 00000003 01575ee0 06c9fa20 000a 0258 005a 251231200000 {elements}"));
    let mut message = vec![2, 0];
    message.extend_from_slice(&u16::try_from(body.len()).unwrap().to_be_bytes());
    message.extend_from_slice(&unhex(phone));
    message.extend_from_slice(&[0, 1]);
    message.extend_from_slice(&body);
    message.push(message.iter().fold(0, |sum, byte| sum ^ byte));
    let mut frame = vec![0x7e];
    for byte in message {
        match byte {
            0x7e => frame.extend_from_slice(&[0x7d, 2]),
            0x7d => frame.extend_from_slice(&[0x7d, 1]),
            byte => frame.push(byte),
        }
    }
    frame.push(0x7e);
    frame
}

/// A message of Meitrack with its length and checksum.
fn meitrack(imei: &str, content: &str) -> Vec<u8> {
    let rest = format!(",{imei},{content}");
    let text = format!("$$A{}{rest}*", rest.len() + 5);
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    format!("{text}{sum:02X}\r\n").into_bytes()
}

const GT06_EXTENDED: &str = "alarm byte after the signal strength";
const JT808_BUTTONS: &str = "bits of element E7";
const H02_STATES: &str = "bits of the states that are 0";
const TK103_KIND: &str = "kind of sentence";

pub(super) const CASES: &[Case] = &[
    case("gt06", GT06_EXTENDED, "1", "356938035640001", || {
        gt06("356938035640001", 0x16, &format!("{GT06_FIX} 09 01cc 00 25ef 0540e8 46 06 04 01 02"))
    }),
    case("gt06", GT06_EXTENDED, "1", "356938035640002", || {
        gt06("356938035640002", 0xa9, "190c1f0c0000 01cc00 00 01 25ef 40e88c 46 00 01 010203040506 3c 01 02")
    }),
    case("gt06", "bits 3 to 5 of the status", "4", "356938035640003", || {
        gt06("356938035640003", 0x13, "24 04 04 00 02")
    }),
    case("gt06", "event of a camera (message 95)", "1", "356938035640004", || {
        gt06("356938035640004", 0x95, "190c1f0c0000 026a1fa0 0c39a150 145a 01 0000")
    }),
    case("teltonika", "element that is not 0", "236", "352093086400001", || {
        teltonika(
            "352093086400001",
            "08 01 0000019b7476b400 01 43e3b2e0 0d6938c0 000a 005a 0a 0000 ec 01 01 ec 01 00 00 00 01",
        )
    })
    .model("TMT250"),
    case("teltonika", "element of GH3000 that is 1", "222", "352093086400002", || {
        teltonika("352093086400002", "07 01 23b8f2c0 02 01 de 01 01")
    }),
    case("queclink", "kind of message after `GT`", "SOS", "868487004300001", || {
        b"+RESP:GTSOS,DF0200,868487004300001,cv100,,00,1,1,0.0,0,138.0,113.900000,22.500000,20251231120000,0460,0001,25F8,061A7D02,,,20251231120000,20251231120000,03A6$".to_vec()
    }),
    case("jt808", "bits of the alarm word of a position", "0", "019111110001", || {
        jt808("019111110001", "00000001", "")
    }),
    case("jt808", JT808_BUTTONS, "1", "019111110002", || {
        jt808("019111110002", "00000000", "e708 0002000000000000")
    }),
    case("jt808", JT808_BUTTONS, "2", "019111110003", || {
        jt808("019111110003", "00000000", "e708 0004000000000000")
    }),
    case("jt808", JT808_BUTTONS, "3", "019111110004", || {
        jt808("019111110004", "00000000", "e708 0008000000000000")
    }),
    case("jt808", "event of element E8 (cameras)", "3073", "019111110005", || {
        jt808("019111110005", "00000000", "e80a 0c01 0000000000000000")
    })
    .model("JC371"),
    case("jt808", "event of element E8 (cameras)", "3073", "019111110006", || {
        jt808("019111110006", "00000000", "e80a 0c01 0000000000000000")
    }),
    case("meitrack", "event code", "1", "863835026880001", || {
        meitrack(
            "863835026880001",
            "AAA,1,22.500000,113.900000,251231120000,A,5,22,1,170,1.4,77,39097,393563,515|3|A0CC|ED96,0000,0008|0003|0000|09D5|0000,,",
        )
    }),
    case("h02", H02_STATES, "1", "2705171001", || {
        b"*HQ,2705171001,V1,120000,A,2230.0000,N,11354.0000,E,0.00,000,311225,FFFFFFFD#".to_vec()
    }),
    // The button, while the unit is shaken.
    case("h02", H02_STATES, "1", "2705171002", || {
        b"*HQ,2705171002,V1,120000,A,2230.0000,N,11354.0000,E,0.00,000,311225,FFFFFFFC#".to_vec()
    }),
    // Binary, the last of its connection.
    case("h02", H02_STATES, "1", "2705171003", || {
        unhex("24 2705171003 120000 311225 22300000 00 113540000e 000000 fffffffd 000000")
    }),
    case("h02", H02_STATES, "18", "2705171004", || {
        b"*HQ,2705171004,V1,120000,A,2230.0000,N,11354.0000,E,0.00,000,311225,FFFBFFFF#".to_vec()
    }),
    case("gps103", "kind of sentence", "help me", "359586015820001", || {
        b"imei:359586015820001,help me,2512311200,,F,120000.000,A,2230.0000,N,11354.0000,E,0.00,;".to_vec()
    }),
    case("suntech", "reason of `EMG`", "1", "205170001", || {
        b"ST300EMG;205170001;12;561;20251231;12:00:00;173f53;+22.500000;+113.900000;006.776;000.00;9;1;52982186;12.75;100000;1\r".to_vec()
    }),
    case("suntech", "number of `ALT`", "42", "0950030001", || {
        b"ALT;0950030001;3FFFFF;95;1.0.12;1;20251231;12:00:00;01A2B3C4;214;7;1A2B;31;+22.500000;+113.900000;0.00;0.00;18;1;00000101;00000000;42;2;\r".to_vec()
    }),
    case("suntech", "kind of line of ST9 units", "Emergency", "205576001", || {
        b"ST910;Emergency;205576001;500;20251231;12:00:00;+22.500000;+113.900000;000.000;000.00;1;2\r"
            .to_vec()
    }),
    case("tk103", TK103_KIND, "ZC25", "013632650001", || {
        b"(013632650001,ZC25,311225,A,2230.0000N,11354.0000E,000.0,120000,178.48)".to_vec()
    }),
    case("tk103", TK103_KIND, "DW3E", "013632650002", || {
        b"(013632650002,DW3E,311225,A,2230.0000N,11354.0000E,000.0,120000,178.48)".to_vec()
    }),
    case("tk103", TK103_KIND, "DW5E", "358511020000003", || {
        b"(358511020000003,DW5E,310,6,29876,30393,0,311225,120000)".to_vec()
    }),
    case("tk103", "first digit of `BO01`", "2", "013632650004", || {
        b"(013632650004BO012251231A2230.0000N11354.0000E040.0120000309.6200000000L000770AD)".to_vec()
    }),
    case("wialon-ips", "parameter that is on, in any letter case", "sos", "353976010000001", || {
        b"#L#353976010000001;NA\r\n#D#311225;120000;2230.0000;N;11354.0000;E;0;0;10;9;1.0;0;0;;NA;SOS:1:1\r\n"
            .to_vec()
    }),
];
