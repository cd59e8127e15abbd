//! Plans as clients and travellers see them: settings, actions, words, the steps after a missed check-in, links and the sheet
//! for a rescue service.

use perigee_core::devices::conversation::NewText;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::NewMessage;
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::locations::location::DuplicateRule;
use perigee_core::page::PageRequest;
use perigee_core::store::{Conversations as _, RawMessages as _, Reporters as _};
use perigee_server::background::examine_plans;
use perigee_server::http::router::COMPOSE_NUDGE;
use serde_json::{Value, json};

use crate::support::{Engine, Person, TestApp, on_both_engines};

on_both_engines!(
    a_plan_goes_in_and_comes_out,
    a_missed_check_in_warns_and_a_button_resolves_it,
    a_traveller_steers_by_link,
    bad_plans_are_refused,
    plans_are_seen_with_all_their_devices,
    a_rescue_service_gets_a_sheet,
);

fn raw_message() -> NewMessage {
    NewMessage {
        source: "garmin",
        peer: "192.0.2.1:5".to_owned(),
        identifier: None,
        bytes: vec![1],
        error: None,
        gateway: None,
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    }
}

struct World {
    app: TestApp,
    owner: Person,
    boat: String,
}

async fn world(engine: Engine) -> World {
    // The tests last for days, which tokens do not.
    let app = TestApp::with(engine, |config| config.auth.token_seconds = 30 * 86_400).await;
    let owner = app.tenant("acme", 10).await.owner;
    let boat = app.device(&owner, &json!({"name": "Northern Star", "identifier": "300434030012340"})).await;
    World { app, owner, boat }
}

impl World {
    fn voyage(&self) -> Value {
        json!({
            "name": "Vigo to Horta", "kind": "voyage", "description": "With a stop", "devices": [self.boat],
            "travellers": [{
                "name": "Ana", "phone": "+34600123456", "email": "ana@example.com", "language": "es", "note": "Diabetic",
            }],
            "notify": {"recipients": [{"channel": "email", "address": "home@example.com"}]},
            "craft": {"name": "Northern Star", "type": "Sailing yacht", "equipment": "Life raft", "mmsi": "224123456"},
            "waypoints": [{"name": "Leixões", "latitude": 41.1825, "longitude": -8.7033, "time": "2026-01-03T18:00:00Z"}],
            "start": "2026-01-01T08:00:00Z", "expectedArrival": "2026-01-08T18:00:00Z", "timeZone": "Europe/Madrid",
            "checkIns": {"everyMinutes": 60, "times": ["18:00", "08:00"], "by": {"message": true, "location": true}},
            "graceMinutes": 10, "warnMinutes": 5, "alarmMinutes": 20, "words": {"end": ["finished"]},
        })
    }

