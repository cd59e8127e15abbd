//! The length of texts by the count of a network, and the numbered parts of a text that is too long for one message.

/// Maximum number of parts of a text.
pub const PARTS_MAX: usize = 9;
/// Number of characters, and of bytes, of the number before each part: "(1/3) ".
const NUMBER_LENGTH: usize = 6;

/// The longest text of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLimit {
    /// A number of characters.
    Characters(usize),
    /// A number of bytes in UTF-8.
    Bytes(usize),
}

impl TextLimit {
    /// The limit, in its unit.
    pub const fn most(self) -> usize {
        match self {
            Self::Characters(most) | Self::Bytes(most) => most,
        }
    }

    /// The length of a text, in the unit of the limit.
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Characters(_) => text.chars().count(),
            Self::Bytes(_) => text.len(),
        }
    }

    /// Why a text cannot be sent as one message, as a phrase. Checked before anything is queued.
    pub fn refuses(self, text: &str) -> Option<String> {
        let (length, most) = (self.length(text), self.most());
        let unit = match self {
            Self::Characters(_) => "characters",
            Self::Bytes(_) => "bytes in UTF-8",
        };
        (length > most).then(|| format!("has {length} {unit}; the network carries at most {most}"))
    }

    /// The text in as many messages as it needs: itself if it fits, or else parts with their number before them, such as
    /// "(1/3) ". Parts end at blanks where that does not need more of them, and never inside of a character that people
    /// see as one. `None` if it needs more than [`PARTS_MAX`] parts.
    pub fn split(self, text: &str) -> Option<Vec<String>> {
        if self.refuses(text).is_none() {
            return Some(vec![text.to_owned()]);
        }
        let room = self.most().checked_sub(NUMBER_LENGTH).filter(|room| *room > 0)?;
        let words = self.parts(text, room, true);
        let parts = match words {
            Some(parts) => parts,
            // Words may not fill the parts: without regard for them, the text may fit into fewer.
            None => self.parts(text, room, false)?,
        };
        let count = parts.len();
        let numbered = parts.iter().enumerate().map(|(at, part)| format!("({}/{count}) {part}", at + 1));
        Some(numbered.collect())
    }

    /// Parts of at most this length. `None` if they are too many, or if one character is longer than a part.
    fn parts(self, text: &str, room: usize, at_blanks: bool) -> Option<Vec<&str>> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            if parts.len() == PARTS_MAX {
                return None;
            }
            let end = self.end_of_part(rest, room, at_blanks).filter(|end| *end > 0)?;
            let (part, after) = rest.split_at_checked(end)?;
            parts.push(part.trim_end());
            rest = after.trim_start();
        }
        Some(parts)
    }

    /// Where the first part of a text ends, as a position in bytes.
    fn end_of_part(self, text: &str, room: usize, at_blanks: bool) -> Option<usize> {
        if self.length(text) <= room {
            return Some(text.len());
        }
        let (mut length, mut between, mut blank) = (0, None, None);
        let mut before = None;
        for (at, letter) in text.char_indices() {
            if before.is_some_and(|before| is_boundary(before, letter)) {
                between = Some(at);
                // A word of half a part or more is broken: parts would be too short otherwise.
                if letter.is_whitespace() && length * 2 >= room {
                    blank = Some(at);
                }
            }
            length += match self {
                Self::Characters(_) => 1,
                Self::Bytes(_) => letter.len_utf8(),
            };
            if length > room {
                break;
            }
            before = Some(letter);
        }
        blank.filter(|_| at_blanks).or(between)
    }
}

/// Whether a text may be broken between these letters. A letter with its marks, a joined emoji and a flag stay whole.
fn is_boundary(before: char, after: char) -> bool {
    let joins = |letter: char| letter == '\u{200d}';
    let continues = |letter: char| {
        matches!(letter,
            '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}'
            | '\u{93c}' | '\u{93e}'..='\u{94d}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}'..='\u{309a}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0020}'..='\u{e007f}')
    };
    let is_flag = |letter: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&letter);
    let is_line_end = before == '\r' && after == '\n';
    !(joins(before) || joins(after) || continues(after) || is_line_end || (is_flag(before) && is_flag(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_has_no_number() {
        for limit in [TextLimit::Characters(160), TextLimit::Bytes(160)] {
            let text = "x".repeat(160);
            assert_eq!(limit.split(&text), Some(vec![text.clone()]));
        }
        assert_eq!(TextLimit::Characters(160).refuses(&"é".repeat(160)), None);
        assert_eq!(
            TextLimit::Bytes(160).refuses(&"é".repeat(81)).unwrap(),
            "has 162 bytes in UTF-8; the network carries at most 160"
        );
    }

    #[test]
    fn parts_fit_are_numbered_and_lose_nothing() {
        let text = "Storm warning for the whole coast, return to the nearest port at once. ".repeat(8);
        for limit in [TextLimit::Characters(160), TextLimit::Bytes(160), TextLimit::Bytes(270)] {
            let parts = limit.split(&text).unwrap();
            let mut joined = String::new();
            for (at, part) in parts.iter().enumerate() {
                assert_eq!(limit.refuses(part), None);
                let number = format!("({}/{}) ", at + 1, parts.len());
                joined += part.strip_prefix(&number).unwrap();
                joined.push(' ');
            }
            assert_eq!(joined.trim(), text.trim(), "at blanks");
        }
    }

    #[test]
    fn no_part_ends_inside_a_character() {
        for unit in ["é", "e\u{301}", "😀", "👨\u{200d}👩\u{200d}👧", "👍🏽", "🇫🇷 "] {
            let text = unit.repeat(40);
            for most in 30..60 {
                let limit = TextLimit::Bytes(most);
                let Some(parts) = limit.split(&text) else { continue };
                for part in &parts {
                    assert_eq!(limit.refuses(part), None);
                    let content = part.get(NUMBER_LENGTH..).unwrap();
                    let bare = content.replace(' ', "");
                    assert_eq!(bare.len() % unit.trim().len(), 0, "{unit} {most}: {content}");
                }
                let all: String =
                    parts.iter().map(|part| part.get(NUMBER_LENGTH..).unwrap().replace(' ', "")).collect();
                assert_eq!(all, text.replace(' ', ""));
            }
        }
    }

    #[test]
    fn at_most_nine_parts() {
        let limit = TextLimit::Characters(160);
        assert_eq!(limit.split(&"x".repeat(9 * 154)).unwrap().len(), 9);
        assert_eq!(limit.split(&"x".repeat(9 * 154 + 1)), None);
        assert_eq!(TextLimit::Bytes(7).split("😀😀"), None, "no part has room for it");
        // With breaks at blanks it would be ten parts.
        let words = "ninety ".repeat(9 * 22);
        assert_eq!(limit.split(words.trim()).unwrap().len(), 9);
    }
}
