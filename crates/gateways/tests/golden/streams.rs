//! Streams: any split gives the same frames, and no bytes make a framer or decoder fail.

use perigee_core::time::Timestamp;
use perigee_gateways::{Context, FrameBuffer, Options, PROTOCOLS, Protocol, Transport};
use proptest::collection::vec;
use proptest::prelude::*;

use super::frames::rows;

/// The frames of a stream that ends after these parts.
fn frames(protocol: &Protocol, parts: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut buffer = FrameBuffer::new((protocol.framer)(), protocol.max_frame);
    let mut frames = Vec::new();
    for part in parts {
        buffer.push(part, |frame| frames.push(frame.to_vec()));
        assert!(buffer.unfinished().len() <= protocol.max_frame, "{} keeps too much", protocol.name);
    }
    buffer.end(|frame| frames.push(frame.to_vec()));
    frames
}

#[test]
fn the_last_binary_frame_of_h02_does_not_wait_for_another() {
    let protocol = perigee_gateways::find_protocol("h02").unwrap();
    let binary = |length: usize| -> Vec<u8> {
        let start = [0x24, 0x27, 0x05, 0x17, 0x11, 0x09, 0x12, 0, 0, 1, 5, 0x26];
        start.into_iter().chain(std::iter::repeat(0x11)).take(length).collect()
    };
    for length in [32, 42, 45] {
        let frame = binary(length);
        assert_eq!(frames(protocol, &[&frame]), [frame.as_slice()], "{length}");
        let two = [frame.clone(), frame.clone()].concat();
        assert_eq!(frames(protocol, &[&two]).len(), 2, "{length}");
        for cut in 1..two.len() {
            assert_eq!(
                frames(protocol, &[&two[..cut], &two[cut..]]),
                frames(protocol, &[&two]),
                "{length}, {cut}"
            );
        }
    }
    assert_eq!(frames(protocol, &[&binary(40)]), Vec::<Vec<u8>>::new(), "not whole");
}

/// A frame with the end that its framer took off.
fn bytes_of(row: &serde_json::Value) -> Vec<u8> {
    let Some(hex) = row["hex"].as_str() else {
        return format!("{}\r\n", row["text"].as_str().unwrap()).into_bytes();
    };
    let digits = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
    let mut bytes: Vec<u8> = (0..hex.len() / 2).map(digits).collect();
    if row["protocol"] == "queclink" && bytes.get(5..8) == Some(b":GT") || bytes.get(4..7) == Some(b":GT") {
        bytes.push(b'$');
    }
    if row["protocol"] == "meitrack" && !bytes.ends_with(b"\n") {
        bytes.extend_from_slice(b"\r\n");
    }
    if row["protocol"] == "suntech" && bytes.first().is_some_and(u8::is_ascii_graphic) {
        bytes.push(b'\r');
    }
    bytes
}

/// Recorded frames of every protocol with a fixture, one after the other.
pub(crate) fn streams() -> Vec<(&'static Protocol, Vec<Vec<u8>>)> {
    let fixture = |protocol: &&Protocol| {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("tests/fixtures/{}.jsonl", protocol.name))
            .exists()
    };
    let recorded =
        |protocol: &'static Protocol| (protocol, rows(protocol.name).iter().map(bytes_of).collect());
    PROTOCOLS.iter().filter(fixture).map(recorded).collect()
}

/// The same without protocols that use only datagrams.
fn tcp_streams() -> Vec<(&'static Protocol, Vec<Vec<u8>>)> {
    streams().into_iter().filter(|(protocol, _)| protocol.transports.contains(&Transport::Tcp)).collect()
}

#[test]
fn any_split_gives_the_same_frames() {
    let streams = tcp_streams();
    let strategy = (
        0..streams.len(),
        vec(any::<proptest::sample::Index>(), 1..12),
        vec(0_usize..4000, 0..40),
        vec(any::<u8>(), 0..6),
    );
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(400));
    runner
        .run(&strategy, |(protocol, chosen, mut cuts, rubbish)| {
            let (protocol, recorded) = &streams[protocol];
            let mut stream = Vec::new();
            for index in chosen {
                let frame: &Vec<u8> = index.get(recorded);
                stream.extend_from_slice(frame);
                if stream.len() % 3 == 0 {
                    stream.extend_from_slice(&rubbish);
                }
            }
            cuts.retain(|cut| *cut < stream.len());
            cuts.sort_unstable();
            let whole = frames(protocol, &[&stream]);
            let mut parts = Vec::new();
            let mut from = 0;
            for cut in cuts {
                parts.push(&stream[from..cut]);
                from = cut;
            }
            parts.push(&stream[from..]);
            prop_assert_eq!(&frames(protocol, &parts), &whole, "{}", protocol.name);
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            prop_assert_eq!(&frames(protocol, &bytes), &whole, "{} byte by byte", protocol.name);
            Ok(())
        })
        .unwrap();
}

#[test]
fn recorded_frames_leave_the_framer_whole() {
    // A frame that its framer would cut elsewhere, recorded as it was published.
    const DAMAGED: usize = 4;
    for (protocol, recorded) in tcp_streams() {
        let cut = |frame: &&Vec<u8>| frames(protocol, &[frame, frame]).len() < 2;
        let lost = recorded.iter().filter(cut).count();
        assert!(
            lost <= DAMAGED + recorded.len() / 20,
            "{}: {lost} of {} not found",
            protocol.name,
            recorded.len()
        );
    }
}

fn decode_all(protocol: &Protocol, bytes: &[u8], model: Option<&str>) {
    let options = Options::default();
    let mut decoder = (protocol.decoder)();
    for known in [true, false] {
        let context = Context {
            known,
            identifier: Some("123456789012345"),
            model,
            options: &options,
            datagram: !known,
            now: Timestamp::from_millis(1_780_000_000_000),
        };
        for report in &decoder.decode(bytes, &context).reports {
            let _ = perigee_gateways::report_json(report);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..400)) {
        for protocol in PROTOCOLS {
            decode_all(protocol, &bytes, None);
            let _ = frames(protocol, &[&bytes]);
            let _ = (protocol.sniff)(&bytes);
        }
    }
}

#[test]
fn damaged_frames_are_survived() {
    let streams = streams();
    let model = proptest::option::of(prop_oneof![
        "VL103", "NT20", "LW4G", "SEEWORLD", "R11", "QH302R", "FMB130", "JC371", "GL100"
    ]);
    let strategy = (
        0..streams.len(),
        any::<proptest::sample::Index>(),
        vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
        any::<proptest::sample::Index>(),
        model,
    );
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(4000));
    runner
        .run(&strategy, |(protocol, chosen, damage, cut, model)| {
            let (protocol, recorded) = &streams[protocol];
            let mut frame = chosen.get(recorded.as_slice()).clone();
            for (at, byte) in damage {
                let at = at.index(frame.len());
                frame[at] = byte;
            }
            decode_all(protocol, &frame, model.as_deref());
            frame.truncate(cut.index(frame.len() + 1));
            decode_all(protocol, &frame, model.as_deref());
            Ok(())
        })
        .unwrap();
}
