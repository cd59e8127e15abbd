//! Geofences: GeoJSON in and out.

use perigee_core::access::actor::Actor;
use perigee_core::access::privilege::Privilege;
use perigee_core::locations::geofence::{GeofenceSettings, Position, Shape};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::store::Geofences as _;
use perigee_server::budget::Payer;
use serde_json::{Value, json};

use crate::api::budget::fill;
use crate::support::people::Traits;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    a_geofence_goes_in_and_comes_out,
    bad_geometries_say_what_to_change,
    a_geofence_in_use_stays,
    who_sees_a_group_sees_its_geofences,
    large_geometries_are_checked_in_turn,
    the_positions_of_an_account_are_bounded,
);

/// A feature of this geometry and these properties.
pub(crate) fn feature(kind: &str, coordinates: &Value, properties: &Value) -> Value {
    json!({"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": properties})
}

fn square() -> Value {
    json!([[[0, 0], [1.5, 0], [1.5, 1], [0, 1], [0, 0]]])
}

/// A star-shaped ring of this many positions.
pub(crate) fn star(count: u32) -> Value {
    let position = |index: u32| {
        let angle = f64::from(index) / f64::from(count) * std::f64::consts::TAU;
        let radius = if index.is_multiple_of(2) { 5.0 } else { 0.1 };
        let rounded = |value: f64| (value * 1e5).round() / 1e5;
        json!([rounded(radius * angle.cos()), rounded(radius * angle.sin())])
    };
    json!([(0..=count).map(|index| position(index % count)).collect::<Vec<_>>()])
}

/// While another request of the account waits for a slot and no more may wait, a large geometry is refused and a small
/// one is not.
async fn large_geometries_are_checked_in_turn(engine: Engine) {
    let app = TestApp::with(engine, |config| config.budget.waiting_per_client = 1).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    // Small enough to be parsed at once.
    let body = |count: u32| feature("Polygon", &star(count), &json!({"name": "Star"}));
    let made = app.send(owner, "POST /api/geofences", &body(300)).await.expect(201);
    let path = format!("/api/geofences/{}", made["id"].as_str().unwrap());
    let work = app.app.budget.work.clone();
    let slots = fill(&work);
    let mut waiting = Box::pin(work.acquire(Payer::account(tenant.account.id), 0));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    app.send(owner, "POST /api/geofences", &body(300)).await.expect_error(429, "rate-limited");
    app.send(owner, &format!("PUT {path}"), &body(200)).await.expect_error(429, "rate-limited");
    app.send(owner, "POST /api/geofences", &body(20)).await.expect(201);
    drop((waiting, slots));
    app.send(owner, &format!("PUT {path}"), &body(200)).await.expect(200);
    assert_eq!(work.load(), (0, 0));
}

/// 100 geofences of 2,000 positions are all that an account may have.
async fn the_positions_of_an_account_are_bounded(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let line = |count: i32| Shape::Corridor {
        line: (0..count)
            .map(|number| Position {
                latitude: Latitude::from_e7(number * 1_000),
                longitude: Longitude::from_e7(0),
            })
            .collect(),
        width_m: 100.0,
    };
    let settings =
        |count: i32| GeofenceSettings { name: "Line".to_owned(), description: None, shape: line(count) };
    let actor = Actor::operator(tenant.account.id);
    for number in 0..100 {
        let count = if number == 0 { 1_999 } else { 2_000 };
        app.store.create_geofence(&actor, settings(count), None).await.unwrap();
    }
    let circle = feature("Point", &json!([-8.72, 42.24]), &json!({"name": "C", "radius": 250.5}));
    let made = app.send(&tenant.owner, "POST /api/geofences", &circle).await.expect(201);
    let refused = app.send(&tenant.owner, "POST /api/geofences", &circle).await;
    let error = refused.expect_error(409, "too-many");
    assert!(error["error"].as_str().unwrap().contains("200000 positions"), "{error}");
    let path = format!("/api/geofences/{}", made["id"].as_str().unwrap());
    let square = feature("Polygon", &square(), &json!({"name": "D"}));
    app.send(&tenant.owner, &format!("PUT {path}"), &square).await.expect_error(409, "too-many");
    let change = json!({"properties": {"name": "Renamed"}});
    app.send(&tenant.owner, &format!("PATCH {path}"), &change).await.expect(200);
    app.call(&format!("DELETE {path}")).by(&tenant.owner).send().await.expect(200);
    app.send(&tenant.owner, "POST /api/geofences", &circle).await.expect(201);
}

