//! Reading and validating one alert of a request.

use perigee_core::alerts::alert::Alert;
use perigee_core::zone::Zone;
use serde_json::Value;

use super::view::ADDED;
use crate::http::json::{Fields, Pointer, Problem};
use crate::http::routes::locations::{latitude, longitude};
use crate::http::submission::{ItemError, attribute_bytes, check_texts, read_attributes};

/// Reads one alert of a request, at this pointer of the body. A time without an offset is in the zone.
pub(super) fn read_alert(item: &Value, pointer: Pointer, zone: &Zone) -> Result<Alert, ItemError> {
    let Value::Object(members) = item else {
        let detail = "An alert must be a JSON object with \"dateTime\" and \"alertName\".".to_owned();
        return Err(ItemError { code: "invalid-alert", problems: vec![Problem { pointer, detail }] });
    };
    let mut fields = Fields::of_object(members, pointer).in_zone(zone);
    fields.ignore(ADDED);
    let time = fields.instant("dateTime").required();
    let name = fields.text("alertName").chars(1..=Alert::NAME_MAX).required();
    let text = fields.multiline_text("text").chars(0..=Alert::TEXT_MAX).nullable();
    let latitude = fields.number("latitude").convert(latitude).nullable();
    let longitude = fields.number("longitude").convert(longitude).nullable();
    require_both(&mut fields);
    let critical = fields.boolean("critical").nullable().unwrap_or(false);
    let (attributes, has_unknown) = read_attributes(&mut fields);
    check_texts(&mut fields, attribute_bytes(&attributes));
    let alert = fields.finish(|| {
        let name = name?;
        let critical = critical || Alert::is_critical_by_name(&name);
        // The position in an answer may be that of the device; sent back, it must not become that of the alert.
        let is_marked = |name: &str| members.get(name) == Some(&Value::Bool(true));
        let is_own = !is_marked("placeIsLastKnown") && !is_marked("placeIsFromLaterFix");
        let position = latitude.zip(longitude).filter(|_| is_own);
        Some(Alert { time: time?, name, text, position, critical, attributes })
    });
    alert.map_err(|problems| {
        let only_unknown = has_unknown && problems.len() == 1;
        ItemError { code: if only_unknown { "unknown-member" } else { "invalid-alert" }, problems }
    })
}

/// Requires that latitude and longitude are given together.
fn require_both(fields: &mut Fields<'_>) {
    let given = ["latitude", "longitude"].map(|name| fields.raw(name).nullable().is_some());
    match given {
        [true, false] => fields.refuse("longitude", "is required if \"latitude\" is given"),
        [false, true] => fields.refuse("latitude", "is required if \"longitude\" is given"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::locations::location::Attribute;
    use serde_json::json;

    use super::*;

    fn with(members: &Value) -> Value {
        let mut item = json!({"dateTime": "2026-05-01T12:00:00Z", "alertName": "SpeedLimit"});
        for (name, value) in members.as_object().unwrap() {
            item[name] = value.clone();
        }
        item
    }

    fn read(members: &Value) -> Alert {
        let item = with(members);
        read_alert(&item, Pointer::root(), &Zone::utc()).unwrap_or_else(|error| panic!("{item}: {error:?}"))
    }

    #[test]
    fn reads_valid_alerts() {
        assert_eq!(read(&json!({})).position, None);
        assert_eq!(read(&json!({"latitude": null, "longitude": null})).position, None);
        assert!(read(&json!({"latitude": 1, "longitude": 180})).position.is_some());
        assert!(!read(&json!({})).critical);
        assert!(read(&json!({"critical": true})).critical);
        assert!(read(&json!({"alertName": "SOSButton", "critical": false})).critical);
        assert_eq!(read(&json!({"text": "two\nlines"})).text.as_deref(), Some("two\nlines"));
        assert_eq!(read(&json!({"zone": 5})).attributes.get("zone"), Some(&Attribute::Integer(5)));
        let answered = read(&json!({
            "id": "alr_x", "alerts": ["SpeedLimit"], "notifications": [], "acknowledgedAt": null,
            "acknowledgedBy": null, "endedAt": null, "latitude": 1, "longitude": 2, "placeIsLastKnown": true, "deviceId": "dev_x", "severity": "warning", "receivedAt": "2026-05-01T12:00:03Z"
        }));
        assert_eq!(answered, read(&json!({})), "what was answered may be sent again");
    }

    #[test]
    fn refuses_with_a_pointer() {
        let check = |members: &Value, code: &str, member: &str, rest: &str| {
            let error =
                read_alert(&with(members), Pointer::root().member("alert"), &Zone::utc()).unwrap_err();
            let found: Vec<_> =
                error.problems.iter().map(|p| (p.pointer.as_str(), p.detail.as_str())).collect();
            let (pointer, detail) = (format!("/alert/{member}"), format!("\"{member}\" {rest}"));
            assert_eq!((error.code, found), (code, vec![(pointer.as_str(), detail.as_str())]));
        };
        let bad = |members: &Value, member: &str, rest: &str| check(members, "invalid-alert", member, rest);
        bad(&json!({"alertName": ""}), "alertName", "must not be empty.");
        bad(&json!({"alertName": "  "}), "alertName", "must not be empty.");
        bad(&json!({"alertName": null}), "alertName", "is required and must not be null.");
        bad(
            &json!({"alertName": "x".repeat(101)}),
            "alertName",
            "must have at most 100 characters; it has 101.",
        );
        bad(&json!({"alertName": ["SOSButton"]}), "alertName", "must be a string, not an array.");
        bad(&json!({"text": "x".repeat(1_001)}), "text", "must have at most 1000 characters; it has 1001.");
        bad(&json!({"latitude": 1}), "longitude", "is required if \"latitude\" is given.");
        bad(&json!({"longitude": 1}), "latitude", "is required if \"longitude\" is given.");
        bad(&json!({"latitude": 91, "longitude": 1}), "latitude", "must be between -90 and 90, not 91.");
        bad(&json!({"critical": "yes"}), "critical", "must be true or false, not a string.");
        check(
            &json!({"extra": [1]}),
            "unknown-member",
            "extra",
            "is not a known member. As an attribute, it must be a string, a number or a boolean.",
        );
    }
}
