//! Simulated providers of satellite feeds and phone apps: their messages, and how they behave when a delivery fails.

use std::time::Duration;

use serde_json::{Value, json};

use crate::tracker::Record;

/// How a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// POST with a body of this type.
    Post(&'static str),
    /// GET with the message in the query.
    Get,
    /// A TCP connection for each message.
    Tcp,
}

/// How one provider delivers messages and repeats them.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// The name of its feed.
    pub feed: &'static str,
    /// By request or by connection.
    pub carrier: Carrier,
    /// The wait after the first failure; it doubles after each further one.
    pub first_retry: Duration,
    /// The longest wait between two attempts.
    pub longest_retry: Duration,
    /// How long a message is tried before it is dropped.
    pub drops_after: Duration,
    /// Every n-th message is delivered twice, 0 for none.
    pub duplicates: u32,
    /// Every n-th message is sent after its successor; 0 for none.
    pub reorders: u32,
    message: fn(&str, Record, u32) -> Vec<u8>,
    accepts: fn(u16, &[u8]) -> bool,
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

const DAY: u64 = 24 * 60 * 60;

/// The providers that can be simulated.
pub const PROVIDERS: [Provider; 8] = [
    Provider {
        feed: "garmin",
        carrier: Carrier::Post("application/json"),
        first_retry: seconds(2),
        longest_retry: seconds(128),
        drops_after: seconds(5 * DAY),
        duplicates: 20,
        reorders: 10,
        message: garmin,
        // Any other status, also of success, is a failure.
        accepts: |status, _| status == 200,
    },
    Provider {
        feed: "directip",
        carrier: Carrier::Tcp,
        first_retry: seconds(5),
        longest_retry: seconds(300),
        drops_after: seconds(5 * DAY),
        duplicates: 20,
        reorders: 10,
        message: directip,
        accepts: |_, _| true,
    },
    Provider {
        feed: "cloudloop",
        carrier: Carrier::Post("application/json"),
        first_retry: seconds(2),
        longest_retry: seconds(DAY / 2),
        drops_after: seconds(DAY),
        duplicates: 15,
        reorders: 10,
        message: cloudloop,
        accepts: |status, _| status == 200,
    },
    Provider {
        feed: "globalstar",
        carrier: Carrier::Post("text/xml"),
        first_retry: seconds(10),
        longest_retry: seconds(600),
        drops_after: seconds(3 * DAY),
        duplicates: 10,
        reorders: 0,
        message: globalstar,
        accepts: |status, body| status == 200 && contains(body, b"<state>pass</state>"),
    },
    Provider {
        feed: "spot",
        carrier: Carrier::Post("text/xml"),
        first_retry: seconds(10),
        longest_retry: seconds(600),
        drops_after: seconds(3 * DAY),
        duplicates: 10,
        reorders: 0,
        message: spot,
        accepts: |status, _| status == 200,
    },
    Provider {
        feed: "zoleo",
        carrier: Carrier::Post("application/json"),
        first_retry: seconds(5),
        longest_retry: seconds(300),
        drops_after: seconds(DAY),
        duplicates: 15,
        reorders: 15,
        message: zoleo,
        accepts: |status, _| status == 200,
    },
    Provider {
        feed: "osmand",
        carrier: Carrier::Get,
        first_retry: seconds(5),
        longest_retry: seconds(60),
        drops_after: seconds(30 * DAY),
        duplicates: 25,
        reorders: 0,
        message: osmand,
        accepts: |status, _| status == 200,
    },
    Provider {
        feed: "owntracks",
        carrier: Carrier::Post("application/json"),
        first_retry: seconds(5),
        longest_retry: seconds(60),
        drops_after: seconds(30 * DAY),
        duplicates: 25,
        reorders: 0,
        message: owntracks,
        accepts: |status, _| (200..300).contains(&status),
    },
];

impl Provider {
    /// The provider of this feed.
    pub fn of(feed: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.feed == feed)
    }

    /// Headers beside the body. `OwnTracks` names its user and device there.
    pub fn headers(&self, name: &str) -> Vec<(&'static str, String)> {
        match self.feed {
            "owntracks" => vec![("x-limit-u", "perigee".to_owned()), ("x-limit-d", name.to_owned())],
            _ => Vec::new(),
        }
    }

    /// A message: a body, a query or bytes, depending on the carrier. The same record and number give the same message.
    pub fn message(&self, name: &str, record: Record, number: u32) -> Vec<u8> {
        (self.message)(name, record, number)
    }

    /// Whether the answer of the server means that the provider need not send the message again.
    pub fn accepts(&self, status: u16, body: &[u8]) -> bool {
        (self.accepts)(status, body)
    }

    /// The wait before the attempt after this many failures; `None` if the message is dropped.
    pub fn wait(&self, failures: u32) -> Option<Duration> {
        let wait = |failures: u32| {
            let doubled = self.first_retry.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
            doubled.min(self.longest_retry)
        };
        let spent: Duration = (1..=failures).map(wait).fold(Duration::ZERO, Duration::saturating_add);
        (spent <= self.drops_after).then(|| wait(failures))
    }

    /// The order in which messages are delivered: some after their successor, some twice.
    pub fn order(&self, count: u32) -> Vec<u32> {
        let every = |number: u32, step: u32| step > 0 && number % step == step - 1;
        let mut order: Vec<u32> = (0..count).collect();
        for at in 1..order.len() {
            if every(u32::try_from(at).unwrap_or(0), self.reorders) {
                order.swap(at - 1, at);
            }
        }
        let twice = |number: u32| if every(number, self.duplicates) { 2 } else { 1 };
        order.into_iter().flat_map(|number| std::iter::repeat_n(number, twice(number))).collect()
    }
}

