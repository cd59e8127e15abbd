//! Cloudloop MT: up to 270 bytes to a modem, which fetches them with its next session.

use perigee_core::devices::conversation::TextKind;
use serde_json::Value as Json;

use super::call::{HttpPost, hex, quoted};
use super::{Address, Downlink, Outgoing, ProviderAnswer, ProviderCall, TextLimit, Verdict, iridium_status};
use crate::decoded::Options;

/// The interface of Ground Control, unless the gateway has another.
const URL: &str = "https://api.cloudloop.com";

/// Cloudloop in the table of providers.
pub(super) const DOWNLINK: Downlink = Downlink {
    feed: "cloudloop",
    link: "cloudloop",
    limit: TextLimit::Bytes(270),
    kinds: &[TextKind::Text],
    address: Address::Thing,
    ready,
    call,
    read,
};

fn ready(options: &Options) -> Result<(), &'static str> {
    match options.text("sendToken") {
        Some(_) => Ok(()),
        None => Err("The gateway has no option sendToken, the token of Cloudloop's API."),
    }
}

fn call(outgoing: &Outgoing<'_>) -> ProviderCall {
    let base = Some(outgoing.option("sendUrl")).filter(|url| !url.is_empty()).unwrap_or(URL);
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("token", outgoing.option("sendToken"))
        .append_pair("thing", outgoing.address)
        .append_pair("message", &hex(outgoing.text.as_bytes()))
        .finish();
    ProviderCall::Post(HttpPost {
        url: format!("{}/Data/DoSendSbdMessage", base.trim_end_matches('/')),
        // In the body, because URLs are written to logs.
        headers: vec![
            ("content-type", "application/x-www-form-urlencoded".to_owned()),
            ("accept", "application/json".to_owned()),
        ],
        body: body.into_bytes(),
    })
}

fn read(_: &Outgoing<'_>, answer: &ProviderAnswer<'_>) -> Verdict {
    let (status, said) = (answer.status, quoted(answer.body));
    let json: Json = serde_json::from_slice(answer.body).unwrap_or_default();
    let text = |name: &str| json.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
    let may_be_sent =
        "The message may have been sent. It is not sent again, because it would be billed twice.";
    match status {
        // Cloudloop reports refusals with status 200 too.
        200..=299 if text("error").is_some() => refused(&quoted(text("error").unwrap_or_default().as_bytes())),
        200..=299 => match (json.get("mtMessageStatus").and_then(Json::as_i64), text("id")) {
            (Some(code), reference) => {
                iridium_status::verdict("Cloudloop", code, reference.map(str::to_owned))
            }
            (None, Some(id)) => Verdict::Accepted(Some(quoted(id.as_bytes()))),
            (None, None) => Verdict::Unclear(format!(
                "Cloudloop answered without the ID of a message: {said}. {may_be_sent}"
            )),
        },
        401 | 403 => Verdict::Refused(
            "Cloudloop refused the token: it is wrong, or was replaced. Check the option sendToken of the gateway."
                .to_owned(),
        ),
        429 => Verdict::Later("Cloudloop receives too many messages now.".to_owned()),
        500..=599 => Verdict::Unclear(format!("Cloudloop has an error (status {status}). {may_be_sent}")),
        _ => match text("error") {
            Some(error) => refused(&quoted(error.as_bytes())),
            None => Verdict::Refused(format!("Cloudloop refused the message with status {status}: {said}")),
        },
    }
}

/// The sentence for the name of an error. Cloudloop documents no list of names.
fn refused(error: &str) -> Verdict {
    let name = error.to_ascii_lowercase();
    let advice = if name.contains("auth") || name.contains("token") || name.contains("permission") {
        "Check the option sendToken of the gateway."
    } else if name.contains("input") || name.contains("thing") {
        "Check that the ID of the Thing among the identifiers of the device is right, and that the Thing is in the account of \
         the token."
    } else {
        "Ask Ground Control's support about this error."
    };
    Verdict::Refused(format!("Cloudloop refused the message: {}. {advice}", error.trim_end_matches('.')))
}
