//! Countries of ISO 3166-1, by code or by an English name people use.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::language::{ConsoleLanguage, words};

/// Why a text is not a country.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a country code such as ES")]
pub struct ParseCountryError;

/// A country by its two-letter code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country(&'static str);

/// Common names, shown where the name in the standard is too formal.
const SHOWN: &[(&str, &str)] = &[
    ("BN", "Brunei"),
    ("BO", "Bolivia"),
    ("CD", "Congo (Kinshasa)"),
    ("CG", "Congo (Brazzaville)"),
    ("CI", "Ivory Coast"),
    ("CV", "Cape Verde"),
    ("FK", "Falkland Islands"),
    ("FM", "Micronesia"),
    ("GB", "United Kingdom"),
    ("IR", "Iran"),
    ("KP", "North Korea"),
    ("KR", "South Korea"),
    ("LA", "Laos"),
    ("MD", "Moldova"),
    ("MF", "Saint Martin"),
    ("NL", "Netherlands"),
    ("PS", "Palestine"),
    ("RU", "Russia"),
    ("SH", "Saint Helena"),
    ("ST", "São Tomé and Príncipe"),
    ("SX", "Sint Maarten"),
    ("SY", "Syria"),
    ("TW", "Taiwan"),
    ("TZ", "Tanzania"),
    ("US", "United States"),
    ("VA", "Vatican City"),
    ("VE", "Venezuela"),
    ("VG", "British Virgin Islands"),
    ("VI", "U.S. Virgin Islands"),
    ("VN", "Vietnam"),
];

/// Further names that are understood.
const ALIASES: &[(&str, &str)] = &[
    ("AE", "UAE"),
    ("AE", "Emirates"),
    ("AX", "Aland"),
    ("BA", "Bosnia"),
    ("BQ", "Caribbean Netherlands"),
    ("CD", "Democratic Republic of the Congo"),
    ("CD", "DR Congo"),
    ("CD", "DRC"),
    ("CG", "Republic of the Congo"),
    ("CN", "People's Republic of China"),
    ("CZ", "Czech Republic"),
    ("DE", "Federal Republic of Germany"),
    ("FK", "Malvinas"),
    ("FO", "Faeroe Islands"),
    ("GB", "UK"),
    ("GB", "Great Britain"),
    ("GB", "Britain"),
    ("GB", "England"),
    ("GB", "Scotland"),
    ("GB", "Wales"),
    ("GB", "Northern Ireland"),
    ("GM", "The Gambia"),
    ("HK", "Hong Kong SAR"),
    ("IE", "Republic of Ireland"),
    ("KP", "Democratic People's Republic of Korea"),
    ("KR", "Republic of Korea"),
    ("KR", "Korea"),
    ("LA", "Lao"),
    ("MK", "Macedonia"),
    ("MM", "Burma"),
    ("MO", "Macau"),
    ("NL", "Holland"),
    ("PN", "Pitcairn Islands"),
    ("SZ", "Swaziland"),
    ("TL", "East Timor"),
    ("TR", "Turkey"),
    ("TW", "Republic of China"),
    ("US", "U.S.A."),
    ("US", "U.S."),
    ("US", "America"),
    ("VA", "Vatican"),
    ("VI", "US Virgin Islands"),
];

/// All countries by shown name, as lists present them.
static LIST: LazyLock<Vec<(Country, &'static str)>> = LazyLock::new(|| {
    let shown: HashMap<&str, &str> = SHOWN.iter().copied().collect();
    let mut list: Vec<_> = rust_iso3166::ALL
        .iter()
        .map(|entry| (Country(entry.alpha2), shown.get(entry.alpha2).copied().unwrap_or(entry.name)))
        .collect();
    list.sort_by_cached_key(|(_, name)| fold(name));
    list
});

/// All accepted names, in folded form. Codes come last, so that no name can replace one.
static MEANINGS: LazyLock<HashMap<String, Country>> = LazyLock::new(|| {
    let codes = || rust_iso3166::ALL.iter();
    let country = |code: &str| rust_iso3166::from_alpha2(code).map(|entry| Country(entry.alpha2));
    let aliases = ALIASES.iter().filter_map(|(code, name)| Some((fold(name), country(code)?)));
    let standard = codes().map(|entry| (fold(entry.name), Country(entry.alpha2)));
    let shown = LIST.iter().map(|(country, name)| (fold(name), *country));
    let alpha3 = codes().map(|entry| (fold(entry.alpha3), Country(entry.alpha2)));
    let alpha2 = codes().map(|entry| (fold(entry.alpha2), Country(entry.alpha2)));
    aliases.chain(standard).chain(shown).chain(alpha3).chain(alpha2).collect()
});

