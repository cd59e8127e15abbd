//! The GSM 7-bit alphabet (3GPP TS 23.038), and replacements for letters that it lacks.

/// The basic table in the order of its codes. 0x1B leads to the extension.
const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u{1B}ÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";

/// The extension table; each code follows an escape.
const EXTENSION: &[(char, u8)] = &[
    ('\u{0C}', 0x0A),
    ('^', 0x14),
    ('{', 0x28),
    ('}', 0x29),
    ('\\', 0x2F),
    ('[', 0x3C),
    ('~', 0x3D),
    (']', 0x3E),
    ('|', 0x40),
    ('€', 0x65),
];

/// The code that leads to the extension.
const ESCAPE: u8 = 0x1B;

/// Replacements for letters that the alphabet lacks.
const REPLACEMENTS: &[(&str, &str)] = &[
    ("áâãāăą", "a"),
    ("ÁÂÃÀĀĂĄ", "A"),
    ("çćčĉ", "c"),
    ("ĆČĈ", "C"),
    ("ďđ", "d"),
    ("ĎĐ", "D"),
    ("êëēėęě", "e"),
    ("ÊËÈĒĖĘĚ", "E"),
    ("ğģ", "g"),
    ("ĞĢ", "G"),
    ("íîïīįı", "i"),
    ("ÍÎÏÌĪĮİ", "I"),
    ("ķ", "k"),
    ("Ķ", "K"),
    ("łļľĺ", "l"),
    ("ŁĻĽĹ", "L"),
    ("ńňņ", "n"),
    ("ŃŇŅ", "N"),
    ("óôõőō", "o"),
    ("ÓÔÕŐŌÒ", "O"),
    ("ŕř", "r"),
    ("ŔŘ", "R"),
    ("śšşș", "s"),
    ("ŚŠŞȘ", "S"),
    ("ťţț", "t"),
    ("ŤŢȚ", "T"),
    ("úûůűūų", "u"),
    ("ÚÛŮŰŪŲÙ", "U"),
    ("ýÿ", "y"),
    ("ÝŸ", "Y"),
    ("źżž", "z"),
    ("ŹŻŽ", "Z"),
    ("‘’‚′`´", "'"),
    ("“”„″«»", "\""),
    ("‐‑‒–—−", "-"),
    ("…", "..."),
    ("°º", ""),
    ("ª", "a"),
    ("·•", "."),
    ("×", "x"),
    ("\u{A0}\u{2009}\u{202F}\u{2007}\t", " "),
    ("\u{200B}\u{200C}\u{200D}\u{FEFF}", ""),
];

/// The codes of a character: one, two with an escape, or `None` if the alphabet lacks it.
pub(super) fn codes(c: char) -> Option<(Option<u8>, u8)> {
    if c == '\u{1B}' {
        return None;
    }
    if let Some((_, code)) = EXTENSION.iter().find(|(known, _)| *known == c) {
        return Some((Some(ESCAPE), *code));
    }
    let index = BASIC.chars().position(|known| known == c)?;
    u8::try_from(index).ok().map(|code| (None, code))
}

/// Whether the alphabet has every character of the text.
pub(super) fn is_plain(text: &str) -> bool {
    text.chars().all(|c| codes(c).is_some())
}

/// The text with all missing letters replaced; `None` if one has no replacement.
pub(super) fn with_replacements(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if codes(c).is_some() {
            plain.push(c);
        } else {
            plain.push_str(
                REPLACEMENTS
                    .iter()
                    .find(|(letters, _)| letters.contains(c))
                    .map(|(_, replacement)| *replacement)?,
            );
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_standard() {
        assert_eq!(BASIC.chars().count(), 128);
        for (c, code) in
            [('@', 0), ('Δ', 0x10), (' ', 0x20), ('A', 0x41), ('Ñ', 0x5D), ('a', 0x61), ('à', 0x7F)]
        {
            assert_eq!(codes(c), Some((None, code)), "{c}");
        }
        assert_eq!(codes('€'), Some((Some(0x1B), 0x65)));
        assert_eq!((codes('á'), codes('\u{1B}'), codes('🚤')), (None, None, None));
    }

    #[test]
    fn missing_letters_are_replaced() {
        assert_eq!(
            with_replacements("Ángela – “rápido”… 12\u{A0}km").as_deref(),
            Some("Angela - \"rapido\"... 12 km")
        );
        assert_eq!(with_replacements("Привет"), None);
        for (letters, replacement) in REPLACEMENTS {
            assert!(is_plain(replacement), "{replacement}");
            assert!(letters.chars().all(|c| codes(c).is_none()), "{letters}");
        }
    }
}
