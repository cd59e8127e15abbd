//! Garmin IPC Inbound: its checks of keys and members, and the errors of its list.

use serde_json::{Value, json};

use super::Taken;
use super::http::{Answer, Request};

/// Maximum number of characters of a message.
const CHARACTERS: usize = 160;
/// The shortest and the longest tracking interval, in seconds.
const INTERVAL_S: std::ops::RangeInclusive<u64> = 30..=65_535;

/// The errors of Garmin's list that this interface finds itself.
const UNKNOWN_DEVICE: u32 = 4;
const INVALID_MESSAGE: u32 = 5;
const INVALID_TIMESTAMP: u32 = 6;
const INVALID_SENDER: u32 = 7;
const INVALID_INTERVAL: u32 = 12;

/// The refusal with a code of Garmin's list, with the status that Garmin sends with it.
pub(super) fn refusal(code: u32, description: &str) -> Answer {
    let status = match code {
        1 => 500,
        2 => 429,
        3 => 403,
        _ => 422,
    };
    let body = json!({"Code": code, "Description": description, "Message": "", "URL": "", "IMEI": null});
    (status, String::new(), body.to_string())
}

pub(super) fn take(known: &str, request: &Request<'_>) -> Result<(Taken, Answer), Answer> {
    let refuse = |status: u16| Err((status, String::new(), String::new()));
    match request.key {
        None => return refuse(401),
        Some(key) if key != known => return refuse(403),
        Some(_) => {}
    }
    let body: Value = serde_json::from_slice(request.body).unwrap_or_default();
    let path = request.bare_path().strip_prefix("/api/").unwrap_or_default().to_owned();
    let count = || (200, String::new(), json!({"count": 1}).to_string());
    let done = || (200, String::new(), String::new());
    let taken = |to: String| Taken { path: path.clone(), to, ..Taken::default() };
    match path.as_str() {
        "Messaging/Message" => Ok((message(&body, taken(String::new()))?, count())),
        "Location/SendLocationRequest" => Ok((taken(device(word(&body, "/IMEI/0"))?), count())),
        "Tracking/Interval" => {
            let imei = device(word(&body, "/Devices/0/Imei"))?;
            let interval_s = body.pointer("/Devices/0/Interval").and_then(Value::as_u64);
            if !interval_s.is_some_and(|interval| INTERVAL_S.contains(&interval)) {
                return Err(refusal(INVALID_INTERVAL, "The interval must be from 30 to 65535"));
            }
            Ok((Taken { interval_s, ..taken(imei) }, done()))
        }
        "Emergency/AcknowledgeDeclareEmergency" => {
            let imei = request.path.split_once("?IMEI=").map(|(_, imei)| imei.to_owned());
            Ok((taken(device(imei.unwrap_or_default())?), done()))
        }
        "Emergency/SendMessage" => {
            let imei = device(word(&body, "/IMEI"))?;
            if !word(&body, "/UtcTimeStamp").ends_with('Z') {
                return Err(refusal(INVALID_TIMESTAMP, "The time must be in UTC"));
            }
            Ok((Taken { text: Some(text(word(&body, "/Message"))?), ..taken(imei) }, done()))
        }
        _ => refuse(404),
    }
}

fn word(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn device(imei: String) -> Result<String, Answer> {
    let is_imei = imei.len() == 15 && imei.bytes().all(|byte| byte.is_ascii_digit());
    if is_imei { Ok(imei) } else { Err(refusal(UNKNOWN_DEVICE, "The device is unknown")) }
}

fn text(text: String) -> Result<String, Answer> {
    if text.is_empty() || text.chars().count() > CHARACTERS {
        return Err(refusal(INVALID_MESSAGE, "The message must have 1 to 160 characters"));
    }
    Ok(text)
}

fn message(body: &Value, taken: Taken) -> Result<Taken, Answer> {
    let message = body.pointer("/Messages/0").cloned().unwrap_or_default();
    let to = device(word(&message, "/Recipients/0"))?;
    let sender = word(&message, "/Sender");
    if sender.is_empty() {
        return Err(refusal(INVALID_SENDER, "The sender is missing"));
    }
    if !word(&message, "/Timestamp").starts_with("/Date(") {
        return Err(refusal(INVALID_TIMESTAMP, "The time is missing"));
    }
    Ok(Taken { to, text: Some(text(word(&message, "/Message"))?), sender, ..taken })
}
