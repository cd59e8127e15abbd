//! Decodes TK103 sentences: `(name kind content)`, or `(name,kind,content)` of newer units.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::fields::real;
use crate::report::Report;

use super::battery::{read_cells, read_pack, read_state};
use super::network::{read_access_points, read_braced_cells, read_neighbours};
use super::position::{date_and_time, read_position};

/// Decodes TK103 sentences, each of which has the identifier of its device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tk103Decoder;

impl Decoder for Tk103Decoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        Decoded::from(read(&String::from_utf8_lossy(frame))).in_zone(context)
    }
}

/// The identifier, the type of four letters and digits, and the content of a sentence.
pub(super) struct Sentence<'a> {
    pub(super) name: &'a str,
    pub(super) kind: &'a str,
    pub(super) content: &'a str,
    /// Whether fields are separated by commas and dates begin with the day.
    pub(super) commas: bool,
}

fn split(text: &str) -> Option<Sentence<'_>> {
    let text = text.trim();
    let text = text.strip_prefix('(').unwrap_or(text);
    let text = text.strip_suffix(')').unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length = match text.as_bytes().get(digits) {
        Some(b',') => digits,
        // An identifier with other characters than digits has twelve characters.
        _ if digits < 10 => 12,
        _ => digits,
    };
    let (name, rest) = text.split_at_checked(length)?;
    let (commas, rest) = rest.strip_prefix(',').map_or((false, rest), |rest| (true, rest));
    let (kind, content) = rest.split_at_checked(4)?;
    let content = content.strip_prefix(',').unwrap_or(content);
    kind.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(Sentence { name, kind, content, commas })
}

fn read(text: &str) -> Result<Decoded, DecodeError> {
    let sentence =
        split(text).ok_or(DecodeError::Malformed("a sentence must have an identifier and a type"))?;
    let mut decoded = Decoded::identified(sentence.name);
    match sentence.kind {
        "BP00" if !sentence.commas => return Ok(decoded.with_reply(format!("({}AP01HSO)", sentence.name))),
        "BP05" if !sentence.commas => decoded.reply(format!("({}AP05)", sentence.name)),
        _ => {}
    }
    match read_content(&sentence) {
        Some(report) => decoded.reports.push(report),
        None => decoded.error = Some(DecodeError::Malformed("the type of the sentence is unknown")),
    }
    Ok(decoded)
}

fn read_content(sentence: &Sentence<'_>) -> Option<Report> {
    let content = sentence.content;
    match sentence.kind {
        "ZC20" => read_state(content),
        "ZC03" => read_answer(content),
        "BZ00" if !content.contains('{') => read_neighbours(content),
        "BV00" => {
            let mut report = Report::default();
            report.set_text("vin", content.get(..17)?);
            Some(report)
        }
        "BS50" => read_pack(content),
        "BS51" => read_cells(content),
        kind if kind.starts_with("DW5") || kind.starts_with("DW6") => read_access_points(kind, content),
        _ if content.contains('{') => read_braced_cells(content),
        _ => read_position(sentence),
    }
}

/// `ddMMyy,HHmmss,$text$`: the answer of the unit to a command.
fn read_answer(content: &str) -> Option<Report> {
    let mut parts = content.splitn(3, ',');
    let time = date_and_time(parts.next()?, parts.next()?, true);
    let text = parts.next()?.split('$').nth(1)?;
    let mut report = Report { time, ..Report::default() };
    report.set_text("result", text);
    Some(report)
}

/// A number without padding blanks.
pub(super) fn padded(text: &str) -> Option<f64> {
    real(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::Options;

    #[test]
    fn a_clock_in_local_time_is_taken_back_to_utc() {
        let members = serde_json::json!({"timeZoneMinutes": 480}).as_object().unwrap().clone();
        let options = Options::new(members);
        let now = perigee_core::time::Timestamp::from_millis(0);
        let context =
            Context { known: true, identifier: None, model: None, options: &options, datagram: false, now };
        let frame = b"(013632651491,BP05,040613,A,2234.0297N,11405.9101E,000.0,040137,178.48)";
        let decoded = Tk103Decoder.decode(frame, &context);
        let time = decoded.reports.first().and_then(|report| report.time).map(|time| time.to_string());
        assert_eq!(time.as_deref(), Some("2013-06-03T20:01:37Z"));
    }
}
