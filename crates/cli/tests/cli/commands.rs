//! The operator's commands: what they print, what they refuse, and that they work beside a running server.

use serde_json::json;

use crate::client::{send, token};
use crate::process::{Folder, Server, failure, json as json_of, perigee, refusal, run};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn accounts_are_made_listed_and_changed() {
    let folder = Folder::new();
    let data = folder.data();
    let made = json_of(
        &data,
        "account create --name Acme --licenses 3 --owner-email ana@acme.test --time-zone Europe/Madrid",
    );
    for (member, prefix) in [("accountId", "acc_"), ("userId", "usr_"), ("email", "ana@acme.test")] {
        assert!(made[member].as_str().unwrap().starts_with(prefix), "{made}");
    }
    assert_eq!(made["password"].as_str().unwrap().len(), 23);
    let taken = refusal(&data, "account create --name B --licenses 1 --owner-email ANA@acme.test");
    assert!(taken.contains("another user has the address"), "{taken}");

    let id = made["accountId"].as_str().unwrap();
    let set = json_of(&data, &format!("account set --account {id} --licenses 7"));
    assert_eq!(set["licenses"], json!({"total": 7, "used": 0, "free": 7}));
    let reset = json_of(&data, &format!("account set --account {id} --reset-clock"));
    let licenses = json!({"total": 7, "used": 0, "free": 7});
    assert_eq!(reset, json!({"accountId": id, "licenses": licenses, "retentionDays": null}));
    let kept = json_of(&data, &format!("account set --account {id} --retention-days 30"));
    assert_eq!(kept, json!({"accountId": id, "licenses": licenses, "retentionDays": 30}));
    let listed = json_of(&data, "account list");
    assert_eq!(
        (&listed["accounts"][0]["name"], &listed["accounts"][0]["users"]),
        (&json!("Acme"), &json!(1))
    );
    assert_eq!(listed["accounts"][0]["timeZone"], "Europe/Madrid");
    assert_eq!(listed["accounts"][0]["retentionDays"], 30);
    let table = text(&run(&data, "account list").stdout);
    assert!(table.starts_with("ACCOUNT") && table.contains("0 of 7"), "{table}");
    assert!(table.contains("for 30 days"), "{table}");
    let forever = json_of(&data, &format!("account set --account {id} --retention-days forever"));
    assert_eq!(forever["retentionDays"], json!(null));
    let wrong = text(&run(&data, &format!("account set --account {id} --retention-days 0")).stderr);
    assert!(wrong.contains("must be a number of days from 1 to 36500, or forever"), "{wrong}");
    let missing = refusal(&data, "account set --account acc_0123456789abc --licenses 7");
    assert!(missing.contains("perigee account list"), "{missing}");
}

#[test]
fn keys_work_and_end_while_the_server_runs() {
    let folder = Folder::new();
    let data = folder.data();
    let server = Server::start(&data);
    let account = json_of(&data, "account create --name Acme --licenses 2 --owner-email ana@acme.test");
    let issued = json_of(&data, "key issue --email ana@acme.test");
    let bearer = token(&server.url, "ana@acme.test", &issued["apiKey"]);
    let call = |line: &str| send(&server.url, line, Some(&bearer), None);
    call("GET /api/devices").expect(200);

    let device = json!({"name": "Star"});
    send(&server.url, "POST /api/devices", Some(&bearer), Some(&device)).expect(201);
    let id = account["accountId"].as_str().unwrap();
    let below = refusal(&data, &format!("account set --account {id} --licenses 0"));
    assert!(below.contains("1 licences are in use"), "{below}");

    let revoked = json_of(&data, "key revoke --email ana@acme.test");
    assert_eq!(revoked["revoked"], true);
    let since = std::time::Instant::now();
    while call("GET /api/devices").status != 401 {
        assert!(since.elapsed().as_secs() < 5, "the token outlived its key by five seconds");
    }
    assert_eq!(json_of(&data, "key revoke --email ana@acme.test")["revoked"], false);
    server.stop();
}

#[test]
fn a_signing_key_is_rotated_while_the_server_runs() {
    let folder = Folder::new();
    let data = folder.data();
    let server = Server::start(&data);
    json_of(&data, "account create --name Acme --licenses 2 --owner-email ana@acme.test");
    let issued = json_of(&data, "key issue --email ana@acme.test");
    let published = || {
        let keys = send(&server.url, "GET /.well-known/jwks.json", None, None).expect(200)["keys"].clone();
        keys.as_array().unwrap().iter().map(|key| key["kid"].clone()).collect::<Vec<_>>()
    };
    let wait_for = |kid: &serde_json::Value| {
        let since = std::time::Instant::now();
        while published()[0] != *kid {
            assert!(since.elapsed().as_secs() < 5, "the new key signs within five seconds");
        }
    };
    let status = |bearer: &str| send(&server.url, "GET /api/devices", Some(bearer), None).status;
    let old = token(&server.url, "ana@acme.test", &issued["apiKey"]);
    let first = published();
    let rotated = json_of(&data, "key rotate-signing");
    wait_for(&rotated["keyId"]);
    assert_eq!(published(), [rotated["keyId"].clone(), first[0].clone()]);
    let new = token(&server.url, "ana@acme.test", &issued["apiKey"]);
    assert_eq!((status(&old), status(&new)), (200, 200));

    let dropped = json_of(&data, "key rotate-signing --at-once");
    wait_for(&dropped["keyId"]);
    assert_eq!(published(), [dropped["keyId"].clone()]);
    assert_eq!((status(&old), status(&new)), (401, 401));

    let push = json_of(&data, "key rotate-push");
    assert_ne!(push["keyId"], dropped["keyId"]);
    assert_eq!(published(), [dropped["keyId"].clone()], "tokens are signed with another key");
    server.stop();
}

