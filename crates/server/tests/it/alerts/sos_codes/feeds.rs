//! A request for each way in which a feed reports an SOS, and for each of its words.

use perigee_gateways::alarm_document;
use serde_json::{Value, json};

pub(super) const IMEI: &str = "300434000000001";
/// 31 December 2025, 12:00, in Unix seconds.
const AT_S: i64 = 1_767_182_400;

/// The word of phones, mappings and templates.
const WORD: &str = "sos";

/// A request that is an SOS.
pub(super) struct Pushed {
    pub(super) feed: &'static str,
    /// The code, as the page of alarm codes writes it.
    pub(super) code: &'static str,
    /// Where the code is in the message, if a feed has several ways.
    pub(super) place: &'static str,
    pub(super) options: fn() -> Value,
    pub(super) query: &'static str,
    /// The body, for a device with this identifier.
    pub(super) body: fn(&str) -> String,
}

const fn pushed(feed: &'static str, code: &'static str, body: fn(&str) -> String) -> Pushed {
    Pushed { feed, code, place: "", options: || json!({}), query: "", body }
}

impl Pushed {
    const fn options(mut self, options: fn() -> Value) -> Self {
        self.options = options;
        self
    }

    const fn by(mut self, place: &'static str) -> Self {
        self.place = place;
        self
    }

    const fn query(mut self, query: &'static str) -> Self {
        self.query = query;
        self
    }
}

fn garmin(imei: &str, code: i64) -> String {
    // Without a fix.
    let point = json!({"latitude": 0, "longitude": 0, "altitude": 0, "gpsFix": 0, "course": 0, "speed": 0});
    json!({"Version": "2.0", "Events": [{"imei": imei, "messageCode": code, "timeStamp": AT_S * 1000, "point": point}]})
        .to_string()
}

fn spot(esn: &str, kind: &str) -> String {
    format!(
        "<messageList><message><id>{esn}</id><esn>{esn}</esn><messageType>{kind}</messageType>\
         <timeInGMTSecond>{AT_S}</timeInGMTSecond><latitude>22.5</latitude><longitude>113.9</longitude></message></messageList>"
    )
}

fn zoleo(imei: &str, kind: &str) -> String {
    json!({"MessageId": imei, "MessageType": kind, "DeviceIMEI": imei, "Location": {},
           "Properties": {"EpochMiliseconds": (AT_S * 1000).to_string()}})
    .to_string()
}

fn rockblock(imei: &str, trigger: &str, has_position: bool) -> String {
    let mut body = json!({"imei": imei, "serial": "1", "momsn": "7", "transmit_time": "2025-12-31T12:00:05Z", "id": imei,
                          "at": "2025-12-31T12:00:00Z", "trigger": trigger, "transport": "IRIDIUM"});
    if has_position {
        (body["lat"], body["lon"]) = (json!("22.5"), json!("113.9"));
    }
    body.to_string()
}

fn somewear(serial: &str, kind: &str) -> String {
    let event =
        json!({"type": kind, "latitude": "22.5", "longitude": "113.9", "timestamp": "2025-12-31T12:00:00Z"});
    json!({"requestId": "r", "payloads": [{"device": {"serial": serial}, "events": [event]}]}).to_string()
}

fn bullitt(imsi: &str, kind: &str) -> String {
    json!({"messageId": imsi, "imsi": imsi, "timestamp": AT_S, "type": kind,
           "location": {"latitude": 22.5, "longitude": 113.9}})
    .to_string()
}

/// Traccar Client, with the members of a location beside its time.
fn traccar_client(imei: &str, more: &Value) -> String {
    let mut location = json!({"timestamp": "2025-12-31T12:00:00Z", "event": "alarm"});
    location.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"device_id": imei, "location": location}).to_string()
}

fn coords() -> Value {
    json!({"latitude": 22.5, "longitude": 113.9, "accuracy": 5, "speed": 0, "heading": 0, "altitude": 10})
}

/// A template with a flag in the third byte.
fn template() -> Value {
    json!({"template": {"fields": [
        {"field": "latitude", "offset": 0}, {"field": "longitude", "offset": 1},
        {"field": "alarm", "value": "sos", "when": [{"offset": 2, "equals": 1}]},
    ]}})
}

