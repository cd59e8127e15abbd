//! Recorded commands.

use perigee_core::time::Timestamp;
use perigee_gateways::{Command, Options, Target, find_protocol, reader::hex_digits};

use super::frames::rows;

#[test]
fn commands_are_written_as_recorded() {
    let mut wrong = Vec::new();
    for row in rows("commands") {
        let Some(protocol) = find_protocol(row["protocol"].as_str().unwrap()) else { continue };
        let command = Command {
            kind: row["command"].as_str().unwrap().to_owned(),
            values: row["values"].as_object().unwrap().clone(),
        };
        let want = match row["output"]["text"].as_str() {
            Some(text) => hex_digits(text.as_bytes()),
            None => row["output"]["hex"].as_str().unwrap().to_owned(),
        };
        // The same command is recorded in both forms that TK103 has, without the option that chooses between them.
        let written = [false, true].map(|alternative| {
            let members = serde_json::json!({"alternative": alternative}).as_object().unwrap().clone();
            let options = Options::new(members);
            let target = Target {
                identifier: "123456789012345",
                model: row["model"].as_str(),
                options: &options,
                now: Timestamp::from_millis(0),
            };
            (protocol.encode)(&command, &target).map(|bytes| hex_digits(&bytes))
        });
        if !written.iter().any(|bytes| bytes.as_ref() == Ok(&want)) {
            wrong.push(format!("{row}\n  written {written:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
