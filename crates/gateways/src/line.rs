//! `perigee decode`, line by line: decodes a frame and writes its content.

use std::collections::BTreeMap;

use perigee_core::gateways::decoding::Decoding;
use perigee_core::time::Timestamp;
use serde_json::{Map, Value as Json, json};

use crate::decoded::{Context, DecodeError, Decoded, Decoder, Options};
use crate::location::report_json;
use crate::model::find_model;
use crate::notation::hex::parse_hex;
use crate::notation::reader::hex_digits;
use crate::protocol::{Protocol, find_protocol};
use crate::sniff::sniff;

/// Defaults for lines that do not set them.
#[derive(Clone, Debug, Default)]
pub struct LineDefaults {
    /// The protocol; recognised from the bytes if none is given.
    pub protocol: Option<String>,
    /// Model of the device; `None` to use the one that it reports.
    pub model: Option<String>,
    /// Whether to keep the state of the connection from line to line.
    pub session: bool,
    /// Settings of the device. Those of a line take precedence.
    pub options: Options,
}

/// Decodes frames that are given as lines of text.
pub struct LineDecoder {
    defaults: LineDefaults,
    sessions: BTreeMap<&'static str, Session>,
}

/// The state of a connection after some lines.
struct Session {
    decoder: Box<dyn Decoder>,
    identifier: Option<String>,
    model: Option<String>,
}

impl std::fmt::Debug for LineDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineDecoder").field("defaults", &self.defaults).finish_non_exhaustive()
    }
}

/// A line of the input.
struct Line {
    protocol: Option<String>,
    bytes: Vec<u8>,
    model: Option<String>,
    options: Options,
    known: Option<bool>,
    datagram: bool,
}

impl LineDecoder {
    /// A decoder that has not read a line yet.
    pub const fn new(defaults: LineDefaults) -> Self {
        Self { defaults, sessions: BTreeMap::new() }
    }

    /// Decodes one line, hex digits or a JSON object, into one JSON object. None for a blank line.
    pub fn decode(&mut self, line: &str, now: Timestamp) -> Option<Json> {
        let line = line.trim();
        if line.is_empty() {
            return None;
        }
        Some(match self.try_decode(line, now) {
            Ok((protocol, decoded)) => decoded_json(protocol, &decoded),
            Err(message) => json!({"identifiers": [], "reports": [], "replies": [], "error": message}),
        })
    }

    fn try_decode(&mut self, line: &str, now: Timestamp) -> Result<(&'static Protocol, Decoded), String> {
        let line = parse_line(line)?;
        let protocol = match line.protocol.as_ref().or(self.defaults.protocol.as_ref()) {
            Some(name) => {
                find_protocol(name).ok_or_else(|| format!("the protocol {name:?} does not exist"))?
            }
            None => sniff(&line.bytes).0.ok_or_else(|| DecodeError::UnknownProtocol.to_string())?,
        };
        let mut fresh = Session { decoder: (protocol.decoder)(), identifier: None, model: None };
        let keep = self.defaults.session;
        let session = if keep { self.sessions.entry(protocol.name).or_insert(fresh) } else { &mut fresh };
        let model = line.model.or_else(|| self.defaults.model.clone()).or_else(|| session.model.clone());
        let known = model.as_deref().and_then(find_model);
        let implied = Options::for_device(None, protocol, known, &Decoding::default());
        let options = implied.overlaid(&self.defaults.options).overlaid(&line.options);
        let context = Context {
            known: line.known.unwrap_or(!keep || session.identifier.is_some()),
            identifier: session.identifier.as_deref(),
            model: known.map(|model| model.read_as).or(model.as_deref()),
            options: &options,
            datagram: line.datagram,
            now,
        };
        let decoded = session.decoder.decode(&line.bytes, &context);
        if let Some(identifier) = decoded.identifiers.first() {
            session.identifier = Some(identifier.clone());
        }
        if decoded.model.is_some() {
            session.model.clone_from(&decoded.model);
        }
        Ok((protocol, decoded))
    }
}

fn parse_line(line: &str) -> Result<Line, String> {
    if !line.starts_with('{') {
        let bytes = parse_hex(line).ok_or("a line must be hexadecimal digits or a JSON object")?;
        return Ok(Line {
            protocol: None,
            bytes,
            model: None,
            options: Options::default(),
            known: None,
            datagram: false,
        });
    }
    let mut members: Map<String, Json> =
        serde_json::from_str(line).map_err(|error| format!("the line is not a JSON object: {error}"))?;
    let text = |name: &str| members.get(name).and_then(Json::as_str).map(str::to_owned);
    let bytes = match (text("hex"), text("text")) {
        (Some(hex), _) => parse_hex(&hex).ok_or("\"hex\" must be hexadecimal digits")?,
        (None, Some(text)) => text.into_bytes(),
        (None, None) => return Err("a JSON object must have \"hex\" or \"text\"".to_owned()),
    };
    let (protocol, model) = (text("protocol"), text("model"));
    let known = members.get("known").and_then(Json::as_bool);
    let datagram = members.get("datagram").and_then(Json::as_bool).unwrap_or(false);
    let options = match members.remove("options") {
        Some(Json::Object(options)) => Options::new(options),
        _ => Options::default(),
    };
    Ok(Line { protocol, bytes, model, options, known, datagram })
}

/// The decoded content of a frame, as `perigee decode` writes it.
pub fn decoded_json(protocol: &Protocol, decoded: &Decoded) -> Json {
    let replies: Vec<Json> = decoded.replies.iter().map(|bytes| json!({"hex": hex_digits(bytes)})).collect();
    let mut object = json!({
        "protocol": protocol.name,
        "identifiers": decoded.identifiers,
        "reports": decoded.reports.iter().map(report_json).collect::<Vec<_>>(),
        "replies": replies,
        "error": decoded.error.map(|error| error.to_string()),
    });
    if let Some(members) = object.as_object_mut() {
        if let Some(model) = &decoded.model {
            members.insert("model".to_owned(), json!(model));
        }
        if !decoded.files.is_empty() {
            let file = |file: &crate::UploadedFile| json!({"name": file.name, "bytes": file.bytes.len()});
            members.insert("files".to_owned(), decoded.files.iter().map(file).collect());
        }
    }
    object
}
