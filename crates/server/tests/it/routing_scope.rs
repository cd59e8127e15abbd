//! Which webhooks an alert routing may name: those that its author may manage, and those that were named there before.

use perigee_core::privilege::Privilege::{self, Admin, DevicesWrite, GroupsWrite};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, TestApp, bare_error, on_both_engines};

on_both_engines!(who_manages_no_webhooks_routes_to_none_of_them, webhooks_named_before_may_stay);

/// An account with a webhook, a device in a group, and people who see part of it or manage no webhooks.
struct Fleet {
    app: TestApp,
    owner: Person,
    webhook: String,
    device: String,
    group: String,
    people: Vec<Person>,
}

impl Fleet {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::new(engine).await;
        let tenant = app.tenant("acme", 10).await;
        let owner = tenant.owner.clone();
        let body = json!({"url": "https://example.com/hook"});
        let made = app.send(&owner, "POST /api/webhooks", &body).await.expect(201);
        let device = app.device(&owner, &json!({"name": "Star"})).await;
        let group = app.group(&owner, &json!({"name": "North", "devices": [device]})).await;
        let writer = |more: &[Privilege]| [&[DevicesWrite, GroupsWrite], more].concat();
        let of = |group: Option<&str>, device: Option<&str>, privileges| Traits {
            privileges,
            group: group.map(|id| id.parse().unwrap()),
            device: device.map(|id| id.parse().unwrap()),
            disabled: false,
        };
        let people = vec![
            app.person(&tenant, "of-device", of(None, Some(&device), writer(&[]))).await,
            app.person(&tenant, "of-group", of(Some(&group), None, writer(&[]))).await,
            app.person(&tenant, "group-admin", of(Some(&group), None, vec![Admin])).await,
            app.person(&tenant, "no-admin", of(None, None, writer(&[]))).await,
        ];
        let webhook = made["id"].as_str().unwrap().to_owned();
        Self { app, owner, webhook, device, group, people }
    }

    fn places(&self, person: &Person) -> Vec<String> {
        let device = format!("/api/devices/{}/alertRouting", self.device);
        let group = format!("/api/groups/{}/alertRouting", self.group);
        // A user of one device sees no group.
        if person.id == self.people[0].id { vec![device] } else { vec![device, group] }
    }
}

fn routing(webhooks: &[&str]) -> Value {
    let named: Vec<Value> = webhooks.iter().map(|id| json!({"id": id})).collect();
    json!({"recipients": [], "webhooks": named})
}

async fn who_manages_no_webhooks_routes_to_none_of_them(engine: Engine) {
    let on = Fleet::new(engine).await;
    let missing = "whk_0000000000001";
    for person in &on.people {
        for place in on.places(person) {
            let put = |id: &str| on.app.call(&format!("PUT {place}")).by(person).json(&routing(&[id])).send();
            let mut refused = bare_error(&put(&on.webhook).await, 400, "invalid-body");
            let unknown = bare_error(&put(missing).await, 400, "invalid-body");
            let text = refused.to_string().replace(&on.webhook, missing);
            refused = serde_json::from_str(&text).unwrap();
            assert_eq!(refused, unknown, "{place}: one that exists looks like one that does not");
            on.app.send(person, &format!("PUT {place}"), &routing(&[])).await.expect(200);
        }
    }
    for place in on.places(&on.owner) {
        on.app.send(&on.owner, &format!("PUT {place}"), &routing(&[&on.webhook])).await.expect(200);
    }
}

async fn webhooks_named_before_may_stay(engine: Engine) {
    let on = Fleet::new(engine).await;
    for person in &on.people {
        for place in on.places(person) {
            let line = format!("PUT {place}");
            on.app.send(&on.owner, &line, &routing(&[&on.webhook])).await.expect(200);
            let mut kept = routing(&[&on.webhook]);
            kept["webhooks"][0]["minimumSeverity"] = json!("critical");
            on.app.send(person, &line, &kept).await.expect(200);
            on.app.send(person, &line, &routing(&[])).await.expect(200);
            let again = on.app.send(person, &line, &routing(&[&on.webhook])).await;
            again.expect_error(400, "invalid-body");
        }
    }
}
