//! The languages of the console, of messages and of pages, and the words of positions in each.
//!
//! The table in `for_each_language` lists them. The files of a language are beside their users, by its tag; CONTRIBUTING
//! describes how to add one.

mod words;

use serde::{Deserialize, Serialize};

pub(crate) use self::words::{PlaceWords, words};
use crate::accounts::country::Country;

/// Calls a macro with the table of languages: variant, tag, English name, and the countries whose readers get the
/// language unless they choose another. A country is listed where most people read the language, or more of them than
/// read any other language of the table.
#[macro_export]
macro_rules! for_each_language {
    ($macro:ident) => {
        $macro! {
            English "en" "English" [];
            Spanish "es" "Spanish" ["AR", "BO", "CL", "CO", "CR", "CU", "DO", "EC", "ES", "GQ", "GT", "HN", "MX", "NI", "PA", "PE", "PR", "PY", "SV", "UY", "VE"];
            French "fr" "French" ["BF", "BI", "BJ", "BL", "CD", "CF", "CG", "CI", "CM", "DJ", "DZ", "FR", "GA", "GF", "GN", "GP", "HT", "KM", "LU", "MA", "MC", "MF", "MG", "ML", "MQ", "NC", "NE", "PF", "PM", "RE", "SN", "TD", "TF", "TG", "TN", "WF", "YT"];
            German "de" "German" ["AT", "CH", "DE", "LI"];
            Portuguese "pt" "Portuguese" ["AO", "BR", "CV", "GW", "MZ", "PT", "ST", "TL"];
            Italian "it" "Italian" ["IT", "SM", "VA"];
        }
    };
}

macro_rules! define {
    ($($variant:ident $tag:literal $name:literal $countries:tt;)+) => {
        /// A language of the console, of messages and of pages.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum ConsoleLanguage {
            $(
                #[doc = $name]
                #[serde(rename = $tag)]
                $variant,
            )+
        }

        impl ConsoleLanguage {
            /// Every language, in the order in which they are offered.
            pub const ALL: [Self; [$($tag),+].len()] = [$(Self::$variant),+];

            /// The tag of each language, in the order of [`Self::ALL`].
            pub const TAGS: &[&str] = &[$($tag),+];

            /// What the tags mean, for the reference of the API.
            pub const MEANINGS: &str = concat!("A language of the console, of messages and of pages.", $(" `", $tag, "`: ", $name, "."),+);

            /// The language tag, for example `en`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $tag,)+
                }
            }

            /// Codes of the countries whose readers get the language by default.
            const fn countries(self) -> &'static [&'static str] {
                match self {
                    $(Self::$variant => &$countries,)+
                }
            }
        }
    };
}
for_each_language!(define);

impl ConsoleLanguage {
    /// The language for somebody of this country who has not chosen one.
    pub fn of_country(country: Option<Country>) -> Self {
        let is_read =
            |language: &Self| country.is_some_and(|country| language.countries().contains(&country.code()));
        Self::ALL.into_iter().find(is_read).unwrap_or(Self::English)
    }

    /// The language of a tag such as `pt-BR`, by its first part in any letter case; `None` if there are no texts in it.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.name().eq_ignore_ascii_case(primary))
    }

    /// The language of a recipient whose tag may be any; English if there are no texts in theirs.
    pub fn of_reader(tag: &str) -> Self {
        Self::of_tag(tag).unwrap_or(Self::English)
    }

    /// The first language that a browser accepts, by the header `Accept-Language`; English if there are no texts in any.
    pub fn accepted(header: &str) -> Self {
        const READ_MAX: usize = 30;
        let mut accepted: Vec<(Self, f32)> = header
            .split(',')
            .take(READ_MAX)
            .filter_map(|range| {
                let mut parts = range.split(';').map(str::trim);
                let language = Self::of_tag(parts.next()?)?;
                let quality = parts.find_map(|part| part.strip_prefix("q="));
                Some((language, quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0))))
            })
            .filter(|(_, quality)| *quality > 0.0)
            .collect();
        // The sort is stable: of equal qualities, the first is preferred.
        accepted.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        accepted.first().map_or(Self::English, |(language, _)| *language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_a_country_get_its_language() {
        let of = |code: &str| ConsoleLanguage::of_country(code.parse().ok()).name();
        let cases = [
            ("ES", "es"),
            ("MX", "es"),
            ("FR", "fr"),
            ("SN", "fr"),
            ("DE", "de"),
            ("AT", "de"),
            ("CH", "de"),
            ("PT", "pt"),
            ("BR", "pt"),
            ("AO", "pt"),
            ("IT", "it"),
            ("SM", "it"),
            ("GB", "en"),
            ("CA", "en"),
            ("BE", "en"),
            ("JP", "en"),
        ];
        for (country, language) in cases {
            assert_eq!(of(country), language, "{country}");
        }
        assert_eq!(ConsoleLanguage::of_country(None), ConsoleLanguage::English);
    }

    #[test]
    fn a_country_has_one_language_and_exists() {
        let mut all: Vec<&str> =
            ConsoleLanguage::ALL.iter().flat_map(|language| language.countries()).copied().collect();
        for code in &all {
            assert_eq!(code.parse::<Country>().map(Country::code), Ok(*code));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn tags_lead_to_a_language() {
        let cases = [
            ("es", "es"),
            ("es-MX", "es"),
            ("ES_ar", "es"),
            ("en-GB", "en"),
            ("pt-BR", "pt"),
            ("de-CH", "de"),
            ("est", "en"),
            ("nl", "en"),
            ("", "en"),
        ];
        for (tag, expect) in cases {
            assert_eq!(ConsoleLanguage::of_reader(tag).name(), expect, "{tag}");
        }
        assert_eq!(ConsoleLanguage::of_tag("nl"), None);
        for language in ConsoleLanguage::ALL {
            assert_eq!(serde_json::to_string(&language).unwrap(), format!("\"{}\"", language.name()));
            assert!(ConsoleLanguage::MEANINGS.contains(&format!("`{}`: {language:?}.", language.name())));
        }
    }

    #[test]
    fn browsers_say_which_languages_they_accept() {
        let cases = [
            ("", "en"),
            ("es", "es"),
            ("ES-mx,en;q=0.5", "es"),
            ("nl, fr;q=0.8, en;q=0.7", "fr"),
            ("en;q=0.3, de;q=0.9", "de"),
            ("it;q=0, pt;q=0.1", "pt"),
            ("de;q=many, nl", "en"),
            ("*", "en"),
        ];
        for (header, expect) in cases {
            assert_eq!(ConsoleLanguage::accepted(header).name(), expect, "{header}");
        }
    }
}
