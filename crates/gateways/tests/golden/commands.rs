//! Recorded commands.

use perigee_core::devices::command::CommandKind;
use perigee_core::time::Timestamp;
use perigee_gateways::{
    Command, Options, PROTOCOLS, Target, encode_command, find_protocol, notation::reader::hex_digits,
    supported_commands,
};

use super::frames::rows;

#[test]
fn commands_are_written_as_recorded() {
    let mut wrong = Vec::new();
    let rows = rows("commands");
    assert_eq!(rows.len(), 35);
    for row in rows {
        let protocol = find_protocol(row["protocol"].as_str().unwrap()).unwrap();
        let command = Command {
            kind: row["command"].as_str().unwrap().to_owned(),
            values: row["values"].as_object().unwrap().clone(),
        };
        let want = match row["output"]["text"].as_str() {
            Some(text) => hex_digits(text.as_bytes()),
            None => row["output"]["hex"].as_str().unwrap().to_owned(),
        };
        // TK103 has two forms; an option of the device chooses between them.
        let alternative = row["output"]["text"].as_str().is_some_and(|text| text.starts_with("[begin]"));
        let members = serde_json::json!({"alternative": alternative}).as_object().unwrap().clone();
        let options = Options::new(members);
        let target = Target {
            identifier: "123456789012345",
            model: row["model"].as_str(),
            options: &options,
            now: Timestamp::from_millis(0),
        };
        let written = encode_command(protocol, &command, &target).map(|bytes| hex_digits(&bytes));
        if written.as_ref() != Ok(&want) {
            wrong.push(format!("{row}\n  written {written:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn protocols_say_which_commands_they_take() {
    let options = Options::default();
    let target = Target {
        identifier: "123456789012345",
        model: None,
        options: &options,
        now: Timestamp::from_millis(0),
    };
    let of = |name: &str| supported_commands(find_protocol(name).unwrap(), &target);
    assert!(of("gt06").contains(&CommandKind::EngineStop) && !of("gt06").contains(&CommandKind::SendSms));
    assert_eq!(of("wialon-ips"), [CommandKind::Message, CommandKind::Custom]);
    assert_eq!(of("calamp"), [CommandKind::Custom]);
    for protocol in PROTOCOLS {
        for kind in supported_commands(protocol, &target) {
            let command = Command { kind: kind.name().to_owned(), values: kind.sample() };
            let written = encode_command(protocol, &command, &target);
            assert!(written.is_ok(), "{} {kind:?} {written:?}", protocol.name);
        }
    }
}
