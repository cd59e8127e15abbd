//! Tests with a valid body, and with bodies that have every kind of problem.

use perigee_core::accounts::country::Country;
use perigee_core::day::Date;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::zone::Zone;
use serde_json::json;

use super::*;

const TAGS: MapLimits = MapLimits { entries: 3, key_chars: 5, value_chars: 8 };

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Gnss,
    Network,
}

fn problems<T: std::fmt::Debug>(
    body: &Value,
    read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
) -> Vec<(String, String)> {
    let mut fields = Fields::of(body).unwrap();
    let made = read(&mut fields);
    let problems = fields.finish(|| made).unwrap_err();
    problems.into_iter().map(|problem| (problem.pointer.to_string(), problem.detail)).collect()
}

fn check<T: std::fmt::Debug>(
    body: &Value,
    read: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    expect: &[(&str, &str)],
) {
    let found = problems(body, read);
    let found: Vec<_> = found.iter().map(|(pointer, detail)| (pointer.as_str(), detail.as_str())).collect();
    assert_eq!(found, expect, "{body}");
}

#[test]
fn reads_a_good_body() {
    let device = DeviceId::from_i64(7);
    let body = json!({
        "id": "ignored", "name": "Ana", "about": "two\nlines", "at": "2026-05-01T12:00:00+02:00", "on": "2026-05-01",
        "timeZone": "europe/madrid", "country": "Spain", "devices": [device], "tags": {"a": "b"}, "source": "network",
        "limits": {"daily": 5, "share": null}, "rules": [{"speed": 1.5}, {"speed": 2}], "extra": 1
    });
    let mut fields = Fields::of(&body).unwrap();
    fields.ignore(&["id", "success"]);
    assert_eq!(fields.text("name").chars(1..=3).required().as_deref(), Some("Ana"));
    assert_eq!(fields.multiline_text("about").optional().as_deref(), Some("two\nlines"));
    assert_eq!(fields.instant("at").required().map(|at| at.to_string()), Some("2026-05-01T10:00:00Z".into()));
    assert_eq!(fields.get::<Date>("on").required(), Date::new(2026, 5, 1));
    assert_eq!(
        fields.get::<Zone>("timeZone").required().map(|zone| zone.to_string()),
        Some("Europe/Madrid".into())
    );
    assert_eq!(fields.get::<Country>("country").required().map(Country::code), Some("ES"));
    assert_eq!(fields.array("devices", 0..=9).unique().required(), Some(vec![device]));
    assert_eq!(fields.string_map("tags", TAGS).required().map(|tags| tags["a"].clone()), Some("b".into()));
    let words = [("gnss", Source::Gnss), ("network", Source::Network)];
    assert_eq!(fields.text("source").one_of(&words).or(Source::Gnss), Source::Network);
    let limits = fields.object("limits", |limits| {
        Some((limits.integer("daily", 0..=9).required()?, limits.number("share").nullable()))
    });
    assert_eq!(limits.required(), Some((5, None)));
    let rules = fields.objects("rules", 0..=2, |rule| rule.number("speed").required());
    assert_eq!(rules.required(), Some(vec![1.5, 2.0]));
    assert_eq!(fields.boolean("absent").optional(), None);
    assert!(fields.boolean("absent").or(true));
    assert_eq!(fields.take_unknown(), [("extra", &json!(1))]);
    assert_eq!(fields.finish(|| Some(())), Ok(()));
}

#[test]
fn reports_every_problem_with_its_pointer() {
    let body = json!({
        "name": "", "count": 5.5, "many": 11, "course": 360.5, "on": null, "zone": "Mars/Base", "nmae": 1, "a/b": 2,
        "limits": {"dailySmsLimit": -1, "dialyEmailLimit": 3}
    });
    check(
        &body,
        |fields| {
            let _ = fields.text("name").chars(1..=200).required();
            let _ = fields.integer("count", 0..=9_u8).optional();
            let _ = fields.integer("many", 0..=10_i64).nullable();
            let _ = fields.number("course").range(0.0..=360.0).optional();
            let _ = fields.boolean("on").or(false);
            let _ = fields.get::<Zone>("zone").required();
            let _ = fields.text("missing").required();
            let limits = fields.object("limits", |limits| {
                let _ = limits.integer("dailySmsLimit", 0..=1_000_000_u32).nullable();
                let _ = limits.integer("dailyEmailLimit", 0..=1_000_000_u32).nullable();
                Some(())
            });
            limits.required()
        },
        &[
            ("/name", "\"name\" must not be empty."),
            ("/count", "\"count\" must be a whole number, not 5.5."),
            ("/many", "\"many\" must be a whole number between 0 and 10, not 11."),
            ("/course", "\"course\" must be between 0 and 360, not 360.5."),
            ("/on", "\"on\" must not be null; leave it out instead."),
            (
                "/zone",
                "\"zone\" must be an IANA time zone such as \"Europe/Madrid\"; /api/users/timeZones lists them.",
            ),
            ("/missing", "\"missing\" is required."),
            (
                "/limits/dailySmsLimit",
                "\"dailySmsLimit\" must be a whole number between 0 and 1000000, not -1.",
            ),
            (
                "/limits/dialyEmailLimit",
                "Unknown member \"dialyEmailLimit\"; did you mean \"dailyEmailLimit\"?",
            ),
            ("/nmae", "Unknown member \"nmae\". Leave it out."),
            ("/a~1b", "Unknown member \"a/b\". Leave it out."),
        ],
    );
    check(
        &json!({"nmae": 1}),
        |fields| fields.text("name").required(),
        &[("/name", "\"name\" is required."), ("/nmae", "Unknown member \"nmae\"; did you mean \"name\"?")],
    );
}