fn contains(body: &[u8], wanted: &[u8]) -> bool {
    body.windows(wanted.len()).any(|window| window == wanted)
}

/// Degrees as JSON numbers.
fn position(record: Record) -> (f64, f64) {
    (f64::from(record.latitude_e7()) / 1e7, f64::from(record.longitude_e7()) / 1e7)
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn garmin(name: &str, record: Record, _number: u32) -> Vec<u8> {
    let (latitude, longitude) = position(record);
    text(&json!({"Version": "2.0", "Events": [{
        "imei": name, "messageCode": 0, "freeText": null, "timeStamp": record.time_s * 1000, "addresses": [],
        "point": {"latitude": latitude, "longitude": longitude, "altitude": 10.0, "gpsFix": 2,
                  "course": record.course(), "speed": record.speed_kmh()},
        "status": {"autonomous": 0, "lowBattery": 0, "intervalChange": 0, "resetDetected": 0},
    }]}))
}

/// A message of a modem, with a position record as its payload.
fn directip(name: &str, record: Record, number: u32) -> Vec<u8> {
    let seconds = u32::try_from(record.time_s).unwrap_or(0).to_be_bytes();
    let mut header = number.to_be_bytes().to_vec();
    header.extend_from_slice(format!("{name:0>15}").get(..15).unwrap_or_default().as_bytes());
    header.push(0);
    header.extend_from_slice(&u16::try_from(number % 65_536).unwrap_or(0).to_be_bytes());
    header.extend_from_slice(&[0, 0]);
    header.extend_from_slice(&seconds);
    // In 24 bits: 46,603.375 units per degree of longitude and 93,206.75 units per degree of latitude.
    let units = |e7: i64, per_degree_e3: i64| (e7 * per_degree_e3 / 10_000_000 / 1000).to_be_bytes();
    let longitude = units(i64::from(record.longitude_e7()) + 1_800_000_000, 46_603_375);
    let latitude = units(i64::from(record.latitude_e7()) + 900_000_000, 93_206_750);
    let mut payload = seconds.to_vec();
    payload.extend_from_slice(longitude.get(5..).unwrap_or_default());
    payload.extend_from_slice(latitude.get(5..).unwrap_or_default());
    payload.extend_from_slice(&[0, 0, 0, record.speed_kmh()]);
    let element = |kind: u8, content: &[u8]| {
        let length = u16::try_from(content.len()).unwrap_or(0).to_be_bytes();
        [[kind].as_slice(), &length, content].concat()
    };
    let body = [element(1, &header), element(2, &payload)].concat();
    let length = u16::try_from(body.len()).unwrap_or(0).to_be_bytes();
    [[1].as_slice(), &length, &body].concat()
}

fn cloudloop(name: &str, record: Record, number: u32) -> Vec<u8> {
    let (latitude, longitude) = position(record);
    let now = record.civil();
    let at = json!({"year": now.year, "month": now.month, "day": now.day, "hour": now.hour,
                    "minute": now.minute, "second": now.second});
    text(&json!({
        "id": format!("00000000-0000-4000-8000-{number:012}"), "receivedAt": at,
        "identity": {"hardware": {"imei": name}},
        "sbd": {"imei": name, "cdrReference": number.to_string(), "momsn": number % 65_536, "mtmsn": 0,
                "sessionAt": at, "status": "SESSION_STATUS_OK",
                "location": {"latitude": latitude, "longitude": longitude, "cep": 3}},
        "message": "SGVsbG8=",
    }))
}

fn globalstar(name: &str, record: Record, number: u32) -> Vec<u8> {
    let raw = |e7: i32, range_e7: i64| {
        let units = i64::from(e7) * 8_388_608 / range_e7;
        format!("{:06X}", units & 0x00ff_ffff)
    };
    let (latitude, longitude) =
        (raw(record.latitude_e7(), 900_000_000), raw(record.longitude_e7(), 1_800_000_000));
    let seconds = record.time_s;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><stuMessages timeStamp=\"01/01/2026 00:00:00 GMT\" \
         messageID=\"{number:032x}\"><stuMessage><esn>{name}</esn><unixTime>{seconds}</unixTime><gps>N</gps>\
         <payload length=\"9\" source=\"pc\" encoding=\"hex\">0x00{latitude}{longitude}0A00</payload>\
         </stuMessage></stuMessages>"
    )
    .into_bytes()
}