    async fn create(&self, body: &Value) -> String {
        let made = self.app.send(&self.owner, "POST /api/plans", body).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    async fn act(&self, plan: &str, action: &str, body: &Value) -> Value {
        self.app.send(&self.owner, &format!("POST /api/plans/{plan}/{action}"), body).await.expect(200)
    }

    async fn find(&self, plan: &str) -> Value {
        self.app.get(&self.owner, &format!("/api/plans/{plan}")).await
    }

    async fn pass(&self, minutes: i64) {
        self.app.clock().advance_seconds(60 * minutes);
        examine_plans(&self.app.app, COMPOSE_NUDGE).await;
    }

    /// Names of the alerts and whether they ended, in the order in which they were raised.
    async fn alerts(&self) -> Vec<(String, bool)> {
        let alerts = self.app.get(&self.owner, &format!("/api/devices/{}/alerts", self.boat)).await;
        let mut alerts = alerts["alerts"].as_array().unwrap().clone();
        alerts.sort_by_key(|alert| alert["id"].as_str().unwrap().to_owned());
        let one =
            |alert: &Value| (alert["alertName"].as_str().unwrap().to_owned(), alert["endedAt"].is_string());
        alerts.iter().map(one).collect()
    }

    /// Names and addresses of the messages that were written, oldest first.
    async fn messages(&self) -> Vec<(String, String)> {
        let page = self.app.get(&self.owner, "/api/notifications").await;
        let text = |one: &Value, member: &str| one[member].as_str().unwrap().to_owned();
        let all = page["notifications"].as_array().unwrap();
        let mut all: Vec<_> = all.iter().map(|one| (text(one, "name"), text(one, "address"))).collect();
        all.sort();
        all
    }
}

async fn a_plan_goes_in_and_comes_out(engine: Engine) {
    let world = world(engine).await;
    let plan = world.create(&world.voyage()).await;
    let read = world.find(&plan).await;
    for member in
        ["name", "kind", "description", "devices", "travellers", "start", "expectedArrival", "timeZone"]
    {
        assert_eq!(read[member], world.voyage()[member], "{member}");
    }
    assert_eq!(read["checkIns"]["times"], json!(["08:00", "18:00"]));
    assert_eq!(read["checkIns"]["by"]["geofences"], json!([]));
    assert_eq!(
        (&read["state"], &read["next"], &read["lastCheckIn"]),
        (&json!("draft"), &json!(null), &json!(null))
    );
    assert_eq!((&read["earlyMinutes"], &read["nudge"]), (&json!(60), &json!(true)));
    let path = format!("/api/plans/{plan}");
    // What was read can be sent back.
    let same = world.app.send(&world.owner, &format!("PUT {path}"), &read).await.expect(200);
    assert_eq!(same["lastModified"], read["lastModified"]);
    let changed = world
        .app
        .send(&world.owner, &format!("PATCH {path}"), &json!({"graceMinutes": 30}))
        .await
        .expect(200);
    assert_eq!(changed["graceMinutes"], 30);
    let copy = json!({"name": "Again", "start": "2026-02-01T08:00:00Z"});
    let copy = world.app.send(&world.owner, &format!("POST {path}/copy"), &copy).await.expect(201);
    assert_eq!(copy["expectedArrival"], "2026-02-08T18:00:00Z");
    assert_eq!(copy["waypoints"][0]["time"], "2026-02-03T18:00:00Z");
    let template = world
        .app
        .send(&world.owner, &format!("POST {path}/copy"), &json!({"template": true}))
        .await
        .expect(201);
    let start = format!("POST /api/plans/{}/start", template["id"].as_str().unwrap());
    world.app.send(&world.owner, &start, &json!({})).await.expect_error(409, "plan-state");
    let list = async |query: &str| {
        let list = world.app.get(&world.owner, &format!("/api/plans{query}")).await;
        list["plans"].as_array().unwrap().len()
    };
    assert_eq!((list("").await, list("?template=true").await, list("?state=active").await), (2, 1, 0));
    let started = world.act(&plan, "start", &json!({})).await;
    assert_eq!((&started["state"], &started["next"]["of"]), (&json!("active"), &json!("interval")));
    assert_eq!(list("?state=active").await, 1);
    let paused = world.act(&plan, "pause", &json!({"minutes": 30})).await;
    assert_eq!((&paused["state"], &paused["next"]), (&json!("paused"), &json!(null)));
    assert_eq!(world.act(&plan, "resume", &json!({})).await["state"], "active");
    assert_eq!(
        world.act(&plan, "extend", &json!({"minutes": 120})).await["expectedArrival"],
        "2026-01-08T20:00:00Z"
    );
    world.app.clock().advance_seconds(60);
    let note = json!({"note": "All well"});
    assert_eq!(world.act(&plan, "checkIn", &note).await["lastCheckIn"]["text"], "All well");
    assert_eq!(world.act(&plan, "end", &json!({})).await["state"], "ended");
    let again = world.app.send(&world.owner, &format!("POST {path}/end"), &json!({})).await;
    again.expect_error(409, "plan-state");
    let events = world.app.get(&world.owner, &format!("{path}/events")).await;
    let types: Vec<&str> =
        events["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["changed", "started", "paused", "resumed", "extended", "checkedIn", "ended"]);
    world.app.call(&format!("DELETE {path}")).by(&world.owner).send().await.expect(200);
    world.app.call(&format!("GET {path}")).by(&world.owner).send().await.expect_error(404, "not-found");
}

async fn a_missed_check_in_warns_and_a_button_resolves_it(engine: Engine) {
    let world = world(engine).await;
    let plan = world.create(&world.voyage()).await;
    world.act(&plan, "start", &json!({})).await;
    world.pass(69).await;
    assert_eq!(world.alerts().await, []);
    world.pass(1).await;
    world.pass(0).await;
    let pair = |name: &str, ended: bool| (name.to_owned(), ended);
    assert_eq!(world.alerts().await, [pair("CheckInDue", false)]);
    let missed = world.find(&plan).await;
    assert_eq!((&missed["state"], &missed["missed"]["step"]), (&json!("overdue"), &json!("nudge")));
    assert_eq!(missed["alertIds"].as_array().unwrap().len(), 1);
    let to = |name: &str, to: &str| (name.to_owned(), to.to_owned());
    let traveller = [to("CheckInDue", "+34600123456"), to("CheckInDue", "ana@example.com")];
    assert_eq!(world.messages().await, traveller);
    world.pass(5).await;
    world.pass(15).await;
    let all = [pair("CheckInDue", false), pair("CheckInMissed", false), pair("PlanOverdue", false)];
    assert_eq!(world.alerts().await, all);
    let home = "home@example.com";
    assert_eq!(world.messages().await[2..], [to("CheckInMissed", home), to("PlanOverdue", home)]);
    // A text of the device ends it, and its word steers the plan.
    let names = ["300434030012340".to_owned()];
    let reporter = world.app.store.find_claimed_device(&names, CountedClaims::All).await.unwrap().unwrap();
    let say = async |text: &str| {
        let time = world.app.app.clock.now();
        let text = NewText {
            time,
            is_dated: true,
            key: None,
            text: text.to_owned(),
            position: None,
            source: "garmin",
        };
        let contents = MessageContents { texts: vec![text], ..MessageContents::default() };
        world.app.store.store_message(&reporter, raw_message(), contents).await.unwrap();
        world.pass(1).await;
    };
    say("engine trouble, all well").await;
    let active = world.find(&plan).await;
    assert_eq!((&active["state"], &active["lastCheckIn"]["by"]), (&json!("active"), &json!("message")));
    assert!(world.alerts().await.iter().all(|(_, ended)| *ended));
    assert_eq!(world.alerts().await.last().unwrap().0, "CheckInReceived");
    say("finished").await;
    assert_eq!(world.find(&plan).await["state"], "ended");
    // The device has no way to receive messages: none was queued.
    let page = PageRequest::first(9);
    let texts = world.app.store.list_conversation(reporter.scope, reporter.device, page).await.unwrap().items;
    assert_eq!(texts.len(), 2);
    let events = world.app.get(&world.owner, "/api/events?cursor=start&limit=1000").await;
    let types = events["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap());
    let types: Vec<&str> = types.filter(|kind| kind.starts_with("plan.")).collect();
    let expected = ["created", "started", "missed", "overdue", "checkedIn", "changed", "ended"];
    assert_eq!(types, expected.map(|name| format!("plan.{name}")));
}

async fn a_traveller_steers_by_link(engine: Engine) {
    let world = world(engine).await;
    let plan = world.create(&world.voyage()).await;
    let path = format!("/api/plans/{plan}/links");
    let link =
        world.app.send(&world.owner, &format!("POST {path}"), &json!({"name": "Ana"})).await.expect(201);
    let url = link["url"].as_str().unwrap();
    let page = url.find("/travel/").map(|at| url[at..].to_owned()).unwrap();
    let open = async |line: &str, form: &'static str| {
        let call = world.app.call(line).header("accept-language", "es");
        let answer = call.body("application/x-www-form-urlencoded", form).send().await;
        (answer.status.as_u16(), String::from_utf8(answer.body.clone()).unwrap())
    };
    let (status, html) = open(&format!("GET {page}"), "").await;
    assert!(status == 200 && html.contains("Empezar") && !html.contains("<script"), "{html}");
    let press = format!("POST {page}");
    assert_eq!(open(&press, "say=checkIn").await.0, 409);
    assert_eq!(open(&press, "say=dance").await.0, 400);
    let (status, html) = open(&press, "say=start").await;
    assert!(status == 200 && html.contains("Estoy bien"), "{html}");
    world.pass(71).await;
    assert!(open(&format!("GET {page}"), "").await.1.contains("problem"));
    let (status, html) = open(&press, "say=extend&hours=2").await;
    assert!(status == 200 && html.contains("en curso"), "{html}");
    let found = world.find(&plan).await;
    assert_eq!((&found["state"], &found["lastCheckIn"]["by"]), (&json!("active"), &json!("extend")));
    assert_eq!(open(&press, "say=end").await.0, 200);
    let links = world.app.get(&world.owner, &path).await;
    assert!(links["links"][0]["lastUsed"].is_string());
    let id = link["id"].as_str().unwrap();
    world.app.call(&format!("DELETE {path}/{id}")).by(&world.owner).send().await.expect(200);
    assert_eq!(open(&format!("GET {page}"), "").await.0, 404);
    assert_eq!(open("GET /travel/nothing", "").await.0, 404);
}

async fn bad_plans_are_refused(engine: Engine) {
    let world = world(engine).await;
    let refused = async |change: Value, needle: &str| {
        let mut body = world.voyage();
        for (member, value) in change.as_object().unwrap() {
            body[member] = value.clone();
        }
        let answer = world.app.send(&world.owner, "POST /api/plans", &body).await;
        let error = answer.expect_error(400, "invalid-body");
        assert!(error["error"].as_str().unwrap().contains(needle), "{change}: {}", error["error"]);
    };
    refused(json!({"devices": []}), "at least one device").await;
    refused(json!({"devices": ["dev_00000000000g1"]}), "no device").await;
    refused(json!({"alarmMinutes": 1}), "must not be less than").await;
    refused(json!({"start": null, "autoStart": true}), "is required with").await;
    refused(json!({"expectedArrival": "2026-01-01T07:00:00Z"}), "must be later").await;
    refused(json!({"checkIns": {"times": ["25:00"]}}), "time of day").await;
    refused(json!({"checkIns": {"by": {"geofences": ["geo_00000000000g1"]}}}), "geofence").await;
    refused(json!({"travellers": [{"name": "Ana", "phone": "call me"}]}), "telephone number").await;
    refused(json!({"words": {"end": [""]}}), "1 to 50").await;
    refused(json!({"waypoints": [], "endAtDestination": true}), "requires a waypoint").await;
}

async fn plans_are_seen_with_all_their_devices(engine: Engine) {
    let world = world(engine).await;
    let tenant = world.app.tenant("other", 10).await;
    let plan = world.create(&world.voyage()).await;
    let path = format!("GET /api/plans/{plan}");
    world.app.call(&path).by(&tenant.owner).send().await.expect_error(404, "not-found");
}

async fn a_rescue_service_gets_a_sheet(engine: Engine) {
    let world = world(engine).await;
    let plan = world.create(&world.voyage()).await;
    world.act(&plan, "start", &json!({})).await;
    let at = world.app.app.clock.now().to_string();
    let fix =
        json!([{"dateTime": at, "latitude": 42.2406, "longitude": -8.7207, "speed": 9.26, "course": 270}]);
    world
        .app
        .send(&world.owner, &format!("POST /api/devices/{}/locations", world.boat), &fix)
        .await
        .expect(201);
    let path = format!("/api/plans/{plan}/rescue");
    let sheet = world.app.get(&world.owner, &path).await;
    assert_eq!(sheet["plan"]["craft"]["mmsi"], "224123456");
    assert_eq!(sheet["plan"]["travellers"][0]["note"], "Diabetic");
    assert_eq!(sheet["devices"][0]["positions"][0]["latitude"], 42.2406);
    let pdf = world.app.call(&format!("GET {path}?format=pdf")).by(&world.owner).send().await;
    assert_eq!((pdf.status.as_u16(), pdf.header("content-type")), (200, "application/pdf"));
    assert!(pdf.body.starts_with(b"%PDF-"));
}
