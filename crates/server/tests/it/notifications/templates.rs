//! Templates: the account's own over the built-in ones, mistakes reported with their line, previews that keep nothing.

use serde_json::json;

use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(an_own_template_comes_and_goes, bad_templates_say_what_is_wrong, previews_keep_nothing);

const PATH: &str = "/api/templates/alert-sms";

async fn an_own_template_comes_and_goes(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let other = app.tenant("other", 10).await;
    let all = app.get(&tenant.owner, "/api/templates").await;
    assert_eq!(all["templates"].as_array().unwrap().len(), 13);
    assert!(all["templates"].as_array().unwrap().iter().all(|template| template["builtIn"] == json!(true)));
    let built_in = app.get(&tenant.owner, PATH).await;

    let put = app.send(&tenant.owner, &format!("PUT {PATH}"), &json!({"source": "{{ device.name }}!"})).await;
    assert_eq!((put.expect(200)["builtIn"].clone(), put.header("etag")), (json!(false), "\"r1\""));
    // The answer of GET can be sent back as it is.
    app.send(&tenant.owner, &format!("PUT {PATH}"), &put.json()).await.expect(200);
    let stale = app.call(&format!("PUT {PATH}")).by(&tenant.owner).header("if-match", "\"r0\"");
    stale.json(&json!({"source": "x"})).send().await.expect_error(412, "precondition-failed");
    assert_eq!(app.get(&tenant.owner, PATH).await["source"], "{{ device.name }}!");
    assert_eq!(app.get(&other.owner, PATH).await["source"], built_in["source"]);

    app.call(&format!("DELETE {PATH}")).by(&tenant.owner).send().await.expect(200);
    assert_eq!(app.get(&tenant.owner, PATH).await["source"], built_in["source"]);
    app.call("GET /api/templates/love-letter").by(&tenant.owner).send().await.expect_error(404, "not-found");
    let audit = app.get(&tenant.owner, "/api/audit").await;
    let actions: Vec<&str> =
        audit["audit"].as_array().unwrap().iter().filter_map(|entry| entry["action"].as_str()).collect();
    assert!(actions.contains(&"template.update") && actions.contains(&"template.delete"), "{actions:?}");
}

async fn bad_templates_say_what_is_wrong(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    // Few instructions, each of which reads a long text.
    let costly = format!(
        "{{% for a in base_url %}}{{% for b in base_url %}}{{% if a in '{}' %}}{{% endif %}}{{% endfor %}}{{% endfor %}}",
        "Lorem ipsum dolor ".repeat(900)
    );
    let cases = [
        ("a\n{{ device.nam }}", "line 2: device.nam is not defined"),
        ("{% if alert.critical %}", "line 1"),
        ("{{ 'x' * 999999999 }}", "cannot be used here"),
        (
            "{% for a in label.why %}{% for b in label.why %}{{ label.why }}{% endfor %}{% endfor %}",
            "longer than",
        ),
        (&costly, "rendering reads and writes more than"),
    ];
    for (source, expect) in cases {
        for (line, body) in [
            (format!("PUT {PATH}"), json!({ "source": source })),
            ("POST /api/templates/preview".to_owned(), json!({ "kind": "alert-sms", "source": source })),
        ] {
            let refused = app.send(&tenant.owner, &line, &body).await.expect_error(400, "invalid-body");
            assert_eq!(refused["errors"][0]["pointer"], "/source");
            assert!(refused["errors"][0]["detail"].as_str().unwrap().contains(expect), "{refused}");
        }
    }
    for body in
        [json!({}), json!({"source": ""}), json!({"source": "x".repeat(20_001)}), json!({"sauce": "x"})]
    {
        app.send(&tenant.owner, &format!("PUT {PATH}"), &body).await.expect_error(400, "invalid-body");
    }
    assert_eq!(app.get(&tenant.owner, PATH).await["builtIn"], true);
}

async fn previews_keep_nothing(engine: Engine) {
    let app = TestApp::new(engine).await;
    let tenant = app.tenant("acme", 10).await;
    let preview = async |body| app.send(&tenant.owner, "POST /api/templates/preview", &body).await;
    let own = json!({"kind": "alert-sms", "source": "{{ alert.time|short_time }} {{ position.speed|speed }}",
        "language": "es", "units": "nautical", "timeZone": "Europe/Madrid"});
    let shown = preview(own).await.expect(200);
    assert_eq!((&shown["text"], &shown["segments"]), (&json!("1 may 14:00 12 kn"), &json!(1)));
    let html = preview(json!({"kind": "alert-email-html"})).await.expect(200);
    assert!(html["text"].as_str().unwrap().contains("Sea Otter &lt;7&gt;"), "{html}");
    assert_eq!(html["segments"], json!(null));
    assert_eq!(app.get(&tenant.owner, PATH).await["builtIn"], true);
    preview(json!({"kind": "alert-fax"})).await.expect_error(400, "invalid-body");
}
