//! `RockBLOCK` MT: up to 270 bytes to a modem, which fetches them with its next session.

use perigee_core::devices::conversation::TextKind;

use super::call::{HttpPost, hex, quoted};
use super::{Address, Downlink, Outgoing, ProviderAnswer, ProviderCall, TextLimit, Verdict};
use crate::decoded::Options;

/// The address of Ground Control, unless the gateway has another.
const URL: &str = "https://rockblock.rock7.com/rockblock/MT";

/// `RockBLOCK` in the table of providers.
pub(super) const DOWNLINK: Downlink = Downlink {
    feed: "rockblock",
    link: "rockblock",
    limit: TextLimit::Bytes(270),
    kinds: &[TextKind::Text],
    address: Address::Imei,
    ready,
    call,
    read,
};

fn ready(options: &Options) -> Result<(), &'static str> {
    match (options.text("sendUser"), options.text("sendPassword")) {
        (Some(_), Some(_)) => Ok(()),
        _ => Err("The gateway has no options sendUser and sendPassword, the credentials of RockBLOCK."),
    }
}

fn call(outgoing: &Outgoing<'_>) -> ProviderCall {
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("imei", outgoing.address)
        .append_pair("username", outgoing.option("sendUser"))
        .append_pair("password", outgoing.option("sendPassword"))
        .append_pair("data", &hex(outgoing.text.as_bytes()))
        .finish();
    ProviderCall::Post(HttpPost {
        url: outgoing.options.text("sendUrl").unwrap_or(URL).to_owned(),
        // In the body, because URLs are written to logs.
        headers: vec![("content-type", "application/x-www-form-urlencoded".to_owned())],
        body: body.into_bytes(),
    })
}

fn read(_: &Outgoing<'_>, answer: &ProviderAnswer<'_>) -> Verdict {
    read_answer(answer.status, answer.body)
}

fn read_answer(status: u16, body: &[u8]) -> Verdict {
    let answer = quoted(body);
    let mut parts = answer.splitn(3, ',').map(str::trim);
    match (status, parts.next(), parts.next()) {
        (200..=299, Some("OK"), number) => {
            Verdict::Accepted(number.filter(|number| !number.is_empty()).map(str::to_owned))
        }
        (_, Some("FAILED"), Some(code)) => failed(code, parts.next().unwrap_or_default()),
        (429, ..) => Verdict::Later("RockBLOCK receives too many messages now.".to_owned()),
        (200..=299, ..) => Verdict::Unclear(format!("RockBLOCK answered neither OK nor FAILED: {answer}")),
        (500..=599, ..) => Verdict::Unclear(format!(
            "RockBLOCK has an error (status {status}). The message may have been sent. It is not sent again, because it would \
             be billed twice."
        )),
        _ => Verdict::Refused(format!("RockBLOCK refused the message with status {status}: {answer}")),
    }
}

fn failed(code: &str, text: &str) -> Verdict {
    let sentence = match code {
        "10" => {
            "RockBLOCK refused the credentials. Check the options sendUser and sendPassword of the gateway."
        }
        "11" => "RockBLOCK does not know the IMEI of the device in this account.",
        "12" => "The device has no line rental at RockBLOCK.",
        "13" => "The account at RockBLOCK has no credit left.",
        "14" => "RockBLOCK could not read the data of the message.",
        "15" => "The message is too long for RockBLOCK.",
        "16" => "The message has no text.",
        "99" => "RockBLOCK has an internal error. Send the message again later.",
        _ => return Verdict::Refused(format!("RockBLOCK refused the message with error {code}: {text}")),
    };
    Verdict::Refused(sentence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        assert_eq!(read_answer(200, b"OK,4114651"), Verdict::Accepted(Some("4114651".to_owned())));
        assert_eq!(read_answer(200, b"OK\n"), Verdict::Accepted(None));
        for code in [10, 11, 12, 13, 14, 15, 16, 99, 77] {
            let answer = format!("FAILED,{code},Some text, with a comma");
            let Verdict::Refused(sentence) = read_answer(200, answer.as_bytes()) else { panic!("{code}") };
            assert_eq!(sentence.contains("Some text, with a comma"), code == 77, "{sentence}");
        }
        assert!(matches!(read_answer(200, b"<html>"), Verdict::Unclear(_)));
        assert!(
            matches!(read_answer(502, b""), Verdict::Unclear(_)),
            "billed: never sent again without an answer"
        );
        assert!(matches!(read_answer(429, b""), Verdict::Later(_)));
    }
}
