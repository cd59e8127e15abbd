//! A request for each way in which a feed says SOS. Where a feed has several words for it, each of them.

use serde_json::{Value, json};

pub(super) const IMEI: &str = "300434000000001";
/// 31 December 2025, 12:00, in Unix seconds.
const AT_S: i64 = 1_767_182_400;

/// A request that is an SOS.
pub(super) struct Pushed {
    pub(super) feed: &'static str,
    pub(super) what: &'static str,
    pub(super) options: fn() -> Value,
    pub(super) query: &'static str,
    /// The body, for a device with this identifier.
    pub(super) body: fn(&str) -> String,
}

const fn pushed(feed: &'static str, what: &'static str, body: fn(&str) -> String) -> Pushed {
    Pushed { feed, what, options: || json!({}), query: "", body }
}

impl Pushed {
    const fn options(mut self, options: fn() -> Value) -> Self {
        self.options = options;
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

fn rockblock(imei: &str, trigger: &str, place: bool) -> String {
    let mut body = json!({"imei": imei, "serial": "1", "momsn": "7", "transmit_time": "2025-12-31T12:00:05Z", "id": imei,
                          "at": "2025-12-31T12:00:00Z", "trigger": trigger, "transport": "IRIDIUM"});
    if place {
        (body["lat"], body["lon"]) = (json!("22.5"), json!("113.9"));
    }
    body.to_string()
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
    pushed("garmin", "code 4", |imei| garmin(imei, 4)),
    pushed("garmin", "code 6", |imei| garmin(imei, 6)),
    pushed("spot", "HELP", |esn| spot(esn, "HELP")),
    pushed("spot", "SOS", |esn| spot(esn, "SOS")),
    pushed("spot", "EMERGENCY", |esn| spot(esn, "EMERGENCY")),
    pushed("zoleo", "SOSInitiated", |imei| zoleo(imei, "SOSInitiated")),
    pushed("zoleo", "SOSConfirmed", |imei| zoleo(imei, "SOSConfirmed")),
    pushed("zoleo", "any other SOS", |imei| zoleo(imei, "SOSUpdate")),
    pushed("rockblock", "ALERT", |imei| rockblock(imei, "ALERT", true)),
    pushed("rockblock", "EMERGENCY", |imei| rockblock(imei, "EMERGENCY", true)),
    pushed("rockblock", "SOS", |imei| rockblock(imei, "SOS", true)),
    pushed("rockblock", "DISTRESS without a fix", |imei| rockblock(imei, "DISTRESS", false)),
    pushed("globalstar", "a template", |esn| {
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
    pushed("osmand", "a query", |_| String::new())
        .query("?lat=22.5&lon=113.9&timestamp=1767182400&alarm=sos"),
    pushed("osmand", "a query in capitals, without a place", |_| String::new())
        .query("?timestamp=1767182400&alarm=SOS"),
    pushed("osmand", "alarm of a location", |imei| {
        traccar_client(imei, &json!({"coords": coords(), "alarm": "sos"}))
    }),
    pushed("osmand", "alarm in extras", |imei| {
        traccar_client(imei, &json!({"coords": coords(), "extras": {"alarm": "sos"}}))
    }),
    pushed("osmand", "alarm without coords", |imei| traccar_client(imei, &json!({"alarm": "sos"}))),
    pushed("osmand", "alarm in extras without coords", |imei| {
        traccar_client(imei, &json!({"extras": {"alarm": "sos"}}))
    }),
    pushed("somewear", "SOS", |imei| {
        json!({"requestId": "r", "payloads": [{"device": {"serial": imei}, "events": [
            {"type": "SOS", "latitude": "22.5", "longitude": "113.9", "timestamp": "2025-12-31T12:00:00Z"}]}]})
        .to_string()
    }),
    pushed("bullitt", "SOS", |imsi| {
        json!({"messageId": "m", "imsi": imsi, "timestamp": AT_S, "type": "SOS", "location": {"latitude": 22.5, "longitude": 113.9}})
            .to_string()
    }),
    pushed("flespi", "sos.event.trigger", |ident| {
        json!([{"ident": ident, "timestamp": AT_S, "position.latitude": 22.5, "position.longitude": 113.9, "sos.event.trigger": true}])
            .to_string()
    }),
    pushed("json", "a step of the mapping", |_| {
        json!({"lat": 22.5, "lon": 113.9, "type": "panic"}).to_string()
    })
    .options(|| {
        json!({"mapping": {"fields": {"latitude": "/lat", "longitude": "/lon"},
                   "sos": [{"step": "declare", "when": {"path": "/type", "equals": "panic"}}]}})
    }),
    pushed("json", "the alarm of a mapping", |_| {
        json!({"lat": 22.5, "lon": 113.9, "state": "SOS"}).to_string()
    })
    .options(|| json!({"mapping": {"fields": {"latitude": "/lat", "longitude": "/lon", "alarm": "/state"}}})),
];

/// Makes the answer of a provider.
type Answer = fn() -> String;

/// Answers of providers that are polled.
pub(super) const POLLED: &[(&str, Answer)] = &[
    ("spot-feed", || {
        json!({"response": {"feedMessageResponse": {"count": 1, "messages": {"message": {
            "id": 1, "messengerId": IMEI, "messengerName": "n", "unixTime": AT_S, "messageType": "HELP",
            "latitude": 22.5, "longitude": 113.9, "batteryState": "GOOD"}}}}})
        .to_string()
    }),
    ("garmin-mapshare", || {
        let data = [
            ("Id", "1"),
            ("IMEI", IMEI),
            ("Latitude", "22.5"),
            ("Longitude", "113.9"),
            ("In Emergency", "True"),
        ];
        let data: Vec<String> = data
            .iter()
            .map(|(name, value)| format!("<Data name=\"{name}\"><value>{value}</value></Data>"))
            .collect();
        let data = data.concat();
        format!(
            "<kml><Document><Placemark><TimeStamp><when>2025-12-31T12:00:00Z</when></TimeStamp>\
             <ExtendedData>{data}</ExtendedData></Placemark></Document></kml>"
        )
    }),
    ("garmin-history", || {
        json!({"HistoryItems": [{"IMEI": IMEI, "Timestamp": format!("/Date({})/", AT_S * 1000), "MessageCode": 4,
               "Coordinate": {"Latitude": 22.5, "Longitude": 113.9}, "GPSFixStatus": 2}]})
        .to_string()
    }),
];
