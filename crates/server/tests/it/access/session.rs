//! Console sessions: cookies, origins, passwords, second factors and links.

use futures_util::future::join_all;
use perigee_core::access::actor::{Origin, Scope};
use perigee_core::access::audit::{AuditEntry, AuditFilter};
use perigee_core::access::credential::{LinkPurpose as KeptPurpose, NewLink, NewPassword, VerifiedTotp};
use perigee_core::access::privilege::Privilege;
use perigee_core::page::PageRequest;
use perigee_core::store::{Audits, Credentials, Users};
use perigee_server::auth::link::LinkPurpose;
use perigee_server::auth::password::{PasswordCost, Passwords};
use perigee_server::auth::totp::TotpSecret;
use perigee_server::auth::{Secret, session};
use perigee_server::serve::{PublicOrigin, Scheme};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::support::people::{PASSWORD, Traits};
use crate::support::{Answer, Engine, Person, Tenant, TestApp, on_both_engines};

on_both_engines!(
    signing_in_returns_who_one_is,
    cookies_are_bound_to_the_service,
    every_refusal_is_the_same,
    changes_come_from_our_own_pages,
    failures_are_limited_by_address,
    many_guesses_at_once_learn_no_more,
    a_session_ends,
    signing_in_again_ends_the_session_before,
    a_proxys_word_binds_the_cookie_to_tls,
    a_password_is_changed,
    the_second_factor_is_asked_for,
    wrong_codes_are_limited_from_everywhere,
    many_codes_at_once_are_not_all_judged,
    a_factor_begun_again_is_not_confirmed_by_an_old_code,
    a_new_password_ends_the_api_key_when_asked,
    a_link_works_once_and_for_its_purpose,
    old_hashes_are_replaced,
    sign_ins_are_audited,
    bad_bodies_say_what_to_change,
);

const NEW_PASSWORD: &str = "nine lives of a cat";

async fn sign_in(app: &TestApp, email: &str, password: &str) -> Answer {
    app.call("POST /api/session").json(&json!({"email": email, "password": password})).send().await
}

async fn who(app: &TestApp, cookie: &str) -> Answer {
    app.call("GET /api/session").cookie(cookie).send().await
}

async fn audits(app: &TestApp, tenant: &Tenant, action: &str) -> Vec<AuditEntry> {
    app.settle().await;
    let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
    let scope = Scope::for_operator(tenant.account.id);
    app.store.list_audits(scope, &filter, PageRequest::first(100)).await.unwrap().items
}

fn without_id(answer: &Answer) -> Value {
    let mut body = answer.json();
    body["instance"] = json!(null);
    body
}

async fn signing_in_returns_who_one_is(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let answer = sign_in(&app, &tenant.owner.email.to_uppercase(), PASSWORD).await;
    let body = answer.expect(200);
    assert_eq!((&body["user"]["id"], &body["user"]["password"]), (&json!(tenant.owner.id), &json!(null)));
    assert_eq!(body["user"]["lastLogin"], "2026-01-01T00:00:00Z");
    let account = json!({
        "id": tenant.account.id, "name": "acme", "timeZone": "UTC",
        "licenses": {"total": 10, "used": 0, "free": 10},
        "emergencyProcedure": null,
        "branding": {"name": null, "colour": null, "logo": null},
        "quickReplies": null,
    });
    assert_eq!(body["account"], account);
    assert_eq!((&body["operator"], &body["totp"]), (&json!(false), &json!(false)));
    assert_eq!(body["privileges"].as_array().unwrap().len(), Privilege::ALL.len());
    assert_eq!(body.get("apiUsage"), None, "nobody was known when the call came");

    let cookie = answer.header("set-cookie").split(';').next().unwrap();
    let mut again = who(&app, cookie).await.expect(200);
    assert_eq!((&again["apiUsage"], &again["expires"]), (&json!(1), &body["expires"]));
    for usage in ["apiUsage", "apiDailyUsage"] {
        again.as_object_mut().unwrap().remove(usage);
    }
    assert_eq!(again, body);
    let by_token = app.call("GET /api/session").by(&tenant.owner).send().await.expect(200);
    assert_eq!((&by_token["user"]["id"], &by_token["expires"]), (&json!(tenant.owner.id), &json!(null)));
}

