//! Removes control characters from texts before they enter a protocol: names of devices may contain anything.

/// The text as one line. Line breaks and control characters become spaces.
pub(crate) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if breaks_or_controls(c) { ' ' } else { c }).collect();
    spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text with every kind of line end as `\n`, and without other control characters but tabs.
pub(crate) fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .filter_map(|c| match c {
            '\n' | '\t' => Some(c),
            '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
            c if c.is_control() => None,
            c => Some(c),
        })
        .collect()
}

/// At most this many characters of a text that another system wrote.
pub(crate) fn excerpt(text: &str, characters: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn breaks_or_controls(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_has_an_end_within() {
        assert_eq!(
            one_line("Boat\r\nBcc: all@example.com\0\u{2028}x\u{85}y"),
            "Boat Bcc: all@example.com x y"
        );
        assert_eq!(one_line("  🚤  \t Ñandú "), "🚤 Ñandú");
    }

    #[test]
    fn every_line_end_is_one() {
        assert_eq!(lines("a\r\nb\rc\u{2028}d\u{2029}e\0f\tg"), "a\nb\nc\nd\nef\tg");
    }

    #[test]
    fn excerpts_end_between_characters() {
        assert_eq!(excerpt("añb", 2), "añ…");
        assert_eq!(excerpt("añb", 3), "añb");
    }
}
