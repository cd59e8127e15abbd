//! Counts the segments of an SMS, and shortens texts to a number of segments.

use super::alphabet::{codes, is_plain, with_replacements};

/// The encoding of an SMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// Seven bits a letter: 160 alone, 153 in each of several segments.
    Gsm7,
    /// Sixteen bits: 70 alone, 67 in each of several.
    Ucs2,
}

/// Encoding and segments of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The encoding that the text needs.
    pub alphabet: Alphabet,
    /// Number of segments. An empty text takes one.
    pub count: usize,
}

/// How texts are shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fitting {
    /// Segments that a text may take; longer texts are cut.
    pub segments: usize,
    /// Whether letters outside the 7-bit alphabet are replaced if that saves segments.
    pub plain_letters: bool,
}

impl Alphabet {
    /// Units in a text of one segment, and in each of several.
    const fn room(self) -> (usize, usize) {
        match self {
            Self::Gsm7 => (160, 153),
            Self::Ucs2 => (70, 67),
        }
    }

    /// Units of one character, which stay in one segment.
    fn units(self, c: char) -> usize {
        match self {
            Self::Gsm7 => codes(c).map_or(1, |(escape, _)| if escape.is_some() { 2 } else { 1 }),
            Self::Ucs2 => c.len_utf16(),
        }
    }

    /// The encoding that this text needs.
    pub(crate) fn of(text: &str) -> Self {
        if is_plain(text) { Self::Gsm7 } else { Self::Ucs2 }
    }
}

/// Counts the segments of a text.
pub fn segments(text: &str) -> Segments {
    let alphabet = Alphabet::of(text);
    Segments { alphabet, count: parts(text, alphabet).len() }
}

/// The text, segment by segment.
pub(crate) fn parts(text: &str, alphabet: Alphabet) -> Vec<&str> {
    let (alone, of_several) = alphabet.room();
    if text.chars().map(|c| alphabet.units(c)).sum::<usize>() <= alone {
        return vec![text];
    }
    let mut parts = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, c) in text.char_indices() {
        let units = alphabet.units(c);
        if used + units > of_several {
            parts.push(text.get(start..at).unwrap_or_default());
            (start, used) = (at, 0);
        }
        used += units;
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// The text as it is sent: with replaced letters if that saves segments, and cut if it is too long.
pub fn fit(text: &str, fitting: Fitting) -> String {
    let text = crate::plain::lines(text);
    let text = text.trim();
    let plain = if fitting.plain_letters && !is_plain(text) { with_replacements(text) } else { None };
    let text = match plain {
        Some(plain) if segments(&plain).count < segments(text).count => plain,
        _ => text.to_owned(),
    };
    cut(&text, fitting.segments.max(1))
}

/// Cuts the text to this many segments, ending in `...`.
fn cut(text: &str, most: usize) -> String {
    const REST: &str = "...";
    if segments(text).count <= most {
        return text.to_owned();
    }
    // Cutting can remove the character that needed the 16-bit encoding, so each length is measured again.
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let fits = |end: usize| {
        let kept = format!("{}{REST}", text.get(..end).unwrap_or_default());
        segments(&kept).count <= most
    };
    // More characters never take fewer segments, so binary search finds the longest that fits.
    let count = ends.partition_point(|end| fits(*end));
    ends.truncate(count);
    let end = ends.last().copied().unwrap_or(0);
    format!("{}{REST}", text.get(..end).unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, alphabet: Alphabet, count: usize) {
        assert_eq!(segments(text), Segments { alphabet, count });
    }

    #[test]
    fn counts_as_telephones_do() {
        check("", Alphabet::Gsm7, 1);
        check(&"a".repeat(160), Alphabet::Gsm7, 1);
        check(&"a".repeat(161), Alphabet::Gsm7, 2);
        check(&"a".repeat(306), Alphabet::Gsm7, 2);
        check(&"a".repeat(307), Alphabet::Gsm7, 3);
        check(&"€".repeat(80), Alphabet::Gsm7, 1);
        check(&"€".repeat(81), Alphabet::Gsm7, 2);
        // 153 is odd: the last unit of a segment stays empty, so that an escape and its letter are not separated.
        check(&"€".repeat(152), Alphabet::Gsm7, 2);
        check(&"€".repeat(153), Alphabet::Gsm7, 3);
        check(&"я".repeat(70), Alphabet::Ucs2, 1);
        check(&"я".repeat(71), Alphabet::Ucs2, 2);
        check(&"🚤".repeat(35), Alphabet::Ucs2, 1);
        // 67 is odd too: an emoji of two units is not split.
        check(&"🚤".repeat(66), Alphabet::Ucs2, 2);
        check(&"🚤".repeat(67), Alphabet::Ucs2, 3);
    }

    #[test]
    fn fits_by_plain_letters_then_by_cutting() {
        let fitting = Fitting { segments: 1, plain_letters: true };
        let long = format!("Ángela {}", "está rápida ".repeat(8));
        assert_eq!(segments(&fit(&long, fitting)), Segments { alphabet: Alphabet::Gsm7, count: 1 });
        assert!(fit(&long, fitting).starts_with("Angela esta rapida"));
        // Short enough as it is: nothing is lost.
        assert_eq!(fit("Ángela", fitting), "Ángela");
        assert_eq!(fit("a\r\nb\0\u{2028}c\n", fitting), "a\nb\nc");
        let cut = fit(&"x".repeat(200), fitting);
        assert_eq!((cut.len(), cut.ends_with("x...")), (160, true));
        assert_eq!(fit(&"🚤".repeat(99), fitting).chars().count(), 33 + 3);
    }

    proptest! {
        #[test]
        fn parts_are_the_text_and_fit_keeps_its_promise(text in "(?s)[a-z€é🚤я\u{0}\n\\^ ]{0,400}", most in 1_usize..4) {
            let alphabet = Alphabet::of(&text);
            prop_assert_eq!(parts(&text, alphabet).concat(), text.clone());
            let fitted = fit(&text, Fitting { segments: most, plain_letters: true });
            prop_assert!(segments(&fitted).count <= most);
        }
    }
}
