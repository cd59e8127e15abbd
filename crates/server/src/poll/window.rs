//! A cursor that moves through time by windows: everything before `from` is stored.

use perigee_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::provider::Context;

/// The longest window, in seconds: a day, whose answer is usually short enough for the provider and for this service.
const SPAN_MAX_S: i64 = 86_400;
/// The shortest window, in seconds. Windows with an answer that is too long are halved down to this.
const SPAN_MIN_S: i64 = 900;
/// A request begins before `from` by the length of the window divided by this number, because devices send some
/// messages hours late. For a window of a day that is six hours.
const OVERLAP_PART: i64 = 4;
/// How far back a new gateway begins, in seconds: seven days.
const BEGIN_S: i64 = 7 * 86_400;

/// The cursor of a poller that requests one time window after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Window {
    /// Everything before this instant is stored, in Unix milliseconds.
    from: i64,
    /// Length of the next window in seconds.
    span: i64,
    /// The end of the window, if it is divided into parts and some of them are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<i64>,
    /// The part that is next, such as the number of a device.
    #[serde(default)]
    pub(super) part: usize,
}

/// The time range of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The first instant of the answer.
    pub(super) from: Timestamp,
    /// The last instant of the answer.
    pub(super) to: Timestamp,
}

impl Window {
    /// Parses the cursor of a poll. An empty or invalid cursor starts from the beginning. A cursor in the future was
    /// written by a clock that was ahead, and would skip messages: it is moved back. Duplicates are recognised.
    pub(super) fn read(context: &Context<'_>) -> Self {
        Self::parse(context.cursor(), context.gateway.creation, context.now)
    }

    fn parse(cursor: &str, creation: Timestamp, now: Timestamp) -> Self {
        let begin = |at: Timestamp| {
            let from = at.min(now).plus_seconds(-BEGIN_S).as_millis();
            Self { from, span: SPAN_MAX_S, to: None, part: 0 }
        };
        let Ok(known) = serde_json::from_str::<Self>(cursor) else { return begin(creation) };
        let is_ahead = known.from.max(known.to.unwrap_or(known.from)) > now.as_millis();
        if is_ahead { begin(now) } else { known }
    }

    pub(super) fn cursor(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The time range of the next request.
    pub(super) fn span(&self, now: Timestamp) -> Span {
        let from = Timestamp::from_millis(self.from);
        let to = self.to.map_or_else(|| from.plus_seconds(self.span).min(now), Timestamp::from_millis);
        Span { from: from.plus_seconds(-self.span / OVERLAP_PART), to: to.max(from) }
    }

    /// Where to continue after a window of which all parts are stored.
    pub(super) fn after(&self, span: Span) -> Self {
        let longer = (self.span * 5 / 4).clamp(SPAN_MIN_S, SPAN_MAX_S);
        Self { from: span.to.as_millis(), span: longer, to: None, part: 0 }
    }

    /// Where to continue after one of several parts.
    pub(super) fn after_part(&self, span: Span) -> Self {
        Self { to: Some(span.to.as_millis()), part: self.part + 1, ..self.clone() }
    }

    /// The same with a shorter window, after an answer that was too long.
    pub(super) fn shorter(&self) -> Self {
        Self { span: (self.span / 2).max(SPAN_MIN_S), to: None, part: 0, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_leave_no_gap() {
        let created: Timestamp = "2026-01-10T00:00:00Z".parse().unwrap();
        let now = created.plus_seconds(3_600);
        let mut window = Window::parse("", created, now);
        let mut done = created.plus_seconds(-BEGIN_S);
        for _ in 0..8 {
            let span = window.span(now);
            assert!(span.from < done && span.to >= done, "{span:?}");
            done = span.to;
            window = Window::parse(&window.after(span).cursor(), created, now);
        }
        assert_eq!(done, now);
        let part = Window::parse(&window.after_part(window.span(now)).cursor(), created, now);
        assert_eq!(part.span(now.plus_seconds(60)).to, now, "all parts have the same end");
        assert_eq!(window.shorter().span, SPAN_MAX_S / 2);
    }

    #[test]
    fn a_cursor_of_a_clock_ahead_goes_back() {
        let created: Timestamp = "2026-01-10T00:00:00Z".parse().unwrap();
        let now = created.plus_seconds(30 * 86_400);
        let ahead = now.plus_seconds(86_400);
        let window = Window { from: ahead.as_millis(), span: 900, to: None, part: 0 };
        let in_parts = Window { from: now.as_millis(), to: Some(ahead.as_millis()), ..window.clone() };
        for cursor in [window.cursor(), in_parts.cursor()] {
            let span = Window::parse(&cursor, created, now).span(now);
            assert!(span.from <= now.plus_seconds(-BEGIN_S) && span.to <= now, "{span:?}");
            assert_eq!(Window::parse(&cursor, created, ahead).cursor(), cursor, "the clock was right");
        }
        let span = Window::parse("", ahead, now).span(now);
        assert!(span.to <= now, "a gateway made by a clock ahead");
    }
}
