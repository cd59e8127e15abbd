//! Grants, scopes, and the last owner.

use perigee_core::access::privilege::Privilege;
use perigee_core::store::Users;
use serde_json::{Value, json};

use crate::support::people::{PASSWORD, Traits};
use crate::support::{Answer, Engine, Person, Tenant, TestApp, on_both_engines};

on_both_engines!(
    nobody_grants_what_they_do_not_hold,
    nobody_changes_those_above_them,
    readers_read,
    a_scoped_user_sees_itself_alone,
    a_scoped_user_stays_within_its_bounds,
    nobody_lifts_their_own_bounds_but_admins,
    the_last_owner_stays,
    only_operators_touch_operators,
    denied_attempts_are_audited,
);

async fn holder(app: &TestApp, tenant: &Tenant, name: &str, privileges: &[Privilege]) -> Person {
    app.person(tenant, name, Traits { privileges: privileges.to_vec(), ..Traits::default() }).await
}

async fn patch(app: &TestApp, by: &Person, whom: &Person, body: Value) -> Answer {
    app.call(&format!("PATCH /api/users/{}", whom.id)).by(by).json(&body).send().await
}

async fn delete(app: &TestApp, by: &Person, whom: &Person) -> Answer {
    app.call(&format!("DELETE /api/users/{}", whom.id)).by(by).send().await
}

async fn nobody_grants_what_they_do_not_hold(engine: Engine) {
    use Privilege::{Admin, DevicesWrite, Owner, UsersWrite};
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let callers = [
        ("owner", vec![Owner]),
        ("admin", vec![Admin]),
        ("manager", vec![UsersWrite, DevicesWrite]),
        ("clerk", vec![UsersWrite]),
        ("writer", vec![DevicesWrite]),
        ("reader", vec![]),
    ];
    let cases: [(&[&str], &[&str]); 7] = [
        (&[], &["owner", "admin", "manager", "clerk"]),
        (&["api"], &["owner", "admin", "manager", "clerk"]),
        (&["devices.write"], &["owner", "admin", "manager"]),
        (&["users.write", "devices.write"], &["owner", "admin", "manager"]),
        (&["rules.write"], &["owner", "admin"]),
        (&["admin"], &["owner", "admin"]),
        (&["owner"], &["owner"]),
    ];
    for (caller, held) in callers {
        let person = holder(&app, &tenant, &format!("the-{caller}"), &held).await;
        let subject = holder(&app, &tenant, &format!("subject-of-{caller}"), &[]).await;
        for (number, (granted, may)) in cases.iter().enumerate() {
            let email = format!("{caller}-{number}@acme.test");
            let new = json!({"name": "N", "email": email, "country": "ES", "timeZone": "UTC", "privileges": granted});
            let created = app.call("POST /api/users").by(&person).json(&new).send().await;
            let changed = patch(&app, &person, &subject, json!({"privileges": granted})).await;
            if may.contains(&caller) {
                created.expect(201);
                changed.expect(200);
                patch(&app, &tenant.owner, &subject, json!({"privileges": []})).await.expect(200);
            } else {
                created.expect_error(403, "forbidden");
                changed.expect_error(403, "forbidden");
            }
        }
    }
}

async fn nobody_changes_those_above_them(engine: Engine) {
    use Privilege::{Admin, DevicesWrite, Owner, UsersWrite};
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let admin = holder(&app, &tenant, "admin", &[Admin]).await;
    let clerk = holder(&app, &tenant, "clerk", &[UsersWrite]).await;
    let above =
        [(&admin, vec![Owner]), (&clerk, vec![Owner]), (&clerk, vec![Admin]), (&clerk, vec![DevicesWrite])];
    for (number, (caller, held)) in above.into_iter().enumerate() {
        let target = holder(&app, &tenant, &format!("above-{number}"), &held).await;
        for change in [
            json!({"name": "X"}),
            json!({"privileges": []}),
            json!({"password": PASSWORD}),
            json!({"disabled": true}),
        ] {
            patch(&app, caller, &target, change).await.expect_error(403, "forbidden");
        }
        delete(&app, caller, &target).await.expect_error(403, "forbidden");
        app.call(&format!("GET /api/users/{}", target.id)).by(caller).send().await.expect(200);
    }
    let equal = holder(&app, &tenant, "other-admin", &[Admin]).await;
    patch(&app, &admin, &equal, json!({"name": "X"})).await.expect(200);
    delete(&app, &admin, &equal).await.expect(200);
}

