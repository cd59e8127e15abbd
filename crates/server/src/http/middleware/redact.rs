//! Redaction: what logs and metrics may contain of a request. No secrets, and no label values that clients can
//! invent.

use std::borrow::Cow;

use http::Method;

/// The route of share links, whose path is a secret.
const SECRET_ROUTE: &str = "/api/shared/{secret}";
/// The route of unsubscribe links, whose path holds a signature and an e-mail address.
const MAIL_ROUTE: &str = "/mail/{token}";
/// The route of links that acknowledge alerts, whose path is a secret.
const ALERT_ROUTE: &str = "/a/{token}";
/// The route of gateways, whose path ends in a secret.
const GATEWAY_ROUTE: &str = "/gateways/{feed}/{secret}";
/// Whatever follows these segments may be a mistyped secret, also where no route matches.
const BEFORE_SECRET: [&str; 2] = ["shared", "gateways"];

/// The method as a metric label. Clients can invent methods, and each would be a new time series.
pub(super) fn method_label(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}

/// The path as it may be logged, without the secrets of share and unsubscribe links and of gateways.
pub(super) fn redacted_path(path: &str, route: Option<&str>) -> String {
    match route {
        Some(SECRET_ROUTE) => SECRET_ROUTE.to_owned(),
        Some(MAIL_ROUTE) => MAIL_ROUTE.to_owned(),
        Some(ALERT_ROUTE) => ALERT_ROUTE.to_owned(),
        Some(GATEWAY_ROUTE) => GATEWAY_ROUTE.to_owned(),
        Some(_) => path.to_owned(),
        None => without_secret(path),
    }
}

fn without_secret(path: &str) -> String {
    let mut shown = String::new();
    for (index, segment) in path.split('/').enumerate() {
        if index > 0 {
            shown.push('/');
        }
        let segment_text = decoded(segment);
        let mut parts = segment_text.split('/');
        let before = parts.find_map(|part| BEFORE_SECRET.iter().find(|name| part.eq_ignore_ascii_case(name)));
        if let Some(before) = before {
            return shown + before + "/(secret)";
        }
        shown.push_str(segment);
    }
    shown
}

fn decoded(segment: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(segment).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_methods_share_one_label() {
        assert_eq!(method_label(&Method::PATCH), "PATCH");
        for made_up in ["BREW", "get", "X1", "X2"] {
            assert_eq!(method_label(&made_up.parse().unwrap()), "other", "{made_up}");
        }
    }

    #[test]
    fn no_spelling_of_a_link_is_shown() {
        assert_eq!(redacted_path("/api/shared/S", Some(SECRET_ROUTE)), "/api/shared/{secret}");
        assert_eq!(redacted_path("/mail/S", Some(MAIL_ROUTE)), "/mail/{token}");
        let nowhere = [
            "/api/shared/S",
            "/API/SHARED/S",
            "//api/shared/S",
            "/api/share%64/S",
            "/api/%53hared/S/more",
            "/api%2Fshared%2FS",
            "/track/api/Shared/S",
            "/api/shared//S",
        ];
        for path in nowhere {
            let shown = redacted_path(path, None);
            assert!(shown.ends_with("shared/(secret)"), "{path} is shown as {shown}");
        }
    }

    #[test]
    fn other_paths_are_shown_whole() {
        assert_eq!(
            redacted_path("/api/devices/shared/x", Some("/api/devices/{deviceId}/x")),
            "/api/devices/shared/x"
        );
        assert_eq!(redacted_path("/api/nothing%20here", None), "/api/nothing%20here");
        assert_eq!(redacted_path("/", None), "/");
    }
}