async fn cookies_are_bound_to_the_service(engine: Engine) {
    for (base_url, expect) in [
        ("http://perigee.test", "; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"),
        ("https://perigee.test", "; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"),
        ("https://example.test/track", "; Path=/track; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"),
    ] {
        let app = TestApp::with(engine, |config| {
            config.server.base_url = base_url.into();
            config.auth.session_seconds = 43_200;
        })
        .await;
        let owner = app.tenant("acme", 10).await.owner;
        let answer = sign_in(&app, &owner.email, PASSWORD).await;
        let (pair, flags) = answer.header("set-cookie").split_at("perigee_session=".len() + 32);
        assert!(pair.starts_with("perigee_session="), "{pair}");
        assert_eq!(flags, expect);
        let ended = app.call("DELETE /api/session").cookie(pair).send().await;
        assert_eq!(ended.header("set-cookie"), format!("perigee_session={}", expect.replace("43200", "0")));
    }
}

async fn every_refusal_is_the_same(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let disabled = app.person(&tenant, "disabled", Traits { disabled: true, ..Traits::default() }).await;
    let invited = json!({"name": "I", "email": "invited@acme.test", "country": "ES", "timeZone": "UTC"});
    app.call("POST /api/users").by(&tenant.owner).json(&invited).send().await.expect(201);
    let causes = [
        ("nobody@acme.test", PASSWORD),
        ("no address", PASSWORD),
        (&tenant.owner.email, "wrong password"),
        (&disabled.email, PASSWORD),
        ("invited@acme.test", PASSWORD),
    ];
    let mut bodies = Vec::new();
    for (email, password) in causes {
        let answer = sign_in(&app, email, password).await;
        answer.expect_error(401, "invalid-credentials");
        assert_eq!(answer.headers.get("set-cookie"), None);
        bodies.push(without_id(&answer));
    }
    assert!(bodies.iter().all(|body| body == &bodies[0]), "{bodies:?}");
}

async fn changes_come_from_our_own_pages(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let body = json!({"email": owner.email, "password": PASSWORD});
    let from = |origin: &str| app.call("POST /api/session").header("origin", origin).json(&body).send();
    for origin in [
        "https://evil.test",
        "null",
        "http://perigee.test:81",
        "https://perigee.test",
        "http://perigee.test.evil.test",
    ] {
        from(origin).await.expect_error(403, "foreign-origin");
    }
    from("http://perigee.test").await.expect(200);
    let cookie = app.sign_in(&owner).await;
    let post =
        |origin: &str| app.call("POST /api/account/apiKey").cookie(&cookie).header("origin", origin).send();
    post("https://evil.test").await.expect_error(403, "foreign-origin");
    post("http://perigee.test").await.expect(201);
    let link = json!({"token": "x", "newPassword": NEW_PASSWORD});
    let reset = app.call("POST /api/session/passwordReset").header("origin", "https://evil.test").json(&link);
    reset.send().await.expect_error(403, "foreign-origin");
    let served_at = PublicOrigin { scheme: Scheme::Http, host: Some("127.0.0.1:8080".to_owned()) };
    let local = app.call("POST /api/session").extension(served_at).header("origin", "http://127.0.0.1:8080");
    local.json(&body).send().await.expect(200);
}

async fn failures_are_limited_by_address(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    for _ in 0..10 {
        sign_in(&app, &owner.email, "wrong password").await.expect_error(401, "invalid-credentials");
    }
    let limited = sign_in(&app, &owner.email, PASSWORD).await;
    limited.expect_error(429, "rate-limited");
    assert_eq!(limited.header("retry-after"), "6");
    let link = json!({"token": "x", "newPassword": NEW_PASSWORD});
    let reset = app.call("POST /api/session/passwordReset").json(&link).send().await;
    reset.expect_error(429, "rate-limited");
    let body = json!({"email": owner.email, "password": PASSWORD});
    app.call("POST /api/session").from("192.0.2.2").json(&body).send().await.expect(200);
    app.clock().advance_seconds(60);
    sign_in(&app, &owner.email, PASSWORD).await.expect(200);
}

async fn many_guesses_at_once_learn_no_more(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let guesses: Vec<String> = (0..60).map(|number| format!("guess number {number}")).collect();
    let answers = join_all(guesses.iter().map(|guess| sign_in(&app, &owner.email, guess))).await;
    let judged = answers.iter().filter(|answer| answer.status == 401).count();
    assert_eq!(judged, 10, "the others are refused unheard");
}