async fn readers_read(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = holder(&app, &tenant, "reader", &[]).await;
    let list = app.call("GET /api/users").by(&reader).send().await.expect(200);
    assert_eq!(list["users"].as_array().unwrap().len(), 2);
    app.call(&format!("GET /api/users/{}", tenant.owner.id)).by(&reader).send().await.expect(200);
    for whom in [&tenant.owner, &reader] {
        patch(&app, &reader, whom, json!({"name": "X"})).await.expect_error(403, "forbidden");
        delete(&app, &reader, whom).await.expect_error(403, "forbidden");
    }
}

/// Somebody bound to a group of the account.
async fn bound(app: &TestApp, tenant: &Tenant, privileges: &[Privilege]) -> Person {
    let made =
        app.call("POST /api/groups").by(&tenant.owner).json(&json!({"name": "G"})).send().await.expect(201);
    let group = made["id"].as_str().unwrap().parse().ok();
    app.person(tenant, "bound", Traits { privileges: privileges.to_vec(), group, ..Traits::default() }).await
}

async fn a_scoped_user_sees_itself_alone(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let scoped = bound(&app, &tenant, &[Privilege::Admin]).await;
    let list = async |query: &str| {
        let answer = app.call(&format!("GET /api/users{query}")).by(&scoped).send().await.expect(200);
        answer["users"].as_array().unwrap().iter().map(|user| user["id"].clone()).collect::<Vec<_>>()
    };
    let itself = vec![json!(scoped.id)];
    assert_eq!(list("").await, itself);
    assert_eq!(list("?limit=1").await, itself);
    assert_eq!(list("?q=BOUND").await, itself);
    assert_eq!(list("?q=owner").await, Vec::<Value>::new());
    assert_eq!(list("?tag=a:b").await, Vec::<Value>::new());
    app.call(&format!("GET /api/users/{}", scoped.id)).by(&scoped).send().await.expect(200);
    app.call(&format!("GET /api/users/{}", tenant.owner.id))
        .by(&scoped)
        .send()
        .await
        .expect_error(404, "not-found");
    let other = holder(&app, &tenant, "other", &[]).await;
    patch(&app, &scoped, &other, json!({"name": "X"})).await.expect_error(404, "not-found");
    delete(&app, &scoped, &other).await.expect_error(404, "not-found");
    let new = json!({"name": "N", "email": "n@acme.test", "country": "ES", "timeZone": "UTC"});
    app.call("POST /api/users").by(&scoped).json(&new).send().await.expect_error(403, "forbidden");
}

async fn a_scoped_user_stays_within_its_bounds(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let scoped = bound(&app, &tenant, &[Privilege::UsersWrite, Privilege::DevicesWrite]).await;
    for change in [
        json!({"group": null}),
        json!({"privileges": ["users.write"]}),
        json!({"privileges": ["users.write", "devices.write", "api", "admin"]}),
        json!({"deviceId": "dev_0000000000000"}),
        json!({"adminDevices": 5}),
        json!({"expires": "2030-01-01T00:00:00Z"}),
    ] {
        patch(&app, &scoped, &scoped, change).await.expect_error(403, "forbidden");
    }
    patch(&app, &scoped, &scoped, json!({"name": "X", "timeZone": "Asia/Tokyo"})).await.expect(200);
    patch(&app, &tenant.owner, &scoped, json!({"group": null})).await.expect(200);
    let list = app.call("GET /api/users").by(&scoped).send().await.expect(200);
    assert_eq!(list["users"].as_array().unwrap().len(), 2, "a new scope acts at once");
}

