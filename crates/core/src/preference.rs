//! How somebody wants the console to look.

use serde::{Deserialize, Serialize};

use crate::routing::Units;
use crate::zone::Zone;

/// How somebody wants the console to look. What they never chose is as the default says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// The language; none is that of their browser.
    pub language: Option<ConsoleLanguage>,
    /// The units of distances, speeds and heights.
    pub units: Units,
    /// The zone times are shown in; none is their own.
    pub time_zone: Option<Zone>,
    /// The colours.
    pub theme: Theme,
}

/// A language the console speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConsoleLanguage {
    /// English.
    #[serde(rename = "en")]
    English,
    /// Spanish.
    #[serde(rename = "es")]
    Spanish,
}

impl ConsoleLanguage {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::English, Self::Spanish];

    /// Its tag.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Spanish => "es",
        }
    }
}

/// The colours of the console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the reader's system has it.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_chosen_is_the_default() {
        let read = |text: &str| serde_json::from_str::<Preferences>(text).unwrap();
        assert_eq!(read("{}"), Preferences::default());
        let chosen = read(r#"{"language":"es","units":"nautical"}"#);
        assert_eq!((chosen.language, chosen.units), (Some(ConsoleLanguage::Spanish), Units::Nautical));
        assert_eq!(read(&serde_json::to_string(&chosen).unwrap()), chosen);
    }
}