async fn a_session_ends(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let (one, two) = (app.sign_in(&owner).await, app.sign_in(&owner).await);
    who(&app, &one).await.expect(200);
    app.call("DELETE /api/session").by(&owner).send().await.expect_error(403, "session-required");
    app.call("DELETE /api/session").cookie(&one).send().await.expect(200);
    who(&app, &one).await.expect_error(401, "unauthenticated");
    who(&app, &two).await.expect(200);
    app.clock().advance_seconds(i64::from(app.app.config.auth.session_seconds));
    who(&app, &two).await.expect_error(401, "unauthenticated");
    who(&app, "perigee_session=nonsense").await.expect_error(401, "unauthenticated");
}

async fn a_password_is_changed(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let (one, two) = (app.sign_in(&owner).await, app.sign_in(&owner).await);
    who(&app, &two).await.expect(200);
    let put = |current: &str, new: &str| {
        let body = json!({"currentPassword": current, "newPassword": new});
        app.call("PUT /api/session/password").cookie(&one).json(&body).send()
    };
    put("wrong password", NEW_PASSWORD).await.expect_error(401, "invalid-credentials");
    for weak in ["short", "", "owner@acme.test", &"x".repeat(129)] {
        let refused = put(PASSWORD, weak).await.expect_error(400, "invalid-body");
        assert_eq!(refused["errors"][0]["pointer"], "/newPassword", "{refused}");
    }
    sign_in(&app, &owner.email, NEW_PASSWORD).await.expect(401);
    put(PASSWORD, NEW_PASSWORD).await.expect(200);
    who(&app, &one).await.expect(200);
    who(&app, &two).await.expect_error(401, "unauthenticated");
    sign_in(&app, &owner.email, PASSWORD).await.expect(401);
    sign_in(&app, &owner.email, NEW_PASSWORD).await.expect(200);
    let body = json!({"currentPassword": NEW_PASSWORD, "newPassword": PASSWORD});
    let by_token = app.call("PUT /api/session/password").by(&owner).json(&body).send().await;
    by_token.expect_error(403, "session-required");
}

async fn begin_totp(app: &TestApp, cookie: &str, password: &str) -> Answer {
    app.call("POST /api/session/totp").cookie(cookie).json(&json!({"password": password})).send().await
}

/// Begins and confirms the second factor of somebody signed in.
async fn turn_on(app: &TestApp, cookie: &str) -> TotpSecret {
    let begun = begin_totp(app, cookie, PASSWORD).await.expect(200);
    let base32 = begun["secret"].as_str().unwrap();
    assert!(begun["uri"].as_str().unwrap().contains(base32), "{begun}");
    let user = who(app, cookie).await.json()["user"]["id"].as_str().unwrap().parse().unwrap();
    let kept = app.store.find_login_by_id(user).await.unwrap().unwrap().totp.unwrap();
    let secret = TotpSecret::from_bytes(kept.secret.try_into().unwrap());
    assert_eq!(secret.to_base32(), base32);
    let code = json!({"code": secret.code(app.app.clock.now())});
    app.call("PUT /api/session/totp").cookie(cookie).json(&code).send().await.expect(200);
    secret
}

async fn sign_in_with_code(app: &TestApp, person: &Person, code: &str) -> Answer {
    let body = json!({"email": person.email, "password": PASSWORD, "totp": code});
    app.call("POST /api/session").json(&body).send().await
}