async fn nobody_lifts_their_own_bounds_but_admins(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let writer = holder(&app, &tenant, "writer", &[Privilege::UsersWrite]).await;
    let other = holder(&app, &tenant, "other", &[]).await;
    let bounds = json!({"adminDevices": 1, "expires": "2027-01-01T00:00:00Z"});
    patch(&app, &tenant.owner, &writer, bounds.clone()).await.expect(200);
    for lifted in [
        json!({"expires": null}),
        json!({"expires": "2028-01-01T00:00:00Z"}),
        json!({"adminDevices": 100}),
        json!({"from": "2025-01-01T00:00:00Z"}),
        json!({"privileges": []}),
    ] {
        patch(&app, &writer, &writer, lifted.clone()).await.expect_error(403, "forbidden");
    }
    patch(&app, &writer, &writer, json!({"name": "Writer"})).await.expect(200);
    patch(&app, &writer, &other, bounds.clone()).await.expect(200);
    let admin = holder(&app, &tenant, "admin", &[Privilege::Admin]).await;
    patch(&app, &admin, &admin, bounds).await.expect(200);
}

async fn the_last_owner_stays(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let owner = &tenant.owner;
    let made = app.call("POST /api/groups").by(owner).json(&json!({"name": "G"})).send().await.expect(201);
    let locking_out = [
        json!({"privileges": ["admin"]}),
        json!({"disabled": true}),
        json!({"from": "2030-01-01T00:00:00Z"}),
        json!({"expires": "2030-01-01T00:00:00Z"}),
        json!({"group": made["id"]}),
    ];
    for change in &locking_out {
        patch(&app, owner, owner, change.clone()).await.expect_error(409, "last-owner");
    }
    delete(&app, owner, owner).await.expect_error(409, "last-owner");
    let second = holder(&app, &tenant, "second", &[Privilege::Owner]).await;
    patch(&app, owner, &second, json!({"disabled": true})).await.expect(200);
    delete(&app, owner, owner).await.expect_error(409, "last-owner");
    patch(&app, owner, &second, json!({"disabled": false})).await.expect(200);
    delete(&app, &second, owner).await.expect(200);
    delete(&app, &second, &second).await.expect_error(409, "last-owner");
}

async fn only_operators_touch_operators(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let operator = holder(&app, &tenant, "operator", &[Privilege::UsersWrite]).await;
    app.store.set_operator(operator.id, true).await.unwrap();
    for change in [json!({"password": PASSWORD}), json!({"email": "mine@acme.test"})] {
        patch(&app, &tenant.owner, &operator, change).await.expect_error(403, "forbidden");
    }
    delete(&app, &tenant.owner, &operator).await.expect_error(403, "forbidden");
    patch(&app, &operator, &operator, json!({"name": "X"})).await.expect(200);
}

async fn denied_attempts_are_audited(engine: Engine) {
    use perigee_core::access::actor::Scope;
    use perigee_core::access::audit::AuditFilter;
    use perigee_core::page::PageRequest;
    use perigee_core::store::Audits;

    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let reader = holder(&app, &tenant, "reader", &[]).await;
    delete(&app, &reader, &tenant.owner).await.expect_error(403, "forbidden");
    app.settle().await;
    let filter = AuditFilter { user: Some(reader.id), ..AuditFilter::default() };
    let entries = app
        .store
        .list_audits(Scope::for_operator(tenant.account.id), &filter, PageRequest::first(10))
        .await
        .unwrap();
    assert_eq!(entries.items[0].action, "request.denied");
    assert_eq!(entries.items[0].target, Some(format!("DELETE /api/users/{}", tenant.owner.id)));
}