pub(super) const PUSHED: &[Pushed] = &[
    pushed("garmin", "4", |imei| garmin(imei, 4)),
    pushed("garmin", "6", |imei| garmin(imei, 6)),
    pushed("spot", "HELP", |esn| spot(esn, "HELP")),
    pushed("spot", "SOS", |esn| spot(esn, "SOS")),
    pushed("spot", "EMERGENCY", |esn| spot(esn, "EMERGENCY")),
    pushed("zoleo", "SOSInitiated", |imei| zoleo(imei, "SOSInitiated")),
    pushed("zoleo", "SOSConfirmed", |imei| zoleo(imei, "SOSConfirmed")),
    pushed("zoleo", "SOS… (any other)", |imei| zoleo(imei, "SOSUpdate")),
    pushed("rockblock", "ALERT", |imei| rockblock(imei, "ALERT", true)),
    pushed("rockblock", "EMERGENCY", |imei| rockblock(imei, "EMERGENCY", true)),
    pushed("rockblock", "SOS", |imei| rockblock(imei, "SOS", true)),
    pushed("rockblock", "DISTRESS", |imei| rockblock(imei, "DISTRESS", false)),
    pushed("globalstar", WORD, |esn| {
        format!(
            "<stuMessages messageID=\"m\"><stuMessage><esn>{esn}</esn><unixTime>{AT_S}</unixTime>\
             <payload>160501</payload></stuMessage></stuMessages>"
        )
    })
    .options(template),
    pushed("sigfox", "22", |device| {
        json!({"device": device, "time": AT_S, "payload": "220241b4000042e3cccd"}).to_string()
    }),
    pushed("sigfox", "62", |device| json!({"device": device, "time": AT_S, "payload": "620505"}).to_string()),
    pushed("osmand", WORD, |_| String::new())
        .query("?lat=22.5&lon=113.9&timestamp=1767182400&alarm=sos")
        .by("a query"),
    pushed("osmand", WORD, |_| String::new())
        .query("?timestamp=1767182400&alarm=SOS")
        .by("a query in capitals, without a position"),
    pushed("osmand", WORD, |imei| traccar_client(imei, &json!({"coords": coords(), "alarm": "sos"})))
        .by("alarm of a location"),
    pushed("osmand", WORD, |imei| {
        traccar_client(imei, &json!({"coords": coords(), "extras": {"alarm": "sos"}}))
    })
    .by("alarm in extras"),
    pushed("osmand", WORD, |imei| traccar_client(imei, &json!({"alarm": "sos"}))).by("alarm without coords"),
    pushed("osmand", WORD, |imei| traccar_client(imei, &json!({"extras": {"alarm": "sos"}})))
        .by("alarm in extras without coords"),
    pushed("somewear", "SOS", |serial| somewear(serial, "SOS")),
    pushed("somewear", "Sos", |serial| somewear(serial, "Sos")),
    pushed("somewear", "SosTriggered", |serial| somewear(serial, "SosTriggered")),
    pushed("bullitt", "SOS", |imsi| bullitt(imsi, "SOS")),
    pushed("bullitt", "Sos", |imsi| bullitt(imsi, "Sos")),
    pushed("bullitt", "StartSOS", |imsi| bullitt(imsi, "StartSOS")),
    pushed("rockblock", WORD, |imei| {
        json!({"imei": imei, "momsn": "8", "transmit_time": "2025-12-31T12:00:05Z", "data": "160501"})
            .to_string()
    })
    .options(template),
    pushed("cloudloop", WORD, |imei| {
        let date = json!({"year": 2025, "month": 12, "day": 31, "hour": 12, "minute": 0, "second": 0});
        json!({"id": imei, "receivedAt": date, "sbd": {"imei": imei}, "message": "FgUB"}).to_string()
    })
    .options(template),
    pushed("myriota", WORD, |terminal| {
        let packets =
            json!({"Packets": [{"Timestamp": AT_S * 1000, "TerminalId": terminal, "Value": "160501"}]});
        json!({"EndpointRef": "e", "Id": "i", "Data": packets.to_string()}).to_string()
    })
    .options(template),
    pushed("ttn", WORD, |eui| {
        json!({"end_device_ids": {"device_id": eui, "dev_eui": eui}, "received_at": "2025-12-31T12:00:00Z",
               "uplink_message": {"f_port": 1, "f_cnt": 1, "decoded_payload": {"latitude": 22.5, "longitude": 113.9, "alarm": "sos"}}})
            .to_string()
    }),
    pushed("chirpstack", WORD, |eui| {
        json!({"deduplicationId": eui, "time": "2025-12-31T12:00:00Z", "deviceInfo": {"devEui": eui}, "fCnt": 1, "fPort": 1,
               "object": {"latitude": 22.5, "longitude": 113.9, "alarm": "SOS"}})
            .to_string()
    }),
    pushed("gpslogger", WORD, |_| {
        json!({"lat": 22.5, "lon": 113.9, "time": "2025-12-31T12:00:00Z", "alarm": "sos"}).to_string()
    }),
    pushed("flespi", "true", |ident| {
        json!([{"ident": ident, "timestamp": AT_S, "position.latitude": 22.5, "position.longitude": 113.9, "sos.event.trigger": true}])
            .to_string()
    }),
    pushed("json", WORD, |_| json!({"lat": 22.5, "lon": 113.9, "type": "panic"}).to_string())
        .options(|| {
            json!({"mapping": {"fields": {"latitude": "/lat", "longitude": "/lon"},
                   "sos": [{"step": "declare", "when": {"path": "/type", "equals": "panic"}}]}})
        })
        .by("a step of the mapping"),
    pushed("json", WORD, |_| json!({"lat": 22.5, "lon": 113.9, "state": "SOS"}).to_string())
        .options(
            || json!({"mapping": {"fields": {"latitude": "/lat", "longitude": "/lon", "alarm": "/state"}}}),
        )
        .by("the alarm of a mapping"),
];

