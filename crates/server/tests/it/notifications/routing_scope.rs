//! Which webhooks an alert routing may name: those that its author may manage, and those that were named there before.

use perigee_core::access::privilege::Privilege::{self, Admin, DevicesWrite, GroupsWrite};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Engine, Person, TestApp, bare_error, on_both_engines};

on_both_engines!(
    who_manages_no_webhooks_routes_to_none_of_them,
    webhooks_named_before_may_stay,
    bounded_users_cannot_find_out_which_webhooks_exist,
    bounded_users_see_no_addresses_of_contact_groups,
);

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

    fn paths(&self, person: &Person) -> Vec<String> {
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
        for path in on.paths(person) {
            let put = |id: &str| on.app.call(&format!("PUT {path}")).by(person).json(&routing(&[id])).send();
            let mut refused = bare_error(&put(&on.webhook).await, 400, "invalid-body");
            let unknown = bare_error(&put(missing).await, 400, "invalid-body");
            let text = refused.to_string().replace(&on.webhook, missing);
            refused = serde_json::from_str(&text).unwrap();
            assert_eq!(refused, unknown, "{path}: one that exists looks like one that does not");
            on.app.send(person, &format!("PUT {path}"), &routing(&[])).await.expect(200);
        }
    }
    for path in on.paths(&on.owner) {
        on.app.send(&on.owner, &format!("PUT {path}"), &routing(&[&on.webhook])).await.expect(200);
    }
}

async fn webhooks_named_before_may_stay(engine: Engine) {
    let on = Fleet::new(engine).await;
    for person in &on.people {
        for path in on.paths(person) {
            let line = format!("PUT {path}");
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

async fn bounded_users_cannot_find_out_which_webhooks_exist(engine: Engine) {
    let on = Fleet::new(engine).await;
    let missing = "whk_0000000000001";
    for person in &on.people[..3] {
        for line in [
            "GET /api/webhooks/{}",
            "DELETE /api/webhooks/{}",
            "POST /api/webhooks/{}/test",
            "POST /api/webhooks/{}/rotateSecret",
            "GET /api/webhooks/{}/deliveries",
        ] {
            let ask = |id: &str| on.app.call(&line.replace("{}", id)).by(person).send();
            let found = bare_error(&ask(&on.webhook).await, 404, "not-found");
            assert_eq!(found, bare_error(&ask(missing).await, 404, "not-found"), "{line}");
        }
    }
}

async fn bounded_users_see_no_addresses_of_contact_groups(engine: Engine) {
    let on = Fleet::new(engine).await;
    let contacts = json!({"name": "Family", "contacts": [
        {"channel": "email", "address": "mother@example.com", "name": "Mother"},
        {"channel": "sms", "address": "+34600123456"},
    ]});
    let made = on.app.send(&on.owner, "POST /api/contactGroups", &contacts).await.expect(201);
    let routing = json!({
        "recipients": [{"channel": "email", "address": "office@example.com", "name": "Office"}],
        "contactGroups": [{"id": made["id"]}],
        "users": [{"id": on.people[1].id.to_string()}],
    });
    let line = format!("PUT /api/devices/{}/alertRouting", on.device);
    on.app.send(&on.owner, &line, &routing).await.expect(200);
    let alert = json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": "SOSButton", "critical": true});
    on.app.send(&on.owner, &format!("POST /api/devices/{}/alerts", on.device), &alert).await.expect(201);

    let recipients = format!("/api/devices/{}/alertRecipients", on.device);
    let messages = format!("/api/devices/{}/notifications", on.device);
    let addresses = async |person: &Person, path: &str, list: &str| {
        let body = on.app.get(person, path).await;
        let mut shown: Vec<(String, Value)> = body[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["address"].as_str().unwrap().to_owned(), one["name"].clone()))
            .collect();
        shown.sort_by(|one, other| one.0.cmp(&other.0));
        (shown, body.to_string())
    };
    let (all, _) = addresses(&on.owner, &recipients, "recipients").await;
    let own = on.people[1].email.clone();
    let whole: Vec<&str> = all.iter().map(|(address, _)| address.as_str()).collect();
    assert_eq!(whole, ["+34600123456", "mother@example.com", own.as_str(), "office@example.com"]);
    for (person, is_own) in [(&on.people[0], false), (&on.people[1], true), (&on.people[2], false)] {
        let (shown, text) = addresses(person, &recipients, "recipients").await;
        let shown: Vec<&str> = shown.iter().map(|(address, _)| address.as_str()).collect();
        let user = if is_own { own.as_str() } else { "o***" };
        let mut expect = vec!["+34***", "m***", user, "office@example.com"];
        expect.sort_unstable();
        assert_eq!(shown, expect, "what the routing of the device names is readable anyway");
        assert!(!text.contains("Mother"), "{text}");
        let (_, text) = addresses(person, &messages, "notifications").await;
        for secret in ["mother@", "Mother", "+34600123456", "office@"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!(text.contains(own.as_str()), is_own, "{text}");
    }
    let (_, text) = addresses(&on.owner, &messages, "notifications").await;
    assert!(text.contains("mother@example.com"), "{text}");
}
