//! Histories in every format: the request, the headers, and that nothing is missing.

use serde_json::{Value, json};

use crate::support::{Answer, Engine, Person, TestApp, on_both_engines, pointers};

on_both_engines!(
    formats_are_chosen_by_parameter_or_header,
    long_histories_are_whole_in_every_format,
    pages_link_on_in_every_format,
    fields_are_chosen,
    lines_are_simplified,
);

const FORMATS: [(&str, &str); 6] = [
    ("json", "application/json"),
    ("ndjson", "application/x-ndjson"),
    ("geojson", "application/geo+json"),
    ("csv", "text/csv"),
    ("gpx", "application/gpx+xml"),
    ("kml", "application/vnd.google-earth.kml+xml"),
];

struct Tracker {
    app: TestApp,
    owner: Person,
    device: String,
}

impl Tracker {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let owner = app.tenant("acme", 10).await.owner;
        let device = app.device(&owner, &json!({"name": "Étoile du \"Nord\"/1"})).await;
        Self { app, owner, device }
    }

    async fn post(&self, body: &Value) {
        let line = format!("POST /api/devices/{}/locations", self.device);
        self.app.send(&self.owner, &line, body).await.expect(201);
    }

    async fn get(&self, query: &str, accept: Option<&str>) -> Answer {
        let call =
            self.app.call(&format!("GET /api/devices/{}/locations{query}", self.device)).by(&self.owner);
        match accept {
            Some(accept) => call.header("accept", accept),
            None => call,
        }
        .send()
        .await
    }

    async fn text(&self, query: &str) -> String {
        let answer = self.get(query, None).await;
        let text = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.status.as_u16(), 200, "{text}");
        text
    }

    async fn refused(&self, query: &str) -> Value {
        self.get(query, None).await.expect_error(400, "invalid-parameter")
    }
}

fn at(minute: u32) -> Value {
    json!({"dateTime": format!("2026-01-01T00:{minute:02}:00Z"), "latitude": f64::from(minute), "longitude": -8.5})
}

/// How many locations a document has.
fn count(format: &str, text: &str) -> usize {
    match format {
        "json" => text.matches("\"dateTime\"").count(),
        "ndjson" => text.lines().count(),
        "geojson" => text.matches("\"Feature\"").count(),
        "csv" => text.lines().count() - 1,
        "gpx" => text.matches("<trkpt ").count(),
        _ => text.matches("<Placemark>").count(),
    }
}

async fn formats_are_chosen_by_parameter_or_header(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    tracker.post(&json!([at(1), at(2)])).await;
    for (name, media) in FORMATS {
        let by_name = tracker.get(&format!("?format={name}"), Some("text/html")).await;
        let by_header = tracker.get("", Some(media)).await;
        for answer in [&by_name, &by_header] {
            assert_eq!(answer.status.as_u16(), 200, "{name}");
            assert_eq!(answer.header("content-type").split(';').next(), Some(media));
            assert_eq!(answer.header("vary"), "accept");
            assert_eq!(count(name, std::str::from_utf8(&answer.body).unwrap()), 2, "{name}");
        }
        let file = by_name.header("content-disposition");
        if name == "json" {
            assert_eq!(file, "");
        } else {
            let device = &tracker.device;
            let expect = format!(
                "attachment; filename=\"{device}.{name}\"; filename*=UTF-8''%C3%89toile%20du%20%22Nord%22_1.{name}"
            );
            assert_eq!(file, expect);
        }
    }
    tracker.get("", Some("text/html")).await.expect_error(406, "not-acceptable");
    tracker.get("", Some("text/html, */*;q=0.1")).await.expect(200);
    assert_eq!(pointers(&tracker.refused("?format=xlsx").await), ["/format"]);
    let posted = tracker.app.call(&format!("POST /api/devices/{}/locations", tracker.device));
    let posted = posted.by(&tracker.owner).header("accept", "text/csv").json(&at(3)).send().await;
    posted.expect_error(406, "not-acceptable");
    let foreign = tracker.app.call("GET /api/devices/dev_0000000000001/locations?format=csv");
    foreign.by(&tracker.owner).send().await.expect_error(404, "not-found");
}

