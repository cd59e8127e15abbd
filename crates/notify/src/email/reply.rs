//! Replies of a mail server: a code and lines of text (RFC 5321, section 4.2).

use crate::plain::excerpt;

/// Bytes that one line of a reply may have. RFC 5321 allows 512, but servers that include links send more.
pub(super) const LINE_MAX: usize = 4_096;
/// Maximum number of lines of a reply.
pub(super) const LINES_MAX: usize = 128;
/// Characters of a reply that are shown to people.
const SHOWN: usize = 300;

/// A reply of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// The three-digit status code.
    pub(super) code: u16,
    /// The lines of text, without the code.
    pub(super) lines: Vec<String>,
}

/// The class of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// 2xx or 3xx: continue.
    Positive,
    /// 4xx: try again later.
    Transient,
    /// 5xx: refused for good.
    Permanent,
}

impl Reply {
    /// The class of this reply.
    pub(super) fn verdict(&self) -> Verdict {
        match self.code {
            200..400 => Verdict::Positive,
            400..500 => Verdict::Transient,
            _ => Verdict::Permanent,
        }
    }

    /// Whether it is about authentication or encryption and not about the message (RFC 4954, section 6).
    pub(super) fn is_about_access(&self) -> bool {
        matches!(self.code, 530 | 534 | 535 | 538)
    }

    /// Whether a reply to EHLO offers a capability.
    pub(super) fn offers(&self, keyword: &str) -> bool {
        self.words_of(keyword).is_some()
    }

    /// The parameters of a capability.
    pub(super) fn words_of(&self, keyword: &str) -> Option<impl Iterator<Item = &str>> {
        self.lines.iter().skip(1).find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            words.next().filter(|word| word.eq_ignore_ascii_case(keyword)).map(|_keyword| words)
        })
    }

    /// An excerpt for people.
    pub(super) fn shown(&self) -> String {
        excerpt(&format!("{} {}", self.code, self.lines.join(" ")), SHOWN)
    }
}

/// Parses one line: code, whether more lines follow, and text.
pub(super) fn parse_line(line: &[u8]) -> Option<(u16, bool, String)> {
    let digits = line.get(..3)?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let code = std::str::from_utf8(digits).ok()?.parse().ok().filter(|code| (200..600).contains(code))?;
    let more = match line.get(3) {
        Some(b'-') => true,
        Some(b' ') | None => false,
        Some(_) => return None,
    };
    Some((code, more, String::from_utf8_lossy(line.get(4..).unwrap_or_default()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines() {
        assert_eq!(parse_line(b"250-SIZE 10"), Some((250, true, "SIZE 10".to_owned())));
        assert_eq!(parse_line(b"250 ok"), Some((250, false, "ok".to_owned())));
        assert_eq!(parse_line(b"354"), Some((354, false, String::new())));
        for bad in [&b""[..], b"25", b"2x0 ok", b"250_ok", b"100 no", b"999 no"] {
            assert_eq!(parse_line(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn finds_capabilities() {
        let lines = ["mx.example", "AUTH=LOGIN", "auth PLAIN LOGIN", "StartTLS"].map(str::to_owned).to_vec();
        let reply = Reply { code: 250, lines };
        assert!(reply.offers("STARTTLS") && !reply.offers("mx.example") && !reply.offers("SMTPUTF8"));
        assert_eq!(reply.words_of("AUTH").unwrap().collect::<Vec<_>>(), ["PLAIN", "LOGIN"]);
    }
}