/// Lower case letters without accents, and single spaces for anything else; `&` and `St` are written out.
fn fold(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars().flat_map(char::to_lowercase) {
        match letter {
            'à'..='å' | 'ā' => plain.push('a'),
            'ç' => plain.push('c'),
            'è'..='ë' => plain.push('e'),
            'ì'..='ï' | 'ı' => plain.push('i'),
            'ñ' => plain.push('n'),
            'ò'..='ö' | 'ø' => plain.push('o'),
            'ù'..='ü' => plain.push('u'),
            '&' => plain.push_str(" and "),
            // Apostrophes, dots and the combining accents that may follow a bare letter.
            '\'' | '’' | '`' | '.' | '\u{300}'..='\u{36f}' => {}
            letter if letter.is_alphanumeric() => plain.push(letter),
            _ => plain.push(' '),
        }
    }
    let words: Vec<&str> = plain.split_whitespace().collect();
    let words = match words.as_slice() {
        ["the", rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    // On its own, "st" is a country's code.
    let spelled =
        |word: &&str| if *word == "st" && words.len() > 1 { "saint".to_owned() } else { (*word).to_owned() };
    words.iter().map(spelled).collect::<Vec<_>>().join(" ")
}

impl Country {
    /// All countries with the English name to show, in alphabetical order of the names.
    pub fn all() -> impl ExactSizeIterator<Item = (&'static str, &'static str)> {
        LIST.iter().map(|(country, name)| (country.0, *name))
    }

    /// The two-letter code of ISO 3166-1.
    pub const fn code(self) -> &'static str {
        self.0
    }

    /// The English name to show.
    pub fn name(self) -> &'static str {
        LIST.iter().find(|(country, _)| *country == self).map_or(self.0, |(_, name)| name)
    }
}

/// Gazetteers give Kosovo a code that ISO 3166-1 does not have.
const KOSOVO: (&str, &str) = ("XK", "Kosovo");

/// The name of a country in this language, by its two-letter code; the code itself if it is unknown.
pub fn name_in(code: &str, language: ConsoleLanguage) -> &str {
    if language == ConsoleLanguage::English {
        let named = LIST.iter().find(|(country, _)| country.0 == code).map(|(_, name)| *name);
        return named.unwrap_or(if code == KOSOVO.0 { KOSOVO.1 } else { code });
    }
    words(language).countries.get(code).map_or(code, String::as_str)
}

impl FromStr for Country {
    type Err = ParseCountryError;

    /// Reads a code of two or three letters or an English name, whatever their case and accents.
    fn from_str(text: &str) -> Result<Self, ParseCountryError> {
        const LONGEST: usize = 200;
        let folded = (text.len() <= LONGEST).then(|| fold(text)).ok_or(ParseCountryError)?;
        MEANINGS.get(&folded).copied().ok_or(ParseCountryError)
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Country {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Country {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(input: &str, expect: Option<&str>) {
        assert_eq!(input.parse::<Country>().ok().map(Country::code), expect, "{input}");
    }

    #[test]
    fn countries_have_names_in_every_language() {
        for language in ConsoleLanguage::ALL {
            assert!(Country::all().all(|(code, _)| name_in(code, language) != code), "{language:?}");
        }
        let spain = ConsoleLanguage::ALL.map(|language| name_in("ES", language));
        assert_eq!(spain, ["Spain", "España", "Espagne", "Spanien", "Espanha", "Spagna"]);
        assert_eq!(name_in("XK", ConsoleLanguage::English), "Kosovo");
        assert_eq!(name_in("??", ConsoleLanguage::English), "??");
        assert_eq!(name_in("??", ConsoleLanguage::German), "??");
    }

    #[test]
    fn reads_codes_and_names() {
        for (input, code) in [
            ("ES", "ES"),
            ("es", "ES"),
            ("ESP", "ES"),
            ("Spain", "ES"),
            ("  spain ", "ES"),
            ("United States", "US"),
            ("United States of America", "US"),
            ("The United States", "US"),
            ("USA", "US"),
            ("U.S.A.", "US"),
            ("UK", "GB"),
            ("Great Britain", "GB"),
            ("Russia", "RU"),
            ("Russian Federation", "RU"),
            ("South Korea", "KR"),
            ("Korea (Republic of)", "KR"),
            ("Vietnam", "VN"),
            ("Viet Nam", "VN"),
            ("Bolivia", "BO"),
            ("Turkey", "TR"),
            ("Türkiye", "TR"),
            ("turkiye", "TR"),
            ("Tu\u{308}rkiye", "TR"),
            ("Ivory Coast", "CI"),
            ("COTE D’IVOIRE", "CI"),
            ("Réunion", "RE"),
            ("reunion", "RE"),
            ("St. Lucia", "LC"),
            ("Antigua & Barbuda", "AG"),
            ("Guinea Bissau", "GW"),
            ("Guinea", "GN"),
            ("st", "ST"),
            ("Sao Tome and Principe", "ST"),
            ("Åland", "AX"),
        ] {
            check(input, Some(code));
        }
    }

    #[test]
    fn refuses_what_is_no_country() {
        for input in ["", " ", "the", "saint", "Atlantis", "XX", "EU", "Congo Free State"] {
            check(input, None);
        }
        check(&"a".repeat(1_000_000), None);
    }

    #[test]
    fn every_country_is_read_by_code_and_name() {
        assert_eq!(Country::all().len(), 249);
        for (code, name) in Country::all() {
            check(code, Some(code));
            check(&code.to_ascii_lowercase(), Some(code));
            check(name, Some(code));
            check(&name.to_uppercase(), Some(code));
            assert_eq!(code.parse::<Country>().unwrap().name(), name);
        }
        for entry in rust_iso3166::ALL {
            check(entry.name, Some(entry.alpha2));
            check(entry.alpha3, Some(entry.alpha2));
        }
        for (code, name) in SHOWN.iter().chain(ALIASES) {
            check(name, Some(code));
        }
    }

    #[test]
    fn is_its_code_in_json() {
        let country: Country = serde_json::from_str("\"south korea\"").unwrap();
        assert_eq!(serde_json::to_string(&country).unwrap(), "\"KR\"");
        assert!(serde_json::from_str::<Country>("\"Atlantis\"").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = text.parse::<Country>();
        }
    }
}