async fn a_geofence_goes_in_and_comes_out(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    for (kind, coordinates, extra) in [
        ("Polygon", square(), json!({"name": "A", "description": "note"})),
        ("MultiPolygon", json!([square(), [[[5, 5], [6, 5], [6, 6], [5, 5]]]]), json!({"name": "B"})),
        ("Point", json!([-8.72, 42.24]), json!({"name": "C", "radius": 250.5})),
        ("LineString", json!([[179, 10], [-179, 10]]), json!({"name": "D", "width": 1000.0})),
    ] {
        let made = app.send(&owner, "POST /api/geofences", &feature(kind, &coordinates, &extra)).await;
        let view = made.expect(201);
        assert_eq!((&view["type"], &view["geometry"]["type"]), (&json!("Feature"), &json!(kind)));
        assert_eq!(view["geometry"]["coordinates"], coordinates, "{kind}");
        for (member, value) in extra.as_object().unwrap() {
            assert_eq!(view["properties"][member], *value, "{kind}");
        }
        let path = format!("/api/geofences/{}", view["id"].as_str().unwrap());
        assert_eq!(made.header("location"), format!("http://perigee.test{path}"));
        let read = app.get(&owner, &path).await;
        assert_eq!(read["geometry"], view["geometry"]);
        let again = app.send(&owner, &format!("PUT {path}"), &read).await;
        assert_eq!(
            again.header("etag"),
            made.header("etag"),
            "what was read can be sent back and changes nothing"
        );
        let change = json!({"properties": {"name": "Renamed"}});
        let patched = app.send(&owner, &format!("PATCH {path}"), &change).await.expect(200);
        assert_eq!(patched["properties"]["name"], "Renamed");
        assert_eq!(patched["geometry"], view["geometry"]);
        let stale = app.call(&format!("DELETE {path}")).by(&owner).header("if-match", made.header("etag"));
        stale.send().await.expect_error(412, "precondition-failed");
    }
    let listed = app.get(&owner, "/api/geofences?q=renam&limit=3").await;
    assert_eq!(listed["geofences"].as_array().unwrap().len(), 3);
    assert!(listed["nextCursor"].is_string());
    let id = listed["geofences"][0]["id"].as_str().unwrap();
    app.call(&format!("DELETE /api/geofences/{id}")).by(&owner).send().await.expect(200);
    app.call(&format!("GET /api/geofences/{id}")).by(&owner).send().await.expect_error(404, "not-found");
    let audit = app.get(&owner, "/api/audit?action=geofence.update").await;
    assert_eq!(audit["audit"][0]["detail"], "changed name");
}

