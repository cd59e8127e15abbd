//! Display preferences of a console user.

use serde::{Deserialize, Serialize};

pub use crate::language::ConsoleLanguage;
use crate::notifications::routing::Units;
use crate::zone::Zone;

/// Display preferences of a console user. Fields never set have their default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preferences {
    /// Language of the console; `None` uses the browser's.
    pub language: Option<ConsoleLanguage>,
    /// Units of distances, speeds and altitudes.
    pub units: Units,
    /// Time zone of the times shown; `None` uses the user's own.
    pub time_zone: Option<Zone>,
    /// Light or dark colours.
    pub theme: Theme,
}

/// The colours of the console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// The setting of the reader's operating system.
    #[default]
    System,
    /// Dark text on a light background.
    Light,
    /// Light text on a dark background.
    Dark,
}

impl Theme {
    /// Every theme of the console.
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
    fn an_unset_preference_is_the_default() {
        let read = |text: &str| serde_json::from_str::<Preferences>(text).unwrap();
        assert_eq!(read("{}"), Preferences::default());
        let chosen = read(r#"{"language":"es","units":"nautical"}"#);
        assert_eq!((chosen.language, chosen.units), (Some(ConsoleLanguage::Spanish), Units::Nautical));
        assert_eq!(read(&serde_json::to_string(&chosen).unwrap()), chosen);
    }
}