/// An answer of a provider that is polled, with an SOS.
pub(super) struct Polled {
    pub(super) feed: &'static str,
    /// The code, as the page of alarm codes writes it.
    pub(super) code: &'static str,
    pub(super) answer: fn() -> String,
}

const fn polled(feed: &'static str, code: &'static str, answer: fn() -> String) -> Polled {
    Polled { feed, code, answer }
}

fn spot_feed(kind: &str) -> String {
    json!({"response": {"feedMessageResponse": {"count": 1, "messages": {"message": {
        "id": 1, "messengerId": IMEI, "messengerName": "n", "unixTime": AT_S, "messageType": kind,
        "latitude": 22.5, "longitude": 113.9, "batteryState": "GOOD"}}}}})
    .to_string()
}

fn map_share() -> String {
    let data =
        [("Id", "1"), ("IMEI", IMEI), ("Latitude", "22.5"), ("Longitude", "113.9"), ("In Emergency", "True")];
    let data: Vec<String> = data
        .iter()
        .map(|(name, value)| format!("<Data name=\"{name}\"><value>{value}</value></Data>"))
        .collect();
    let data = data.concat();
    format!(
        "<kml><Document><Placemark><TimeStamp><when>2025-12-31T12:00:00Z</when></TimeStamp>\
         <ExtendedData>{data}</ExtendedData></Placemark></Document></kml>"
    )
}

fn history(code: i64) -> String {
    json!({"HistoryItems": [{"IMEI": IMEI, "Timestamp": format!("/Date({})/", AT_S * 1000), "MessageCode": code,
           "Coordinate": {"Latitude": 22.5, "Longitude": 113.9}, "GPSFixStatus": 2}]})
    .to_string()
}

pub(super) const POLLED: &[Polled] = &[
    polled("spot-feed", "HELP", || spot_feed("HELP")),
    polled("spot-feed", "SOS", || spot_feed("SOS")),
    polled("spot-feed", "EMERGENCY", || spot_feed("EMERGENCY")),
    polled("garmin-mapshare", "not False", map_share),
    polled("garmin-history", "4", || history(4)),
    polled("garmin-history", "6", || history(6)),
];

/// Feeds that the page names with the words of mappings and that have no case: their presets read the type of an event,
/// so that only a changed copy of the mapping, which is the feed `json`, contains a word; and answers of ORBCOMM are
/// decoded, but not fetched.
const WITHOUT_WORD: [&str; 4] = ["somewear", "bullitt", "flespi", "orbcomm"];

/// Every feed and SOS code of the page of alarm codes.
pub(super) fn codes_of_page() -> Vec<(String, String)> {
    let page = alarm_document();
    let (_, feeds) = page.split_once("\n## Feeds\n").unwrap();
    let mut found = Vec::new();
    for section in feeds.split("\n### ").skip(1) {
        let (feed, text) = section.split_once('\n').unwrap();
        if text.contains("(#words)") && !WITHOUT_WORD.contains(&feed) {
            found.push((feed.to_owned(), WORD.to_owned()));
        }
        for line in text.lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            if !cells.iter().skip(2).any(|cell| cell.starts_with("`SOSButton`")) {
                continue;
            }
            // A number, a word, or the path and the values of a condition.
            let quoted = cells[1].split('`').skip(1).step_by(2).filter(|code| !code.starts_with('/'));
            let mut codes: Vec<&str> = quoted.collect();
            if codes.is_empty() {
                codes.push(cells[1]);
            }
            found.extend(codes.into_iter().map(|code| (feed.to_owned(), code.to_owned())));
        }
    }
    found
}