async fn the_second_factor_is_asked_for(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    let put =
        |code: &str| app.call("PUT /api/session/totp").cookie(&cookie).json(&json!({"code": code})).send();
    put("123456").await.expect_error(409, "totp-conflict");
    begin_totp(&app, &cookie, "wrong password").await.expect_error(401, "invalid-credentials");
    put("123456").await.expect_error(409, "totp-conflict");
    begin_totp(&app, &cookie, PASSWORD).await.expect(200);
    put("nonsense").await.expect_error(401, "invalid-credentials");
    let elsewhere = app.sign_in(&owner).await;
    let secret = turn_on(&app, &cookie).await;
    assert_eq!(who(&app, &cookie).await.expect(200)["totp"], true);
    who(&app, &elsewhere).await.expect_error(401, "unauthenticated");
    begin_totp(&app, &cookie, PASSWORD).await.expect_error(409, "totp-conflict");
    put("123456").await.expect_error(409, "totp-conflict");

    sign_in(&app, &owner.email, PASSWORD).await.expect_error(401, "totp-required");
    let wrong = sign_in(&app, &owner.email, "wrong password").await;
    wrong.expect_error(401, "invalid-credentials");
    let code = secret.code(app.app.clock.now());
    let replayed = sign_in_with_code(&app, &owner, &code).await;
    replayed.expect_error(401, "invalid-credentials");
    assert_eq!(without_id(&replayed), without_id(&wrong));
    app.clock().advance_seconds(30);
    let code = secret.code(app.app.clock.now());
    sign_in_with_code(&app, &owner, &code).await.expect(200);
    sign_in_with_code(&app, &owner, &code).await.expect_error(401, "invalid-credentials");
    app.clock().advance_seconds(30);
    sign_in_with_code(&app, &owner, "000000").await.expect_error(401, "invalid-credentials");

    let delete = |password: &str, code: Value| {
        let body = json!({"password": password, "code": code});
        app.call("DELETE /api/session/totp").cookie(&cookie).json(&body).send()
    };
    let code = json!(secret.code(app.app.clock.now()));
    delete("wrong password", code.clone()).await.expect_error(401, "invalid-credentials");
    delete(PASSWORD, json!(null)).await.expect_error(401, "totp-required");
    delete(PASSWORD, json!("nonsense")).await.expect_error(401, "invalid-credentials");
    assert_eq!(who(&app, &cookie).await.expect(200)["totp"], true, "the password alone is not enough");
    delete(PASSWORD, code.clone()).await.expect(200);
    delete(PASSWORD, code).await.expect_error(409, "totp-conflict");
    sign_in(&app, &owner.email, PASSWORD).await.expect(200);
}

async fn wrong_codes_are_limited_from_everywhere(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let secret = turn_on(&app, &app.sign_in(&owner).await).await;
    app.clock().advance_seconds(30);
    let right = secret.code(app.app.clock.now());
    let present = |code: &str, address: usize| {
        let body = json!({"email": owner.email, "password": PASSWORD, "totp": code});
        app.call("POST /api/session").from(&format!("192.0.2.{address}")).json(&body).send()
    };
    for address in 0..5 {
        present("nonsense", address).await.expect_error(401, "invalid-credentials");
    }
    for wait_s in [30, 60, 120, 240, 480, 900, 900] {
        let limited = present(&right, 11).await;
        limited.expect_error(429, "rate-limited");
        assert_eq!(limited.header("retry-after"), wait_s.to_string());
        app.clock().advance_seconds(wait_s - 1);
        present(&right, 12).await.expect_error(429, "rate-limited");
        app.clock().advance_seconds(1);
        present("nonsense", 13).await.expect_error(401, "invalid-credentials");
    }
    // The wait is measured on the monotonic clock.
    app.clock().step_seconds(86_400);
    present(&secret.code(app.app.clock.now()), 14).await.expect_error(429, "rate-limited");
    app.clock().advance_seconds(900);
    present(&secret.code(app.app.clock.now()), 14).await.expect(200);
    present("nonsense", 15).await.expect_error(401, "invalid-credentials");
    app.clock().advance_seconds(30);
    present(&secret.code(app.app.clock.now()), 16).await.expect(200);
}

async fn many_codes_at_once_are_not_all_judged(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    turn_on(&app, &app.sign_in(&owner).await).await;
    app.clock().advance_seconds(30);
    let answers = join_all((0..40).map(|address| {
        let body = json!({"email": owner.email, "password": PASSWORD, "totp": "nonsense"});
        app.call("POST /api/session").from(&format!("192.0.2.{address}")).json(&body).send()
    }));
    let judged = answers.await.iter().filter(|answer| answer.status == 401).count();
    assert_eq!(judged, 5, "the others are refused unheard");
}

/// A code of the first secret must not confirm the second one.
async fn a_factor_begun_again_is_not_confirmed_by_an_old_code(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    begin_totp(&app, &cookie, PASSWORD).await.expect(200);
    let first = app.store.find_login_by_id(owner.id).await.unwrap().unwrap().totp.unwrap();
    begin_totp(&app, &cookie, PASSWORD).await.expect(200);
    // As a handler does that read the store before the second secret was stored.
    let proved = VerifiedTotp { secret: first.secret, step: 1 };
    let confirmed = app.store.confirm_totp(&Origin::command(), owner.id, proved, None).await;
    assert!(confirmed.is_err(), "{confirmed:?}");
    assert_eq!(who(&app, &cookie).await.expect(200)["totp"], false);
}

