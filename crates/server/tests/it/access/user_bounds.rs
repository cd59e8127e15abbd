//! Limits on users with `from`, `expires` or `adminDevices`: the values they may grant, and the passwords they may set.

use perigee_core::access::privilege::Privilege::{self, Admin, DevicesWrite, UsersWrite};
use serde_json::{Value, json};

use crate::support::people::Traits;
use crate::support::{Answer, Engine, Person, Tenant, TestApp, on_both_engines};

on_both_engines!(
    new_users_stay_within_their_makers_validity,
    new_users_create_no_devices_beyond_their_makers_allowance,
    others_are_not_changed_beyond_ones_own_bounds,
    bounded_admins_do_not_lift_their_own_bounds,
    passwords_of_less_bounded_users_stay_theirs,
    nobody_makes_a_password_link_for_themselves,
);

const UNTIL: &str = "2027-01-01T00:00:00Z";
const LATER: &str = "2027-01-01T00:00:00.001Z";

async fn bounded(app: &TestApp, tenant: &Tenant, privileges: &[Privilege], bounds: Value) -> Person {
    let traits = Traits { privileges: privileges.to_vec(), ..Traits::default() };
    let person = app.person(tenant, "bounded", traits).await;
    patch(app, &tenant.owner, &person, bounds).await.expect(200);
    person
}

async fn patch(app: &TestApp, by: &Person, whom: &Person, body: Value) -> Answer {
    app.send(by, &format!("PATCH /api/users/{}", whom.id), &body).await
}

async fn create(app: &TestApp, by: &Person, name: &str, more: Value) -> Answer {
    let mut body =
        json!({"name": name, "email": format!("{name}@acme.test"), "country": "ES", "timeZone": "UTC"});
    for (member, value) in more.as_object().unwrap() {
        body[member] = value.clone();
    }
    app.send(by, "POST /api/users", &body).await
}

async fn new_users_stay_within_their_makers_validity(engine: Engine) {
    let app = TestApp::new(engine).await;
    for (account, privilege) in [("acme", UsersWrite), ("other", Admin)] {
        let tenant = app.tenant(account, 10).await;
        let bounds = json!({"from": "2025-06-01T00:00:00Z", "expires": UNTIL});
        let maker = bounded(&app, &tenant, &[privilege], bounds).await;
        let try_create =
            async |name: &str, more: Value| create(&app, &maker, &format!("{account}-{name}"), more).await;
        let made = try_create("one", json!({"expires": null})).await.expect(201);
        assert_eq!((&made["expires"], &made["from"]), (&json!(UNTIL), &json!("2025-06-01T00:00:00Z")));
        let made = try_create("two", json!({"expires": "2026-02-01T00:00:00Z"})).await.expect(201);
        assert_eq!(made["expires"], "2026-02-01T00:00:00Z");
        try_create("three", json!({"expires": LATER})).await.expect_error(403, "forbidden");
        try_create("four", json!({"from": "2025-05-31T00:00:00Z"})).await.expect_error(403, "forbidden");
        let made = create(&app, &tenant.owner, &format!("{account}-five"), json!({})).await.expect(201);
        assert_eq!(made["expires"], json!(null), "an owner without bounds gives none");
    }
}

async fn new_users_create_no_devices_beyond_their_makers_allowance(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let privileges = [UsersWrite, DevicesWrite];
    let maker = bounded(&app, &tenant, &privileges, json!({"adminDevices": 2})).await;
    for allowance in [json!(null), json!(1), json!(2)] {
        let more = json!({"privileges": ["devices.write"], "adminDevices": allowance});
        create(&app, &maker, "more", more).await.expect_error(403, "forbidden");
    }
    let none = json!({"privileges": ["devices.write"], "adminDevices": 0});
    create(&app, &maker, "none", none).await.expect(201);
    create(&app, &maker, "reader", json!({})).await.expect(201);
}

async fn others_are_not_changed_beyond_ones_own_bounds(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let bounds = json!({"expires": UNTIL, "adminDevices": 2});
    let maker = bounded(&app, &tenant, &[UsersWrite, DevicesWrite], bounds).await;
    let other = app.person(&tenant, "other", Traits::default()).await;
    let change = |body: Value| patch(&app, &maker, &other, body);
    change(json!({"name": "Other"})).await.expect(200);
    for beyond in [json!({"expires": LATER}), json!({"privileges": ["devices.write"]})] {
        change(beyond).await.expect_error(403, "forbidden");
    }
    change(json!({"expires": UNTIL})).await.expect(200);
    change(json!({"expires": null})).await.expect_error(403, "forbidden");
    change(json!({"privileges": ["devices.write"], "adminDevices": 0})).await.expect(200);
    change(json!({"adminDevices": null})).await.expect_error(403, "forbidden");
}

async fn bounded_admins_do_not_lift_their_own_bounds(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let admin = bounded(&app, &tenant, &[Admin], json!({"expires": UNTIL, "adminDevices": 2})).await;
    for lifted in [json!({"expires": null}), json!({"expires": LATER}), json!({"adminDevices": 3})] {
        patch(&app, &admin, &admin, lifted).await.expect_error(403, "forbidden");
    }
    patch(&app, &admin, &admin, json!({"adminDevices": 1})).await.expect(200);
    patch(&app, &tenant.owner, &tenant.owner, json!({"adminDevices": 2})).await.expect(200);
    patch(&app, &tenant.owner, &tenant.owner, json!({"adminDevices": null})).await.expect(200);
}

async fn passwords_of_less_bounded_users_stay_theirs(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let maker = bounded(&app, &tenant, &[UsersWrite], json!({"expires": UNTIL})).await;
    let other = app.person(&tenant, "other", Traits::default()).await;
    let password = json!({"password": "nine lives of a cat"});
    let cookie = app.sign_in(&maker).await;
    let link = || app.call(&format!("POST /api/users/{}/passwordLink", other.id)).cookie(&cookie).send();
    patch(&app, &maker, &other, password.clone()).await.expect_error(403, "forbidden");
    link().await.expect_error(403, "forbidden");
    patch(&app, &tenant.owner, &other, json!({"expires": UNTIL})).await.expect(200);
    patch(&app, &maker, &other, password).await.expect(200);
    link().await.expect(201);
}

async fn nobody_makes_a_password_link_for_themselves(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    let link = app.call(&format!("POST /api/users/{}/passwordLink", owner.id)).cookie(&cookie).send().await;
    let refused = link.expect_error(403, "forbidden");
    assert!(refused["error"].as_str().unwrap().contains("PUT /api/session/password"), "{refused}");
}
