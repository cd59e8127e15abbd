//! Trackers whose protocols are text.

use std::fmt::Write as _;

use super::client::{Expect, ProtocolClient};
use super::record::Record;

/// Kilometres an hour in a knot.
const KNOT_KMH: f64 = 1.852;

fn knots(record: Record) -> f64 {
    f64::from(record.speed_kmh()) / KNOT_KMH
}

/// `hhmmss` and `ddmmyy`.
fn time_and_date(record: Record) -> (String, String) {
    let [year, month, day, hour, minute, second] = record.clock();
    (format!("{hour:02}{minute:02}{second:02}"), format!("{day:02}{month:02}{year:02}"))
}

macro_rules! named {
    ($($(#[$doc:meta])* $client:ident)+) => {$(
        $(#[$doc])*
        pub(super) struct $client {
            name: String,
        }

        impl $client {
            pub(super) fn new(name: &str) -> Self {
                Self { name: name.to_owned() }
            }
        }
    )+};
}

named! {
    /// H02 and its clones.
    H02
    /// Coban. Reports have no acknowledgement; the heartbeat after them has one.
    Gps103
    /// TK103 in parentheses.
    Tk103
    /// Wialon IPS 1.1.
    Wialon
}

/// Queclink's @Track. Reports have no acknowledgement unless it is switched on; the heartbeat after them has one.
pub(super) struct Queclink {
    name: String,
    count: u16,
}

impl Queclink {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), count: 0 }
    }
}

/// Suntech, which acknowledges nothing.
pub(super) struct Suntech {
    name: String,
    count: u16,
}

impl Suntech {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), count: 0 }
    }
}

impl ProtocolClient for Queclink {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        Vec::new()
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let mut text = String::new();
        let mut expect = Expect::Nothing;
        for record in records {
            self.count = self.count.wrapping_add(1);
            let (latitude, longitude) = record.degrees();
            let at = record.civil().digits();
            let name = format!("{:0>15}", self.name);
            let (speed, course, count) = (record.speed_kmh(), record.course(), self.count);
            // Writing to a `String` never fails.
            let _ = write!(
                text,
                "+RESP:GTFRI,020102,{name},,0,0,1,1,{speed}.0,{course},10.0,{longitude},{latitude},{at},\
                 0214,0003,18d8,6141,00,,{at},{count:04X}$+ACK:GTHBD,020102,{name},,{at},{count:04X}$"
            );
            expect = Expect::Bytes(format!("+SACK:GTHBD,020102,{count:04X}$").into_bytes());
        }
        (text.into_bytes(), expect)
    }
}

impl ProtocolClient for H02 {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        Vec::new()
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let Some(record) = records.first() else { return (Vec::new(), Expect::Nothing) };
        let (latitude, longitude) = record.degrees_minutes();
        let (time, date) = time_and_date(*record);
        let (name, speed, course) = (&self.name, knots(*record), record.course());
        let text = format!(
            "*HQ,{name},V1,{time},A,{latitude},N,{longitude},E,{speed:06.2},{course:03},{date},FFFFFBFF#"
        );
        (text.into_bytes(), Expect::UpTo(format!("*HQ,{name},V4,V1,").into_bytes(), b'#'))
    }
}

impl ProtocolClient for Gps103 {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        let login = format!("##,imei:{},A;", self.name);
        vec![(login.into_bytes(), Expect::Bytes(b"LOAD".to_vec()))]
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let Some(record) = records.first() else { return (Vec::new(), Expect::Nothing) };
        let (latitude, longitude) = record.degrees_minutes();
        let [year, month, day, hour, minute, second] = record.clock();
        let (name, speed, course) = (&self.name, knots(*record), record.course());
        let text = format!(
            "imei:{name},tracker,{year:02}{month:02}{day:02}{hour:02}{minute:02}{second:02},,F,\
             {hour:02}{minute:02}{second:02}.000,A,{latitude},N,{longitude},E,{speed:.2},{course};{name};"
        );
        (text.into_bytes(), Expect::Bytes(b"ON".to_vec()))
    }
}

impl ProtocolClient for Tk103 {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        Vec::new()
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let Some(record) = records.first() else { return (Vec::new(), Expect::Nothing) };
        let (latitude, longitude) = record.degrees_minutes();
        let [year, month, day, hour, minute, second] = record.clock();
        let name = format!("{:0>12}", self.name);
        let (speed, course) = (record.speed_kmh(), record.course());
        let text = format!(
            "({name}BP05{year:02}{month:02}{day:02}A{latitude}N{longitude}E{speed:03}.0\
             {hour:02}{minute:02}{second:02}{course:03}.0000000000L00000000)"
        );
        (text.into_bytes(), Expect::Bytes(format!("({name}AP05)").into_bytes()))
    }
}

impl ProtocolClient for Suntech {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        Vec::new()
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let mut text = String::new();
        for record in records {
            self.count = self.count.wrapping_add(1);
            let (latitude, longitude) = record.degrees();
            let now = record.civil();
            let (name, speed, course, count) = (&self.name, record.speed_kmh(), record.course(), self.count);
            let _ = write!(
                text,
                "ST300STT;{name};45;301;{:04}{:02}{:02};{:02}:{:02}:{:02};4a0000;+{latitude};+{longitude};\
                 {speed:03}.000;{course:03}.00;9;1;0;12.00;100000;1;{count:04}\r",
                now.year, now.month, now.day, now.hour, now.minute, now.second
            );
        }
        (text.into_bytes(), Expect::Nothing)
    }
}

impl ProtocolClient for Wialon {
    fn greeting(&mut self) -> Vec<(Vec<u8>, Expect)> {
        let login = format!("#L#{};NA\r\n", self.name);
        vec![(login.into_bytes(), Expect::Bytes(b"#AL#1\r\n".to_vec()))]
    }

    fn report(&mut self, records: &[Record]) -> (Vec<u8>, Expect) {
        let lines: Vec<String> = records
            .iter()
            .map(|record| {
                let (latitude, longitude) = record.degrees_minutes();
                let (time, date) = time_and_date(*record);
                let (speed, course) = (record.speed_kmh(), record.course());
                format!("{date};{time};{latitude};N;{longitude};E;{speed};{course};10;9")
            })
            .collect();
        match lines.as_slice() {
            [one] => (format!("#SD#{one}\r\n").into_bytes(), Expect::Bytes(b"#ASD#1\r\n".to_vec())),
            many => {
                let expect = Expect::Bytes(format!("#AB#{}\r\n", many.len()).into_bytes());
                (format!("#B#{}\r\n", many.join("|")).into_bytes(), expect)
            }
        }
    }

    fn batch_max(&self) -> usize {
        50
    }
}
