//! Reads the header `Retry-After`.

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// The longest wait that a server can ask for, in seconds.
const WAIT_MAX_S: i64 = 24 * 60 * 60;

/// Seconds that `Retry-After` asks for, a day at most. It is a number, or an instant that is compared with the header
/// `Date` of the same server.
pub fn asked_rest_s(headers: &HeaderMap) -> Option<u32> {
    let text = |name| Some(headers.get(name)?.to_str().ok()?.trim());
    let instant = |text: &str| Some(jiff::fmt::rfc2822::parse(text).ok()?.timestamp().as_second());
    let asked = text(RETRY_AFTER)?;
    let wait = match asked.parse::<u32>() {
        Ok(seconds) => i64::from(seconds),
        Err(_no_number) => instant(asked)?.saturating_sub(instant(text(DATE)?)?),
    };
    u32::try_from(wait.clamp(0, WAIT_MAX_S)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(retry_after: &str, date: Option<&str>) -> Option<u32> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after.parse().unwrap());
        date.map(|date| headers.insert(DATE, date.parse().unwrap()));
        asked_rest_s(&headers)
    }

    #[test]
    fn the_wait_is_in_seconds_or_until_a_date() {
        let now = Some("Thu, 01 Jan 2026 00:00:00 GMT");
        assert_eq!(asked("120", None), Some(120));
        assert_eq!(asked(" 0 ", now), Some(0));
        assert_eq!(asked("Thu, 01 Jan 2026 00:01:00 GMT", now), Some(60));
        assert_eq!(asked("Wed, 01 Jan 2020 00:01:00 GMT", now), Some(0));
        assert_eq!(asked("4000000000", now), Some(86_400), "within reason");
        assert_eq!(asked("Thu, 01 Jan 2026 00:01:00 GMT", None), None);
        for nonsense in ["", "soon", "-5", "1.5", "99999999999"] {
            assert_eq!(asked(nonsense, now), None, "{nonsense}");
        }
        assert_eq!(asked_rest_s(&HeaderMap::new()), None);
    }
}