async fn long_histories_are_whole_in_every_format(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let many: Vec<Value> = (0..2_345)
        .map(|n| json!({"dateTime": format!("2026-01-01T00:00:00.{:03}Z", n % 7), "latitude": 1, "longitude": 1, "n": n}))
        .collect();
    tracker.post(&json!(many)).await;
    for (name, _) in FORMATS {
        let text = tracker.text(&format!("?format={name}&order=desc")).await;
        assert_eq!(count(name, &text), 2_345, "{name}");
        let end = match name {
            "json" | "geojson" => "]}",
            "gpx" => "</gpx>\n",
            "kml" => "</kml>\n",
            "csv" => "\r\n",
            _ => "}\n",
        };
        assert!(text.ends_with(end), "{name}");
    }
}

async fn pages_link_on_in_every_format(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    tracker.post(&json!([at(1), at(2), at(3)])).await;
    for (name, _) in FORMATS {
        let first = tracker.get(&format!("?format={name}&limit=2"), None).await;
        assert_eq!(count(name, std::str::from_utf8(&first.body).unwrap()), 2, "{name}");
        let link = first.header("link").strip_prefix('<').and_then(|link| link.split_once('>')).unwrap().0;
        let (_, query) = link.split_once('?').unwrap();
        if name == "json" || name == "geojson" {
            let cursor = first.json()["nextCursor"].as_str().unwrap().to_owned();
            assert!(query.ends_with(&cursor), "{query}");
        }
        let second = tracker.get(&format!("?{query}"), None).await;
        assert_eq!(count(name, std::str::from_utf8(&second.body).unwrap()), 1, "{name}");
        assert_eq!(second.header("link"), "");
    }
}

async fn fields_are_chosen(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    let mut with_speed = at(2);
    with_speed["speed"] = json!(12.5);
    tracker.post(&json!([at(1), with_speed])).await;
    let answer = tracker.get("?fields=speed,dateTime", None).await.expect(200);
    assert_eq!(
        answer["locations"],
        json!([{"dateTime": "2026-01-01T00:01:00Z"}, {"dateTime": "2026-01-01T00:02:00Z", "speed": 12.5}])
    );
    assert_eq!(tracker.text("?fields=latitude&format=ndjson").await, "{\"latitude\":1}\n{\"latitude\":2}\n");
    assert_eq!(tracker.text("?fields=latitude,speed&format=csv").await, "latitude,speed\r\n1,\r\n2,12.5\r\n");
    for query in
        ["?fields=", "?fields=colour", "?fields=speed,", "?fields=dateTime,Speed", "?fields=speed&format=gpx"]
    {
        assert_eq!(pointers(&tracker.refused(query).await), ["/fields"], "{query}");
    }
}

async fn lines_are_simplified(engine: Engine) {
    let tracker = Tracker::new(engine).await;
    // Two thousand and more along the equator across the antimeridian, then a turn north.
    let many: Vec<Value> = (0..2_200)
        .map(|n| {
            let east = 179.0 + f64::from(n.min(2_000)) / 1_000.0;
            let longitude = if east >= 180.0 { east - 360.0 } else { east };
            let latitude = f64::from((n - 2_000).max(0)) / 1_000.0;
            let time = format!("2026-01-01T00:{:02}:{:02}Z", n / 60, n % 60);
            json!({"dateTime": time, "latitude": latitude, "longitude": longitude})
        })
        .collect();
    tracker.post(&json!(many)).await;
    let times = |body: &Value| {
        let locations = body["locations"].as_array().unwrap().clone();
        locations.iter().map(|location| location["dateTime"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = times(&tracker.get("", None).await.expect(200));
    let few = times(&tracker.get("?simplify=5", None).await.expect(200));
    assert_eq!((all.len(), few.first(), few.last()), (2_200, all.first(), all.last()));
    assert!(few.len() <= 6, "{few:?}");
    assert!(few.contains(&all[2_000]), "the turn is kept: {few:?}");
    assert_eq!(count("gpx", &tracker.text("?simplify=5&format=gpx").await), few.len());
    for query in [
        "?simplify=0",
        "?simplify=-1",
        "?simplify=NaN",
        "?simplify=1000001",
        "?simplify=near",
        "?simplify=5&limit=10",
    ] {
        assert_eq!(pointers(&tracker.refused(query).await), ["/simplify"], "{query}");
    }
}
