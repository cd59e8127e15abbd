//! The words of the pages that need no sign-in, from the files in `assets/pages/`. The page for setting a password loads
//! the file of its language itself.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use perigee_core::access::preference::ConsoleLanguage;
use serde::Deserialize;

/// The words of the pages in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageWords {
    /// The page on which a user sets a password, by the keys of `assets/pages/password.js`.
    #[cfg_attr(not(test), expect(dead_code, reason = "the script of the page reads them"))]
    password: BTreeMap<String, String>,
    /// The page on which a recipient acknowledges an alert.
    pub(super) alert: AlertWords,
    /// The page on which a recipient ends or resumes e-mail.
    pub(super) mail: MailWords,
    /// The page of a traveller's link to a plan.
    pub(super) travel: TravelWords,
}

/// The words of the page on which a recipient acknowledges an alert; `{name}`, `{time}` and `{account}` are replaced.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertWords {
    pub(super) device: String,
    pub(super) time: String,
    pub(super) place: String,
    pub(super) map: String,
    pub(super) acknowledged: String,
    pub(super) somebody: String,
    pub(super) ended: String,
    pub(super) open: String,
    pub(super) over: String,
    pub(super) name: String,
    pub(super) note: String,
    pub(super) acknowledge: String,
    pub(super) add_note: String,
    pub(super) no_link: String,
    /// Shown if the form had no name.
    pub(super) name_missing: String,
}

/// The words of the page on which a recipient ends or resumes e-mail; `{account}` is replaced.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MailWords {
    pub(super) title: String,
    pub(super) active: String,
    pub(super) ended: String,
    pub(super) asked: String,
    pub(super) end: String,
    pub(super) resume: String,
    pub(super) confirm: String,
    /// Shown for a link that this server did not create.
    pub(super) no_link: String,
    /// Shown if the form has no known value.
    pub(super) unclear: String,
}

/// The words of the page of a traveller's link, and of the message that asks a traveller to check in; `{time}`, `{name}` and
/// `{count}` are replaced.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TravelWords {
    pub(super) draft: String,
    pub(super) active: String,
    pub(super) paused: String,
    pub(super) overdue: String,
    pub(super) ended: String,
    pub(super) cancelled: String,
    pub(super) next: String,
    pub(super) last: String,
    pub(super) arrival: String,
    pub(super) well: String,
    pub(super) extend: String,
    /// The label of the choice of hours.
    pub(super) by: String,
    pub(super) hour: String,
    pub(super) hours: String,
    pub(super) pause: String,
    pub(super) resume: String,
    pub(super) end: String,
    pub(super) start: String,
    pub(super) done: String,
    pub(super) refused: String,
    pub(super) no_link: String,
    /// The message to a device, in letters that every network carries.
    pub(super) nudge: String,
}

macro_rules! define {
    ($($variant:ident $tag:literal $name:literal $countries:tt;)+) => {
        /// The words of a language.
        pub fn page_words(language: ConsoleLanguage) -> &'static PageWords {
            match language {
                $(ConsoleLanguage::$variant => {
                    static WORDS: LazyLock<PageWords> = LazyLock::new(|| {
                        read(include_str!(concat!("../../../assets/pages/", $tag, ".json")))
                    });
                    &WORDS
                })+
            }
        }
    };
}
perigee_core::for_each_language!(define);

fn read(file: &str) -> PageWords {
    serde_json::from_str(file).expect("the files of words are part of the program and read by its tests")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The texts of a file by their paths, with the names of their placeholders.
    fn texts(value: &Value, path: &str, all: &mut BTreeMap<String, Vec<String>>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    texts(member, &format!("{path}/{name}"), all);
                }
            }
            text => {
                let text = text.as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{path}");
                let names =
                    text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0.to_owned()));
                let mut names: Vec<String> = names.collect();
                names.sort_unstable();
                all.insert(path.to_owned(), names);
            }
        }
    }

    #[test]
    fn every_language_has_every_text_and_placeholder() {
        let files = |language: ConsoleLanguage| {
            let path = format!("{}/assets/pages/{}.json", env!("CARGO_MANIFEST_DIR"), language.name());
            let mut all = BTreeMap::new();
            texts(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(), "", &mut all);
            all
        };
        let english = files(ConsoleLanguage::English);
        for language in ConsoleLanguage::ALL {
            assert_eq!(files(language), english, "{language:?}");
            assert!(page_words(language).password.contains_key("title"));
        }
    }
}
