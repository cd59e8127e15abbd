//! Providers on a real socket that are polled: SPOT's shared pages, Garmin's `MapShare` and history, with their rules.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use perigee_core::time::{Clock as _, MockClock, Timestamp};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The interval that SPOT requires between two requests for one page, in seconds.
const SPOT_REST_S: i64 = 150;
/// Messages of a page of SPOT.
const SPOT_PAGE: usize = 50;
/// How long SPOT keeps messages, in seconds.
const SPOT_KEPT_S: i64 = 7 * 86_400;

/// A message that a device sent to its provider.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) device: String,
    pub(crate) at_s: i64,
    pub(crate) kind: &'static str,
}

impl Message {
    /// Its position, different for each message, in degrees with five digits.
    pub(crate) fn position(&self) -> (f64, f64) {
        let number = u32::try_from(self.at_s.rem_euclid(100_000)).unwrap();
        (f64::from(number) / 1e5, 5.0 + f64::from(number) / 1e5)
    }
}

/// The data of the provider, and its behaviour.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) messages: Vec<Message>,
    /// Answers the next requests with this status and these headers.
    pub(crate) refuse: Option<(u16, &'static str)>,
    /// Answers 200 with this body.
    pub(crate) body: Option<String>,
    /// Paths with their queries, in order.
    pub(crate) requests: Vec<String>,
    /// Requests against the provider's rules.
    pub(crate) abuses: Vec<String>,
    last: HashMap<String, i64>,
}

pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    pub(crate) state: Arc<Mutex<State>>,
    accepting: JoinHandle<()>,
}

impl Provider {
    pub(crate) async fn new(clock: &MockClock) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let (shared, clock) = (Arc::clone(&state), clock.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (shared, clock) = (Arc::clone(&shared), clock.clone());
                tokio::spawn(async move { serve(stream, &shared, &clock).await });
            }
        });
        Self { address, state, accepting }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Devices send this many messages, evenly between two instants.
    pub(crate) fn fill(&self, device: &str, from_s: i64, to_s: i64, count: i64) {
        let at = |index: i64| from_s + (to_s - from_s) * index / count;
        let message = |index| Message { device: device.to_owned(), at_s: at(index), kind: "TRACK" };
        self.state.lock().unwrap().messages.extend((0..count).map(message));
    }

    pub(crate) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests.len()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(stream: TcpStream, state: &Mutex<State>, clock: &MockClock) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        let target = line.split(' ').nth(1)?.to_owned();
        let mut headers = HashMap::new();
        loop {
            line.clear();
            stream.read_line(&mut line).await.ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let now_s = clock.now().as_seconds();
        let (status, extra, body) = answer(&mut state.lock().unwrap(), &target, &headers, now_s);
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n{extra}\r\n", body.len());
        stream.write_all(head.as_bytes()).await.ok()?;
        stream.write_all(body.as_bytes()).await.ok()?;
    }
}

fn answer(
    state: &mut State,
    target: &str,
    headers: &HashMap<String, String>,
    now_s: i64,
) -> (u16, &'static str, String) {
    state.requests.push(target.to_owned());
    if let Some((status, extra)) = state.refuse {
        return (status, extra, "no".to_owned());
    }
    if let Some(body) = &state.body {
        return (200, "", body.clone());
    }
    let url = url::Url::parse(&format!("http://provider{target}")).unwrap();
    let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
    if url.path().starts_with("/spot/") {
        spot(state, url.path(), &query, now_s)
    } else if url.path().starts_with("/share/") {
        mapshare(state, &query, headers)
    } else {
        history(state, &query, headers)
    }
}

fn instant_s(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap_or_else(|_| panic!("{text:?} is no date")).as_seconds()
}

