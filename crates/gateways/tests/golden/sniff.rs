//! First bytes identify the protocol.

use perigee_gateways::{PROTOCOLS, Transport, sniff};

use super::streams::streams;

#[test]
fn recorded_frames_identify_their_protocol() {
    let mut wrong = Vec::new();
    for (protocol, frames) in streams() {
        let is_missed = |frame: &&Vec<u8>| {
            let found = sniff(frame).0.map(|found| found.name);
            found != Some(protocol.name)
        };
        let missed: Vec<_> = frames.iter().filter(is_missed).collect();
        // Frames that cannot be identified: answers and frames that never come first on a connection.
        if missed.len() * 20 > frames.len() {
            let example = String::from_utf8_lossy(missed[0]).chars().take(60).collect::<String>();
            let as_what = sniff(missed[0]).0.map(|found| found.name);
            wrong.push(format!(
                "{}: {} of {} not identified, such as {example:?} as {as_what:?}",
                protocol.name,
                missed.len(),
                frames.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn waiting_for_more_ends() {
    // No protocol asks for more than this without an answer.
    const ENOUGH: usize = 64;
    for protocol in PROTOCOLS.iter().filter(|protocol| protocol.transports.contains(&Transport::Tcp)) {
        for byte in 0..=u8::MAX {
            let bytes = [byte; ENOUGH];
            assert_ne!((protocol.sniff)(&bytes), perigee_gateways::Sniff::More, "{} {byte}", protocol.name);
        }
    }
}