async fn a_new_password_ends_the_api_key_when_asked(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    let put = |current: &str, new: &str, end: bool| {
        let body = json!({"currentPassword": current, "newPassword": new, "endApiKey": end});
        app.call("PUT /api/session/password").cookie(&cookie).json(&body).send()
    };
    put(PASSWORD, NEW_PASSWORD, false).await.expect(200);
    app.get(&owner, "/api/groups").await;
    put("wrong password", PASSWORD, true).await.expect_error(401, "invalid-credentials");
    app.get(&owner, "/api/groups").await;
    put(NEW_PASSWORD, PASSWORD, true).await.expect(200);
    app.call("GET /api/groups").by(&owner).send().await.expect_error(401, "invalid-token");
    let credentials = json!({"userName": owner.email, "apiKey": owner.api_key});
    assert_eq!(app.call("POST /api/Auth/Token").json(&credentials).send().await.status, 401);

    let other = app.tenant("other", 10).await.owner;
    let link = make_link(&app, &other, LinkPurpose::PasswordReset).await;
    let body = json!({"token": link.expose(), "newPassword": NEW_PASSWORD, "endApiKey": true});
    app.call("POST /api/session/passwordReset").json(&body).send().await.expect(200);
    app.call("GET /api/groups").by(&other).send().await.expect_error(401, "invalid-token");
}

async fn make_link(app: &TestApp, person: &Person, purpose: LinkPurpose) -> Secret {
    let secret = Secret::generate();
    let kept = match purpose {
        LinkPurpose::PasswordReset => KeptPurpose::Reset,
        LinkPurpose::Invitation => KeptPurpose::Invitation,
    };
    let new = NewLink {
        user: person.id,
        purpose: kept,
        hash: *purpose.hash(&secret).as_bytes(),
        expires: app.app.clock.now().plus_seconds(3_600),
    };
    app.store.create_link(&Origin::command(), new).await.unwrap();
    secret
}

async fn a_link_works_once_and_for_its_purpose(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    who(&app, &cookie).await.expect(200);
    let redeem = |token: &str, address: &str| {
        let body = json!({"token": token, "newPassword": NEW_PASSWORD});
        app.call("POST /api/session/passwordReset").from(address).json(&body).send()
    };
    let reset = make_link(&app, &owner, LinkPurpose::PasswordReset).await;
    let invitation = make_link(&app, &owner, LinkPurpose::Invitation).await;
    let weak = json!({"token": reset.expose(), "newPassword": "short"});
    let refused = app.call("POST /api/session/passwordReset").json(&weak).send().await;
    assert_eq!(refused.expect_error(400, "invalid-body")["errors"][0]["pointer"], "/newPassword");
    let done = redeem(reset.expose(), "192.0.2.1").await.expect(200);
    assert_eq!(done, json!({"success": true, "signedIn": true}));
    sign_in(&app, &owner.email, NEW_PASSWORD).await.expect(200);
    who(&app, &cookie).await.expect_error(401, "unauthenticated");
    redeem(reset.expose(), "192.0.2.1").await.expect_error(401, "invalid-credentials");
    redeem(invitation.expose(), "192.0.2.1").await.expect_error(401, "invalid-credentials");

    let invitation = make_link(&app, &owner, LinkPurpose::Invitation).await;
    who(&app, &format!("perigee_session={}", invitation.expose())).await.expect_error(401, "unauthenticated");
    redeem(invitation.expose(), "192.0.2.2").await.expect(200);
    let session = sign_in(&app, &owner.email, NEW_PASSWORD).await;
    let cookie = session.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
    assert!(
        session::hash(&Secret::parse(&cookie).unwrap())
            != LinkPurpose::PasswordReset.hash(&Secret::parse(&cookie).unwrap())
    );
    redeem(&cookie, "192.0.2.2").await.expect_error(401, "invalid-credentials");

    let late = make_link(&app, &owner, LinkPurpose::PasswordReset).await;
    app.clock().advance_seconds(3_600);
    redeem(late.expose(), "192.0.2.3").await.expect_error(401, "invalid-credentials");
    for nonsense in ["x", "\u{e9}", &"x".repeat(200)] {
        redeem(nonsense, "192.0.2.4").await.expect_error(401, "invalid-credentials");
    }
}