fn spot(name: &str, record: Record, number: u32) -> Vec<u8> {
    let (latitude, longitude) = record.degrees();
    let at = record.time();
    let seconds = record.time_s;
    format!(
        "<messageList xmlns=\"http://v2.shared.globalstar.com\"><header><totalCount>1</totalCount><mode>LIVE</mode>\
         </header><message><id>{number}</id><esn>{name}</esn><esnName>{name}</esnName>\
         <messageType>UNLIMITED-TRACK</messageType><messageDetail/><timestamp>{at}</timestamp>\
         <timeInGMTSecond>{seconds}</timeInGMTSecond><latitude>{latitude}</latitude>\
         <longitude>{longitude}</longitude><batteryState>GOOD</batteryState></message></messageList>"
    )
    .into_bytes()
}

fn zoleo(name: &str, record: Record, number: u32) -> Vec<u8> {
    let (latitude, longitude) = position(record);
    let at = record.time().to_string();
    text(&json!({
        "MessageId": format!("sim-{number}"), "MessageType": "LS_location", "DeviceIMEI": name,
        "ReceivedAtServer": at, "SentFromDevice": at,
        "Location": {"Latitude": latitude, "Longitude": longitude, "Speed": record.speed_kmh()},
        "Properties": {"EpochMiliseconds": (record.time_s * 1000).to_string(), "Source": "Satellite"},
    }))
}

fn osmand(name: &str, record: Record, _number: u32) -> Vec<u8> {
    let (latitude, longitude) = record.degrees();
    let (seconds, course) = (record.time_s, record.course());
    format!("id={name}&timestamp={seconds}&lat={latitude}&lon={longitude}&speed=9.7&bearing={course}&batt=80")
        .into_bytes()
}

fn owntracks(_name: &str, record: Record, _number: u32) -> Vec<u8> {
    let (latitude, longitude) = position(record);
    text(&json!({"_type": "location", "tst": record.time_s, "lat": latitude, "lon": longitude, "acc": 8,
                 "vel": record.speed_kmh(), "cog": record.course(), "batt": 80, "tid": "PG"}))
}

#[cfg(test)]
mod tests {
    use perigee_gateways::{DecodeBudget, FeedContext, FeedRequest, Options, find_feed};

    use super::*;

    #[test]
    fn waits_double_and_messages_are_dropped_in_the_end() {
        let garmin = Provider::of("garmin").unwrap();
        let waits: Vec<u64> = (1..=8).map(|failures| garmin.wait(failures).unwrap().as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 128]);
        assert_eq!(garmin.wait(5_000), None, "after five days");
    }

    #[test]
    fn every_message_is_delivered_some_twice_and_late() {
        for provider in PROVIDERS {
            let order = provider.order(100);
            let mut once = order.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once, (0..100).collect::<Vec<u32>>(), "{}", provider.feed);
            assert_eq!(order.len() > 100, provider.duplicates > 0);
            let late = order.windows(2).any(|pair| pair[0] > pair[1]);
            assert_eq!(late, provider.reorders > 0, "{}", provider.feed);
        }
    }

    #[test]
    fn feeds_read_the_messages() {
        let record = Record { time_s: 1_767_225_600 };
        for provider in PROVIDERS.iter().filter(|provider| provider.feed != "directip") {
            let (name, named) = ("300434062929540", provider.headers("300434062929540"));
            let body = provider.message(name, record, 7);
            let sent = std::str::from_utf8(&body).unwrap();
            let (method, query, mut headers, body) = match provider.carrier {
                Carrier::Post(content_type) => ("POST", "", vec![("content-type", content_type)], sent),
                Carrier::Get | Carrier::Tcp => ("GET", sent, Vec::new(), ""),
            };
            headers.extend(named.iter().map(|(header, value)| (*header, value.as_str())));
            let request = FeedRequest { method, query, headers: &headers, body: body.as_bytes() };
            let options = Options::default();
            let budget = DecodeBudget::for_body(1 << 20);
            let context = FeedContext { now: record.time(), options: &options, budget: &budget };
            let decoded = (find_feed(provider.feed).unwrap().decode)(&request, &context);
            let is_named = |identifiers: &[String]| identifiers.iter().any(|identifier| identifier == name);
            assert!(decoded.messages.iter().all(|one| is_named(&one.identifiers)), "{}", provider.feed);
            let times: Vec<_> = decoded
                .messages
                .iter()
                .flat_map(|message| &message.reports)
                .filter(|report| report.position.is_some())
                .map(|report| report.time)
                .collect();
            assert_eq!(times, [Some(record.time())], "{} {:?}", provider.feed, decoded.error);
        }
    }
}
