//! Alarm codes of protocols and feeds, and the alarm of each. Decoders read these tables, and `docs/trackers/alarms.md`
//! is generated from them.

use crate::feed::SosStep;

/// The alarm that a code raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raises {
    /// The alarm with this name; [`crate::alert_name`] gives the alert.
    Alarm(&'static str),
    /// A step of an emergency.
    Sos(SosStep),
}

/// One code of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlarmCode {
    /// The number of the code, or of its bit; 0 if the code is a text.
    pub number: u32,
    /// The code, if it is a text.
    pub text: &'static str,
    /// The models or messages to which the code applies; empty for all others.
    pub models: &'static str,
    /// The alarm that it raises.
    pub raises: Raises,
}

/// The alarm of a number.
pub(crate) const fn number(number: u32, word: &'static str) -> AlarmCode {
    AlarmCode { number, text: "", models: "", raises: Raises::Alarm(word) }
}

/// The alarm of a text.
pub(crate) const fn text(text: &'static str, word: &'static str) -> AlarmCode {
    AlarmCode { number: 0, text, models: "", raises: Raises::Alarm(word) }
}

/// The step of an emergency that a text stands for.
pub(crate) const fn step(text: &'static str, step: SosStep) -> AlarmCode {
    AlarmCode { number: 0, text, models: "", raises: Raises::Sos(step) }
}

/// The step of an emergency that a number stands for.
pub(crate) const fn numbered_step(number: u32, step: SosStep) -> AlarmCode {
    AlarmCode { number, text: "", models: "", raises: Raises::Sos(step) }
}

impl AlarmCode {
    /// Restricts the code to these models.
    pub(crate) const fn on(mut self, models: &'static str) -> Self {
        self.models = models;
        self
    }
}

/// Notation of the codes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Decimal numbers.
    Decimal,
    /// Hexadecimal numbers.
    Hexadecimal,
    /// Numbers of bits, from 0.
    Bit,
    /// Words, or a description of the value.
    Text,
}

/// The codes of one field of a protocol's messages.
#[derive(Clone, Copy, Debug)]
pub struct AlarmTable {
    /// The field that contains the code.
    pub field: &'static str,
    /// Notation of its codes.
    pub notation: Notation,
    /// The codes, in the order of the maker's documents.
    pub codes: &'static [AlarmCode],
}

impl AlarmTable {
    /// The alarm name of a number, for models without codes of their own.
    pub(crate) fn word(&self, number: u32) -> Option<&'static str> {
        self.word_on(number, "")
    }

    /// The alarm name of a number for these models; codes of these models take precedence over codes of all models.
    pub(crate) fn word_on(&self, number: u32, models: &str) -> Option<&'static str> {
        let same = |models: &str| {
            self.codes
                .iter()
                .find(|code| code.number == number && code.models == models && code.text.is_empty())
        };
        match same(models).or_else(|| same(""))?.raises {
            Raises::Alarm(word) => Some(word),
            Raises::Sos(_) => None,
        }
    }

    /// The alarm name of a text.
    pub(crate) fn word_of(&self, text: &str) -> Option<&'static str> {
        self.codes.iter().find_map(|code| match code.raises {
            Raises::Alarm(word) if code.text == text => Some(word),
            _ => None,
        })
    }

    /// The step of an emergency that a text stands for.
    pub(crate) fn step_of(&self, text: &str) -> Option<SosStep> {
        self.codes.iter().find_map(|code| match code.raises {
            Raises::Sos(step) if code.text == text => Some(step),
            _ => None,
        })
    }

    /// The step of an emergency that a number stands for.
    pub(crate) fn step(&self, number: u32) -> Option<SosStep> {
        self.codes.iter().find_map(|code| match code.raises {
            Raises::Sos(step) if code.number == number && code.text.is_empty() => Some(step),
            _ => None,
        })
    }

    /// The alarm names of the bits that are set.
    pub(crate) fn words_of_bits(&self, bits: u64) -> impl Iterator<Item = &'static str> + use<> {
        self.codes.iter().filter_map(move |code| match code.raises {
            Raises::Alarm(word) if bits >> code.number.min(63) & 1 == 1 => Some(word),
            _ => None,
        })
    }
}

/// Words that phones, mappings and templates send, as [`crate::alert_name`] reads them.
pub(crate) const WORDS: AlarmTable = AlarmTable {
    field: "`alarm`, in any letter case",
    notation: Notation::Text,
    codes: &[
        text("sos", "sos"),
        text("sosCancel", "sosCancel"),
        text("vibration", "vibration"),
        text("movement", "movement"),
        text("lowBattery", "lowBattery"),
        text("lowPower", "lowPower"),
        text("powerCut", "powerCut"),
        text("powerOff", "powerOff"),
        text("powerOn", "powerOn"),
        text("powerRestored", "powerRestored"),
        text("overspeed", "overspeed"),
        text("hardBraking", "hardBraking"),
        text("hardAcceleration", "hardAcceleration"),
        text("hardCornering", "hardCornering"),
        text("idle", "idle"),
        text("gpsAntennaCut", "gpsAntennaCut"),
        text("geofenceEnter", "geofenceEnter"),
        text("geofenceExit", "geofenceExit"),
        text("geofence", "geofence"),
        text("tampering", "tampering"),
        text("removing", "removing"),
        text("fallDown", "fallDown"),
        text("accident", "accident"),
        text("tow", "tow"),
        text("temperature", "temperature"),
        text("general", "general"),
        text("door", "door"),
        text("jamming", "jamming"),
        text("parking", "parking"),
        text("fault", "fault"),
    ],
};

/// The alarm name of this text, in any letter case.
pub(crate) fn alarm_word(text: &str) -> Option<&'static str> {
    let text = text.trim();
    WORDS.codes.iter().find(|code| code.text.eq_ignore_ascii_case(text)).map(|code| code.text)
}
