//! Runs random and mutated inputs through every framer, decoder, feed, template and mapping, and counts executions.
//!
//! `cargo run --release --example fuzz -- --seconds 60 [--executions N] [--seed N]` ends after the time or the executions,
//! whichever is first. A panic prints the target and the input, and ends with 1.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use perigee_core::time::Timestamp;
use perigee_gateways::mapping::Mapping;
use perigee_gateways::notation::xml::Element;
use perigee_gateways::template::Template;
use perigee_gateways::{
    Context, DecodeBudget, Decoder, FEEDS, FeedContext, FeedOutcome, FeedRequest, FrameBuffer, Options,
    PROTOCOLS, report_json, sniff,
};
use serde_json::{Value as Json, json};

/// Xorshift; good enough to choose bytes, and the same for the same seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[1]
    }
}

/// A photo of JT/T 808, whole and in packets; no recorded frame has one.
const PHOTOS: &[&str] = &[
    "7e0801004f01380013800000090000004d000001030000000000000002015752a006c9f9e0000a0258005a260101200000ffd8ffe00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627ee7e",
    "7e0801202801380013800001f5000200010000004d000001030000000000000002015752a006c9f9e0000a0258005a260101200000ffd8ffe0577e",
    "7e0801202701380013800001f6000200020102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627537e",
];
/// Bytes that a decoder may keep of files: four of them.
const HELD_MAX: usize = 4 * perigee_core::devices::device_file::DeviceFile::BYTES_MAX;

/// Recorded frames and bodies to start from, with the settings that templates and mappings are mutated from.
struct Corpus {
    inputs: Vec<Vec<u8>>,
    settings: Vec<String>,
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks_exact(2).filter_map(|pair| std::str::from_utf8(pair).ok());
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// A decoder of each protocol that reads many inputs, as that of a connection does.
type Decoders = Vec<Box<dyn Decoder>>;

fn load() -> Corpus {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        for row in text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok()) {
            inputs.extend(row["hex"].as_str().map(bytes_of));
            for member in ["text", "body", "response", "uri"] {
                inputs.extend(
                    row[member].as_str().map(|text| text.trim_start_matches("/?").as_bytes().to_vec()),
                );
            }
        }
    }
    inputs.extend(PHOTOS.iter().map(|hex| bytes_of(hex)));
    inputs.retain(|input| !input.is_empty());
    let template = json!({"endian": "little", "start": 1, "record": 5, "fields": [
        {"field": "latitude", "offset": 0, "width": 3, "signed": true, "scale": 0.00001, "mask": "0x7fffff"},
        {"field": "longitude", "offset": -4, "width": 4, "type": "float", "optional": true},
        {"field": "alarm", "value": "sos", "when": [{"offset": 1, "bit": 3, "equals": 1}, {"length": true, "atLeast": 2}]},
        {"field": "name", "offset": 2, "type": "text"}, {"field": "time", "offset": 0, "width": 4, "add": 946_684_800}]});
    let mapping = json!({"each": [{"path": "/Data", "json": true}, "/a"], "identifiers": ["^/b", "/ident"], "rest": [""],
        "fields": {"latitude": ["/position.latitude", "/lat"], "longitude": "/lon", "time": {"path": "/t", "scale": 2},
                   "speed": {"path": "/s", "unit": "knots"}, "payload": {"path": "/d", "encoding": "hex"}}});
    Corpus { inputs, settings: vec![template.to_string(), mapping.to_string()] }
}

fn mutate(random: &mut Random, inputs: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = match inputs.get(random.below(inputs.len() + inputs.len() / 8 + 1)) {
        Some(input) => input.clone(),
        None => (0..random.below(200)).map(|_| random.byte()).collect(),
    };
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len() + 1);
        match random.below(5) {
            0 => bytes.insert(at, random.byte()),
            1 => bytes.truncate(at),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                let other = inputs.get(random.below(inputs.len())).map_or(&[][..], Vec::as_slice);
                let from = random.below(other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(other.get(from..).unwrap_or_default());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.byte();
                }
            }
        }
    }
    bytes.truncate(4096);
    bytes
}