fn spot(
    state: &mut State,
    path: &str,
    query: &HashMap<String, String>,
    now_s: i64,
) -> (u16, &'static str, String) {
    if state.last.insert(path.to_owned(), now_s).is_some_and(|last| now_s - last < SPOT_REST_S) {
        state.abuses.push(format!("{path} after less than {SPOT_REST_S} s"));
        return (403, "", "blocked".to_owned());
    }
    if query.get("feedPassword").is_some_and(|password| password != "secret-word") {
        return (200, "", json!({"response": {"errors": {"error": {"code": "E-0160"}}}}).to_string());
    }
    let from_s = instant_s(&query["startDate"].replace("-0000", "Z")).max(now_s - SPOT_KEPT_S);
    let start: usize = query.get("start").map_or(1, |start| start.parse().unwrap());
    let mut found: Vec<&Message> =
        state.messages.iter().filter(|message| message.at_s >= from_s && message.at_s <= now_s).collect();
    found.sort_by_key(|message| -message.at_s);
    let message = |message: &&Message| {
        let (latitude, longitude) = message.position();
        json!({"id": message.at_s, "messengerId": message.device, "messengerName": "n", "unixTime": message.at_s,
               "messageType": message.kind, "latitude": latitude, "longitude": longitude, "batteryState": "GOOD"})
    };
    let page: Vec<Value> = found.iter().skip(start - 1).take(SPOT_PAGE).map(message).collect();
    let body = match page.as_slice() {
        [] => {
            json!({"response": {"errors": {"error": {"code": "E-0195", "text": "No Messages to display"}}}})
        }
        [one] => json!({"response": {"feedMessageResponse": {"count": 1, "messages": {"message": one}}}}),
        many => {
            json!({"response": {"feedMessageResponse": {"count": many.len(), "messages": {"message": many}}}})
        }
    };
    (200, "", body.to_string())
}

fn mapshare(
    state: &mut State,
    query: &HashMap<String, String>,
    headers: &HashMap<String, String>,
) -> (u16, &'static str, String) {
    let expected = format!("Basic {}", STANDARD.encode(":secret-word"));
    if headers.get("authorization") != Some(&expected) {
        return (401, "", String::new());
    }
    let (from_s, to_s) = (instant_s(&query["d1"]), instant_s(&query["d2"]));
    let placemark = |message: &Message, event: &str| {
        let (latitude, longitude) = message.position();
        let when = Timestamp::from_millis(message.at_s * 1000);
        let data = [
            ("Id", message.at_s.to_string()),
            ("IMEI", message.device.clone()),
            ("Latitude", latitude.to_string()),
            ("Longitude", longitude.to_string()),
            ("Elevation", "5.10 m from MSL".to_owned()),
            ("Velocity", "1.5 km/h".to_owned()),
            ("Valid GPS Fix", "True".to_owned()),
            ("In Emergency", "False".to_owned()),
            ("Event", event.to_owned()),
        ];
        let data: Vec<String> = data
            .iter()
            .map(|(name, value)| format!("<Data name=\"{name}\"><value>{value}</value></Data>"))
            .collect();
        let data = data.concat();
        format!(
            "<Placemark><TimeStamp><when>{when}</when></TimeStamp><ExtendedData>{data}</ExtendedData></Placemark>"
        )
    };
    let found = state.messages.iter().filter(|message| (from_s..=to_s).contains(&message.at_s));
    let mut placemarks: String =
        found.map(|message| placemark(message, "Tracking message received.")).collect();
    let elsewhere = Message { device: "300434000000001".to_owned(), at_s: from_s + 1, kind: "" };
    placemarks += &placemark(&elsewhere, "Reference Point message received.");
    let kml = format!(
        "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><kml><Document><Folder>{placemarks}</Folder></Document></kml>"
    );
    (200, "content-type: application/vnd.google-earth.kml+xml\r\n", kml)
}

fn history(
    state: &mut State,
    query: &HashMap<String, String>,
    headers: &HashMap<String, String>,
) -> (u16, &'static str, String) {
    if headers.get("x-api-key").map(String::as_str) != Some("secret-word") {
        return (401, "", String::new());
    }
    let (from_s, to_s) = (instant_s(&query["start"]), instant_s(&query["end"]));
    let item = |message: &Message| {
        let (latitude, longitude) = message.position();
        json!({"IMEI": message.device, "Timestamp": format!("/Date({})/", message.at_s * 1000), "Altitude": 1,
               "Coordinate": {"Latitude": latitude, "Longitude": longitude}, "Course": 90, "Speed": 3, "GPSFixStatus": 2})
    };
    let found = state
        .messages
        .iter()
        .filter(|message| message.device == query["IMEI"] && (from_s..=to_s).contains(&message.at_s));
    (200, "", json!({"HistoryItems": found.map(item).collect::<Vec<_>>()}).to_string())
}