#[test]
fn links_let_in_once() {
    let folder = Folder::new();
    let data = folder.data();
    let server = Server::start(&data);
    for command in ["reset-password", "invite"] {
        let made = json_of(
            &data,
            &format!("user {command} --email owner@localhost --base-url https://example.com/track"),
        );
        let link = made["link"].as_str().unwrap();
        let secret = link.strip_prefix("https://example.com/track/password#token=").unwrap();
        let body = json!({"token": secret, "newPassword": "nine lives of a harbour cat"});
        let redeem = || send(&server.url, "POST /api/session/passwordReset", None, Some(&body));
        redeem().expect(200);
        redeem().expect(401);
    }
    let words = text(&run(&data, "user reset-password --email owner@localhost").stdout);
    assert!(words.contains("http://127.0.0.1:8080/password#token="), "{words}");
    assert_eq!(json_of(&data, "user set --email owner@localhost --operator")["operator"], true);
    assert_eq!(json_of(&data, "user set --email owner@localhost --operator=false")["operator"], false);
    let off = json_of(&data, "user set --email owner@localhost --totp=false");
    assert_eq!((&off["totp"], &off["operator"]), (&json!(false), &json!(false)));
    let unknown = refusal(&data, "key issue --email nobody@localhost");
    assert!(unknown.contains("nobody@localhost"), "{unknown}");
    server.stop();
}

#[test]
fn a_mistyped_folder_gets_no_store() {
    let folder = Folder::new();
    let data = folder.data();
    for line in ["account list", "key issue --email a@b", "user invite --email a@b"] {
        let refused = refusal(&data, line);
        assert!(refused.contains("there is no database at"), "{refused}");
    }
    assert!(!data.exists());
}

#[test]
fn migrating_is_announced_and_done() {
    let folder = Folder::new();
    let data = folder.data();
    let pending = run(&data, "migrate --check --json");
    assert_eq!(pending.status.code(), Some(1));
    assert!(text(&pending.stdout).starts_with("{\"pending\":[{\"version\":1,"), "{pending:?}");
    assert!(!data.exists(), "a look makes nothing");
    assert!(json_of(&data, "migrate")["applied"].as_array().is_some_and(|applied| !applied.is_empty()));
    assert_eq!(json_of(&data, "migrate --check"), json!({"pending": []}));
    assert_eq!(text(&run(&data, "migrate").stdout), "the database is up to date\n");
    let refused = refusal(&data, "migrate --distribute");
    assert!(refused.contains("PostgreSQL database with Citus"), "{refused}");
}

#[test]
fn settings_are_shown_without_secrets() {
    let folder = Folder::new();
    let data = folder.data();
    let mut command = perigee(&data);
    command.env("PERIGEE_METRICS__SECRET", "sesame sesame sesame");
    command.env("PERIGEE_STORE__DATABASE", "postgres://ana:sesame@localhost/x");
    command.env("PERIGEE_STORE__REPLICA_URL", "postgres://ana:sesame@localhost/x");
    let shown = command.args(["config", "check"]).output().unwrap();
    let shown = text(&shown.stdout);
    assert!(shown.contains("[server]") && shown.contains("(set)") && !shown.contains("sesame"), "{shown}");
    assert_eq!(json_of(&data, "config check")["server"]["listen"], "127.0.0.1:8080");

    let file = data.with_extension("toml");
    std::fs::write(&file, "[server]\nlisen = \"127.0.0.1:1\"\n").unwrap();
    let refused = refusal(&data, &format!("serve --config {}", file.display()));
    assert!(refused.contains("server.lisen") && refused.contains("data.toml"), "{refused}");
    let variable =
        perigee(&data).env("PERIGEE_SEVER__LISTEN", "x").args(["config", "check"]).output().unwrap();
    assert!(failure(&variable, 1).contains("PERIGEE_SEVER__LISTEN"));
    assert!(!data.exists());
}

#[test]
fn usage_errors_end_with_two() {
    let folder = Folder::new();
    for line in [
        "serv",
        "account create --name A",
        "account set --account acc_0123456789abc",
        "user set --email a@b",
        "user set --email a@b --totp=true",
        "key issue --email nonsense",
        "serve --listen x",
    ] {
        assert_eq!(run(&folder.data(), line).status.code(), Some(2), "{line}");
    }
}

#[test]
fn the_document_and_completions_are_printed() {
    let folder = Folder::new();
    let document = json_of(&folder.data(), "openapi --base-url https://example.com/track");
    assert_eq!(
        (&document["openapi"], &document["servers"][0]["url"]),
        (&json!("3.1.0"), &json!("https://example.com/track"))
    );
    assert!(document["paths"]["/api/Auth/Token"]["post"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            text(&run(&folder.data(), &format!("completions {shell}")).stdout).contains("reset-password")
        );
    }
}
