//! `perigee decode`: decodes frames of trackers.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};
use perigee_core::time::{Clock, SystemClock};
use perigee_gateways::{LineDecoder, LineDefaults};

use crate::args::Decode;

/// Decodes a file or standard input, line by line.
pub(crate) fn run(options: &Decode) -> Result<()> {
    let input: Box<dyn BufRead> = match options.file.as_deref().filter(|file| *file != Path::new("-")) {
        Some(file) => {
            let opened = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
            Box::new(BufReader::new(opened))
        }
        None => Box::new(std::io::stdin().lock()),
    };
    decode(options, input, &mut std::io::stdout().lock(), &SystemClock)
}

fn decode(options: &Decode, input: impl BufRead, output: &mut impl Write, clock: &impl Clock) -> Result<()> {
    let mut lines = LineDecoder::new(LineDefaults {
        protocol: options.protocol.clone(),
        model: options.model.clone(),
        session: options.session,
        options: perigee_gateways::Options::default(),
    });
    for line in input.lines() {
        let line = line.context("cannot read the frames")?;
        if let Some(answer) = lines.decode(&line, clock.now()) {
            writeln!(output, "{answer}").context("cannot write what was decoded")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use perigee_core::time::{MockClock, Timestamp};
    use serde_json::{Value, json};

    use super::*;

    fn decoded(protocol: Option<&str>, session: bool, lines: &str) -> Vec<Value> {
        let protocol = protocol.map(str::to_owned);
        let options = Decode { file: None, protocol, model: None, session };
        let clock = MockClock::at(Timestamp::from_millis(1_780_000_000_000));
        let mut output = Vec::new();
        decode(&options, lines.as_bytes(), &mut output, &clock).unwrap();
        let text = String::from_utf8(output).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    const LOGIN: &str = "78780D01086471700328358100093F040D0A";
    const POSITION: &str = "78781f12180a040f382ccf0342a34c03427ba823d47a025a0256b900e375047595260d0a";

    #[test]
    fn guesses_the_protocol_and_writes_locations() {
        let lines = decoded(None, false, &format!("{LOGIN}\n\n{POSITION}\n"));
        assert_eq!(lines[0]["identifiers"], json!(["864717003283581"]));
        assert_eq!(lines[0]["replies"], json!([{"hex": "78780501000955940d0a"}]));
        let report = &lines[1]["reports"][0];
        assert_eq!(report["located"], json!(true));
        assert_eq!(report["dateTime"], json!("2024-10-04T15:56:44Z"));
        assert_eq!(
            (&report["speed"], &report["course"], &report["satellites"]),
            (&json!(35), &json!(122), &json!(15))
        );
        assert_eq!(lines[1]["error"], Value::Null);
    }

    #[test]
    fn a_session_knows_its_device_from_the_login_on() {
        let lines = decoded(Some("gt06"), true, &format!("{POSITION}\n{LOGIN}\n{POSITION}\n"));
        assert_eq!(
            lines[0]["error"],
            json!("the connection sent data before a login that identifies the device")
        );
        assert_eq!(lines[0]["replies"], json!([]));
        assert_eq!(lines[2]["reports"][0]["satellites"], json!(15));
    }

    #[test]
    fn says_what_is_wrong_with_a_line() {
        let lines =
            decoded(None, false, "xyz\n{\"text\": 1}\n{\"protocol\": \"none\", \"hex\": \"00\"}\n00\n");
        let errors: Vec<_> = lines.iter().map(|line| line["error"].as_str().unwrap()).collect();
        assert_eq!(
            errors,
            [
                "a line must be hexadecimal digits or a JSON object",
                "a JSON object must have \"hex\" or \"text\"",
                "the protocol \"none\" does not exist",
                "the first bytes do not match any protocol; give the protocol",
            ]
        );
        let damaged = POSITION.replace("9526", "9527");
        let line = &decoded(None, false, &damaged)[0];
        assert_eq!(
            line["error"],
            json!("the frame is damaged: its checksum is 0x9527, but 0x9526 was computed from its bytes")
        );
        assert_eq!(line["reports"][0]["satellites"], json!(15));
    }
}