#[test]
fn reports_items_of_arrays() {
    let group = GroupId::from_i64(1);
    let body = json!({"groups": [group, "x", group, 5], "names": ["ok", "too long"], "few": [], "not": {}});
    check(
        &body,
        |fields| {
            let _ = fields.array::<GroupId>("groups", 0..=10).unique().required();
            let _ =
                fields.array::<String>("names", 0..=10).each(|name| check_chars(name, &(1..=5))).required();
            let _ = fields.array::<bool>("few", 1..=3).required();
            fields.array::<bool>("not", 0..=1).required()
        },
        &[
            ("/groups/1", "Item 1 of \"groups\" must be the ID of a group, \"grp_...\", not \"x\"."),
            ("/groups/3", "Item 3 of \"groups\" must be a string, not a number."),
            ("/names/1", "Item 1 of \"names\" must have at most 5 characters; it has 8."),
            ("/few", "\"few\" must have 1 to 3 items; it has 0."),
            ("/not", "\"not\" must be an array, not an object."),
        ],
    );
    check(
        &json!({"groups": [group, group]}),
        |fields| fields.array::<GroupId>("groups", 0..=2).unique().required(),
        &[("/groups/1", "Item 1 of \"groups\" repeats an earlier item.")],
    );
    check(
        &json!({"rules": [{"speed": 1}, {"sped": 2}, 3]}),
        |fields| fields.objects("rules", 0..=5, |rule| rule.number("speed").required()).required(),
        &[
            ("/rules/1/speed", "\"speed\" is required."),
            ("/rules/1/sped", "Unknown member \"sped\"; did you mean \"speed\"?"),
            ("/rules/2", "Item 2 of \"rules\" must be an object, not a number."),
        ],
    );
}

#[test]
fn reports_entries_of_maps_and_words() {
    check(
        &json!({"tags": {"": "a", "toolong": "b", "k": 5, }, "source": "gnns"}),
        |fields| {
            let _ = fields
                .text("source")
                .one_of(&[("gnss", Source::Gnss), ("network", Source::Network)])
                .required();
            fields.string_map("tags", TAGS).required()
        },
        &[
            (
                "/source",
                "\"source\" must be one of \"gnss\", \"network\", not \"gnns\"; did you mean \"gnss\"?",
            ),
            ("/tags/", "The name \"\" must not be empty."),
            ("/tags/toolong", "The name \"toolong\" must have at most 5 characters; it has 7."),
            ("/tags/k", "\"k\" must be a string, not a number."),
        ],
    );
    check(
        &json!({"tags": {"a": "", "b": "", "c": "", "d": ""}}),
        |fields| fields.string_map("tags", TAGS).optional(),
        &[("/tags", "\"tags\" must have at most 3 members.")],
    );
}

#[test]
fn rules_between_members_and_bodies_that_are_no_objects() {
    check(
        &json!({"expires": true}),
        |fields| {
            let expires = fields.boolean("expires").or(false);
            let date = fields.get::<Date>("expirationDate").nullable();
            if expires && date.is_none() {
                fields.refuse("expirationDate", "is required when \"expires\" is true");
            }
            Some(())
        },
        &[("/expirationDate", "\"expirationDate\" is required when \"expires\" is true.")],
    );
    let problems = Fields::of(&json!([])).unwrap_err();
    assert_eq!(problems[0].detail, "The body must be a JSON object, not an array.");
    let incomplete = Fields::of(&json!({})).unwrap().finish(|| None::<()>).unwrap_err();
    assert_eq!(incomplete[0].detail, "A required member is missing.");
}

#[test]
fn problems_are_bounded() {
    let body: Value = (0..10_000).map(|number| (format!("m{number}"), json!(1))).collect();
    assert_eq!(problems(&body, |_| Some(())).len(), MOST_PROBLEMS);
}