async fn bad_geometries_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let named = json!({"name": "A"});
    let round = json!({"name": "A", "radius": 10});
    let many: Vec<Value> = (0..2_001).map(|step| json!([f64::from(step) / 100.0, 0])).collect();
    for (body, pointer, detail) in [
        (feature("Circle", &json!([]), &named), "/geometry/type", "must be one of"),
        (feature("Polygon", &json!([[[0, 0], [1, 0], [1, 1]]]), &named), "/geometry", "closed rings"),
        (feature("Polygon", &json!([[[0, 0], [1, 1], [0, 0]]]), &named), "/geometry", "three different"),
        (
            feature("Polygon", &json!([[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]), &named),
            "/geometry",
            "cross",
        ),
        (feature("Polygon", &json!([]), &named), "/geometry", "at least one ring"),
        (feature("Polygon", &json!({"a": 1}), &named), "/geometry", "arrays of positions"),
        (feature("Point", &json!([181, 0]), &round), "/geometry", "invalid position [181, 0]"),
        (
            feature("Point", &json!(["1", 0]), &round),
            "/geometry",
            "longitude, latitude and optionally altitude",
        ),
        (feature("Point", &json!([1, 0]), &named), "/properties/radius", "required for a Point"),
        (feature("Point", &json!([1, 0]), &json!({"name": "A", "radius": -1})), "/geometry", "more than 0"),
        (feature("Polygon", &square(), &round), "/properties/radius", "accepted only for a Point"),
        (
            feature("LineString", &json!([[0, 0], [1, 1]]), &named),
            "/properties/width",
            "required for a LineString",
        ),
        (feature("LineString", &json!(many), &json!({"name": "A", "width": 5})), "/geometry", "at most 2000"),
        (feature("Polygon", &square(), &json!({})), "/properties/name", "is required"),
        (json!({"type": "Feature"}), "/geometry", "is required"),
        (json!({"type": "Feature", "idd": "geo_1"}), "/idd", "Unknown member"),
    ] {
        let refused = app.send(&owner, "POST /api/geofences", &body).await.expect_error(400, "invalid-body");
        let found =
            refused["errors"].as_array().unwrap().iter().any(|error| {
                error["pointer"] == pointer && error["detail"].as_str().unwrap().contains(detail)
            });
        assert!(found, "{pointer} {detail}: {refused}");
    }
}

async fn a_geofence_in_use_stays(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let fence =
        app.send(&owner, "POST /api/geofences", &feature("Polygon", &square(), &json!({"name": "A"}))).await;
    let id = fence.expect(201)["id"].as_str().unwrap().to_owned();
    let condition = json!({"type": "geofence", "when": "enter", "geofences": [id]});
    let rule = json!({"name": "In", "allDevices": true, "conditions": [condition]});
    let rule =
        app.send(&owner, "POST /api/rules", &rule).await.expect(201)["id"].as_str().unwrap().to_owned();
    let delete = async |path: &str| app.call(&format!("DELETE /api/{path}")).by(&owner).send().await;
    delete(&format!("geofences/{id}")).await.expect_error(409, "in-use");
    delete(&format!("rules/{rule}")).await.expect(200);
    delete(&format!("geofences/{id}")).await.expect(200);
}

async fn who_sees_a_group_sees_its_geofences(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let device = app.device(owner, &json!({"name": "A"})).await;
    let group = app.group(owner, &json!({"name": "G", "devices": [device]})).await;
    let group_id = group.parse().ok();
    let traits = Traits { privileges: vec![Privilege::RulesWrite], group: group_id, ..Traits::default() };
    let scoped = app.person(&tenant, "scoped", traits).await;
    let make = async |person, name: &str| {
        let body = feature("Point", &json!([1, 1]), &json!({"name": name, "radius": 10}));
        app.send(person, "POST /api/geofences", &body).await.expect(201)["id"].as_str().unwrap().to_owned()
    };
    let (hidden, used, own) =
        (make(owner, "hidden").await, make(owner, "used").await, make(&scoped, "own").await);
    let rule =
        json!({"name": "R", "groups": [group], "conditions": [{"type": "route", "geofences": [used]}]});
    app.send(owner, "POST /api/rules", &rule).await.expect(201);
    let listed = app.get(&scoped, "/api/geofences").await;
    let names: Vec<&str> = listed["geofences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fence| fence["properties"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["used", "own"]);
    let delete = async |id: &str| app.call(&format!("DELETE /api/geofences/{id}")).by(&scoped).send().await;
    delete(&hidden).await.expect_error(404, "not-found");
    delete(&used).await.expect_error(403, "forbidden");
    delete(&own).await.expect(200);
}
