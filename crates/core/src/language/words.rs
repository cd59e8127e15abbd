//! The words of positions and the names of countries, from the files in `words/`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::ConsoleLanguage;

/// The words of one language. Unknown members are errors, so that a misspelt one is found.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) place: PlaceWords,
    /// Names of countries by code. None in English, whose names are in the list of countries.
    #[serde(default)]
    pub(crate) countries: BTreeMap<String, String>,
}

/// How a position is described: "22 km SW of Vigo".
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceWords {
    /// The sixteen points of the compass, clockwise from north.
    pub(crate) points: [String; 16],
    /// The direction after the distance: `{point}` with what the language puts before it.
    pub(crate) to: String,
    /// Before the name of the place.
    pub(crate) of: String,
    /// `of` and the beginning of a name where they contract, by the beginning: French "Le " becomes "du ".
    #[serde(default)]
    pub(crate) contractions: BTreeMap<String, String>,
    /// The unit of nautical miles.
    pub(crate) nautical_miles: String,
    /// Between thousands and hundreds.
    pub(crate) thousands: String,
    /// Digits from which `thousands` is written.
    pub(crate) grouped_digits: usize,
}

macro_rules! define {
    ($($variant:ident $tag:literal $name:literal $countries:tt;)+) => {
        /// The words of a language.
        pub(crate) fn words(language: ConsoleLanguage) -> &'static Words {
            match language {
                $(ConsoleLanguage::$variant => {
                    static WORDS: LazyLock<Words> =
                        LazyLock::new(|| read(include_str!(concat!("words/", $tag, ".toml"))));
                    &WORDS
                })+
            }
        }
    };
}
crate::for_each_language!(define);

fn read(file: &str) -> Words {
    toml::from_str(file).expect("the files of words are part of the program and read by its tests")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::country::Country;

    #[test]
    fn every_language_has_every_word() {
        for language in ConsoleLanguage::ALL {
            let Words { place, countries } = words(language);
            assert!(place.to.contains("{point}") && !place.of.is_empty(), "{language:?}");
            assert!(place.points.iter().all(|point| !point.is_empty()), "{language:?}");
            let mut points = place.points.to_vec();
            points.sort_unstable();
            points.dedup();
            assert_eq!(points.len(), 16, "{language:?}");
            if language != ConsoleLanguage::English {
                // Kosovo has no code in ISO 3166-1, but one that gazetteers use.
                assert_eq!(countries.len(), Country::all().len() + 1, "{language:?}");
                for code in Country::all().map(|(code, _)| code).chain(["XK"]) {
                    assert!(countries.get(code).is_some_and(|name| name != code), "{code} in {language:?}");
                }
            }
        }
    }
}
