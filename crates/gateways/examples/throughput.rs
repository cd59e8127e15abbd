//! How many reports a second one core decodes: `cargo run --release -p perigee-gateways --example throughput`.

use std::hint::black_box;
use std::time::Instant;

use perigee_core::time::Timestamp;
use perigee_gateways::{Context, Options, find_protocol};

/// A position of each protocol: GT06 with a cell, Teltonika codec 8 with ten elements.
const FRAMES: [(&str, &str); 2] = [
    ("gt06", "78781f12180a040f382ccf0342a34c03427ba823d47a025a0256b900e375047595260d0a"),
    (
        "teltonika",
        "000000000000004a08010000015ebc1da508002411926621f15246010b00b913005e000f06ef01f00150011505c800450108b5000bb600\
         0642381b18005ecd0318ce19cd430f5844000001f1000061a900010000c8e1",
    ),
];
const ROUNDS: u32 = 2_000_000;

fn main() {
    let options = Options::default();
    let context = Context {
        known: true,
        identifier: None,
        model: None,
        options: &options,
        datagram: false,
        now: Timestamp::from_millis(0),
    };
    for (name, hex) in FRAMES {
        let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
        let frame: Vec<u8> = digits
            .chunks_exact(2)
            .filter_map(|pair| u8::try_from(pair.first()? * 16 + pair.last()?).ok())
            .collect();
        let Some(protocol) = find_protocol(name) else { continue };
        let mut decoder = (protocol.decoder)();
        let started = Instant::now();
        let mut reports = 0;
        for _ in 0..ROUNDS {
            reports += black_box(decoder.decode(black_box(&frame), &context)).reports.len();
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("{name}: {reports} reports in {seconds:.2} s, {:.0} a second", f64::from(ROUNDS) / seconds);
    }
}