/// Runs one input through everything and gives the number of executions, or the target that panicked.
fn run(
    input: &[u8],
    setting: &[u8],
    random: &mut Random,
    options: &Options,
    decoders: &mut Decoders,
) -> Result<u64, &'static str> {
    let mut count = 0;
    let mut target = |name: &'static str, call: &mut dyn FnMut()| {
        count += 1;
        catch_unwind(AssertUnwindSafe(call)).map_err(|_panic| name)
    };
    let now = Timestamp::from_millis(1_780_000_000_000);
    target("sniff", &mut || {
        black_box(sniff(input));
    })?;
    for (protocol, kept) in PROTOCOLS.iter().zip(decoders.iter_mut()) {
        target("connection", &mut || {
            let context =
                Context { known: true, identifier: None, model: None, options, datagram: false, now };
            black_box(kept.decode(input, &context));
            assert!(kept.held_bytes() <= HELD_MAX, "{} keeps too much", protocol.name);
        })?;
        target(protocol.name, &mut || {
            let known = input.len().is_multiple_of(2);
            let context = Context { known, identifier: None, model: None, options, datagram: !known, now };
            for report in &(protocol.decoder)().decode(input, &context).reports {
                black_box(report_json(report));
            }
        })?;
        let cut = random.below(input.len() + 1);
        target("framer", &mut || {
            let frames = |parts: [&[u8]; 2]| {
                let mut buffer = FrameBuffer::new((protocol.framer)(), protocol.max_frame);
                let mut frames = Vec::new();
                for part in parts {
                    buffer.push(part, |frame| frames.push(frame.to_vec()));
                }
                frames
            };
            let (head, tail) = input.split_at(cut);
            assert!(
                frames([input, &[]]) == frames([head, tail]),
                "a split of {} gives other frames",
                protocol.name
            );
        })?;
    }
    let query = std::str::from_utf8(input).unwrap_or_default();
    let request = FeedRequest { method: "POST", query, headers: &[], body: input };
    for feed in FEEDS {
        target(feed.name, &mut || {
            let budget = DecodeBudget::for_body(input.len());
            let context = FeedContext { now, options, budget: &budget };
            let _ = black_box((feed.check)(&request, &context));
            black_box((feed.reply)(&request, &context, &FeedOutcome::Stored));
            for report in
                (feed.decode)(&request, &context).messages.iter().flat_map(|message| &message.reports)
            {
                black_box(report_json(report));
            }
        })?;
    }
    target("xml", &mut || drop(black_box(Element::parse(input, &DecodeBudget::for_body(input.len())))))?;
    let setting: Json = serde_json::from_slice(setting).unwrap_or_default();
    target("template", &mut || {
        if let Ok(template) = Template::parse(&setting) {
            black_box(template.apply(input));
        }
    })?;
    target("mapping", &mut || {
        if let Ok(mapping) = Mapping::parse(&setting) {
            let body = serde_json::from_slice(input).unwrap_or_default();
            let budget = DecodeBudget::for_body(input.len());
            let context = FeedContext { now, options, budget: &budget };
            drop(black_box(mapping.apply(&body, &context)));
        }
    })?;
    Ok(count)
}

fn argument(name: &str) -> Option<u64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)?.parse().ok()
}

fn main() -> ExitCode {
    let seconds = argument("--seconds").unwrap_or(10);
    let seed = argument("--seed").unwrap_or(0x9e37_79b9_7f4a_7c15).max(1);
    let corpus = load();
    let settings: Vec<Vec<u8>> = corpus.settings.iter().map(|text| text.clone().into_bytes()).collect();
    let members = json!({"confirm": true, "token": "t", "template": serde_json::from_str::<Json>(&corpus.settings[0]).unwrap_or_default(),
        "mapping": serde_json::from_str::<Json>(&corpus.settings[1]).unwrap_or_default()});
    let with = Options::new(members.as_object().cloned().unwrap_or_default());
    let without = Options::default();
    let mut decoders: Decoders = PROTOCOLS.iter().map(|protocol| (protocol.decoder)()).collect();
    let limit = argument("--executions").unwrap_or(u64::MAX);
    let mut random = Random(seed);
    let (mut executions, mut inputs) = (0_u64, 0_u64);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) && executions < limit {
        let input = mutate(&mut random, &corpus.inputs);
        let setting = match settings.get(random.below(settings.len() + 1)) {
            Some(setting) => setting.clone(),
            None => mutate(&mut random, &settings),
        };
        let options = if random.below(3) == 0 { &with } else { &without };
        match run(&input, &setting, &mut random, options, &mut decoders) {
            Ok(count) => executions += count,
            Err(target) => {
                println!(
                    "panic in {target} after {executions} executions, input {input:02x?}, setting {}",
                    String::from_utf8_lossy(&setting)
                );
                return ExitCode::FAILURE;
            }
        }
        inputs += 1;
    }
    let targets = PROTOCOLS.len() * 3 + FEEDS.len() + 4;
    let seconds = started.elapsed().as_secs();
    println!(
        "{executions} executions of {targets} targets with {inputs} inputs in {seconds} s, seed {seed}: 0 panics"
    );
    ExitCode::SUCCESS
}