async fn old_hashes_are_replaced(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let stronger = Passwords::new(PasswordCost { memory_kib: 16, passes: 1 }).unwrap();
    let old = stronger.hash(SecretString::from(PASSWORD)).await.unwrap();
    app.store.set_password(&Origin::command(), owner.id, NewPassword::new(old.clone()), None).await.unwrap();
    sign_in(&app, &owner.email, "wrong password").await.expect(401);
    sign_in(&app, &owner.email, PASSWORD).await.expect(200);
    app.settle().await;
    let kept = app.store.find_login_by_id(owner.id).await.unwrap().unwrap().password_hash.unwrap();
    assert!(kept != old && !app.app.access.passwords.needs_rehash(&kept));
    sign_in(&app, &owner.email, PASSWORD).await.expect(200);
}

async fn sign_ins_are_audited(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    sign_in(&app, &tenant.owner.email, PASSWORD).await.expect(200);
    sign_in(&app, &tenant.owner.email, "wrong password").await.expect(401);
    sign_in(&app, "nobody@acme.test", PASSWORD).await.expect(401);
    let entries = audits(&app, &tenant, "session.create").await;
    let outcomes: Vec<_> = entries.iter().map(|entry| (entry.outcome.name(), entry.target.clone())).collect();
    let target = Some(tenant.owner.id.to_string());
    assert_eq!(outcomes, [("denied", target.clone()), ("done", target)]);
    let user =
        app.store.find_user(Scope::for_operator(tenant.account.id), tenant.owner.id).await.unwrap().unwrap();
    assert_eq!(user.last_login, Some(app.app.clock.now()));
}

async fn bad_bodies_say_what_to_change(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let cookie = app.sign_in(&owner).await;
    for (line, body) in [
        ("POST /api/session", r"{}"),
        ("POST /api/session", r#"{"email": 1, "password": "x"}"#),
        ("POST /api/session", r#"{"email": "a", "password": ""}"#),
        ("POST /api/session", r#"{"email": "a", "password": "x", "totp": 123456}"#),
        ("POST /api/session", r#"{"email": "a", "password": "x", "remember": true}"#),
        ("POST /api/session/passwordReset", r#"{"token": "x"}"#),
        ("POST /api/session/passwordReset", r#"{"token": null, "newPassword": "long enough"}"#),
        ("PUT /api/session/password", r#"{"newPassword": "long enough"}"#),
        ("POST /api/session/totp", r"{}"),
        ("PUT /api/session/totp", r#"{"code": 123456}"#),
        ("DELETE /api/session/totp", r"{}"),
    ] {
        let answer = app.call(line).cookie(&cookie).body("application/json", body.to_owned()).send().await;
        let problem = answer.expect_error(400, "invalid-body");
        assert!(problem["errors"][0]["detail"].is_string(), "{problem}");
        let answer = app.call(line).cookie(&cookie).body("application/json", "{").send().await;
        answer.expect_error(400, "malformed-json");
        let answer = app.call(line).cookie(&cookie).body("text/plain", "{}").send().await;
        answer.expect_error(415, "unsupported-media-type");
    }
}

async fn signing_in_again_ends_the_session_before(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let (before, elsewhere) = (app.sign_in(&tenant.owner).await, app.sign_in(&tenant.owner).await);
    let body = json!({"email": tenant.owner.email, "password": "wrong password"});
    app.call("POST /api/session").cookie(&before).json(&body).send().await.expect(401);
    who(&app, &before).await.expect(200);
    let body = json!({"email": tenant.owner.email, "password": PASSWORD});
    app.call("POST /api/session").cookie(&before).json(&body).send().await.expect(200);
    who(&app, &before).await.expect(401);
    who(&app, &elsewhere).await.expect(200);
    assert_eq!(audits(&app, &tenant, "session.delete").await.len(), 1);
}

async fn a_proxys_word_binds_the_cookie_to_tls(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = app.tenant("acme", 10).await.owner;
    let body = json!({"email": owner.email, "password": PASSWORD});
    for (scheme, expect) in [(Scheme::Http, false), (Scheme::Https, true)] {
        let origin = PublicOrigin { scheme, host: Some("perigee.test".to_owned()) };
        let answer = app.call("POST /api/session").extension(origin).json(&body).send().await;
        assert_eq!(answer.header("set-cookie").ends_with("; Secure"), expect, "{scheme:?}");
    }
}
