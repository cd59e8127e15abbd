//! Reads the members of a JSON object and records every problem instead of stopping at the first.
//!
//! ```
//! # use perigee_server::http::json::{Fields, parse_strict};
//! # use perigee_core::zone::Zone;
//! struct NewSample { name: String, zone: Zone, daily_limit: Option<u32>, on: bool }
//!
//! let body = parse_strict(br#"{"name": "Boat", "timeZone": "Europe/Madrid", "limits": {"daily": 5}}"#).unwrap();
//! let mut fields = Fields::of(&body).unwrap();
//! let name = fields.text("name").chars(1..=200).required();
//! let zone = fields.get("timeZone").required();
//! let on = fields.boolean("on").or(true);
//! let daily_limit = fields
//!     .object("limits", |limits| Some(limits.integer("daily", 0..=1_000_000).nullable()))
//!     .optional()
//!     .flatten();
//! let sample = fields.finish(|| Some(NewSample { name: name?, zone: zone?, daily_limit, on })).unwrap();
//! assert_eq!((sample.zone.id(), sample.daily_limit, sample.on), ("Europe/Madrid", Some(5), true));
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde_json::{Map, Value};

use super::field::{Field, State};
use super::hint::{nearest, quote};
use super::instant_forms::{InstantOrNever, read_instant_or_never};
use super::pointer::{Pointer, Problem};
use super::value::{FromJson, Refusal, check_chars, is_whole, kind, must_be, read_lines, text_of};

/// The most problems in one answer, so that it stays small whatever was sent.
const MOST_PROBLEMS: usize = 100;

/// Limits of a map of strings.
#[derive(Clone, Copy, Debug)]
pub struct MapLimits {
    /// The most entries in the map.
    pub entries: usize,
    /// The most characters in a key; the least is one.
    pub key_chars: usize,
    /// The most characters in a value.
    pub value_chars: usize,
}

/// The members of one JSON object and the problems found in them.
#[derive(Debug)]
pub struct Fields<'v> {
    object: &'v Map<String, Value>,
    pointer: Pointer,
    known: Vec<&'static str>,
    ignored: Vec<&'static str>,
    /// Whether unknown members are accepted.
    open: bool,
    /// A member that may be missing although it is required.
    excused: Option<&'static str>,
    problems: Vec<Problem>,
    /// The time zone of times without an offset.
    zone: Zone,
}

impl<'v> Fields<'v> {
    /// The members of a request body, which must be an object.
    pub fn of(body: &'v Value) -> Result<Self, Vec<Problem>> {
        match body {
            Value::Object(object) => Ok(Self::at(object, Pointer::root(), Vec::new(), Zone::utc())),
            other => {
                let detail = format!("The body must be a JSON object, not {}.", kind(other));
                Err(vec![Problem { pointer: Pointer::root(), detail }])
            }
        }
    }

    /// The members of an object at this pointer of a larger document.
    pub fn of_object(object: &'v Map<String, Value>, pointer: Pointer) -> Self {
        Self::at(object, pointer, Vec::new(), Zone::utc())
    }

    /// Sets the time zone of times without an offset; UTC by default.
    #[must_use]
    pub fn in_zone(mut self, zone: &Zone) -> Self {
        self.zone = zone.clone();
        self
    }

    fn at(object: &'v Map<String, Value>, pointer: Pointer, problems: Vec<Problem>, zone: Zone) -> Self {
        Self {
            object,
            pointer,
            known: Vec::new(),
            ignored: Vec::new(),
            open: false,
            excused: None,
            problems,
            zone,
        }
    }

    /// A member of any type that implements [`FromJson`].
    pub fn get<T: FromJson>(&mut self, name: &'static str) -> Field<'_, 'v, T> {
        self.read(name, T::from_json)
    }

    /// A string of one line.
    pub fn text(&mut self, name: &'static str) -> Field<'_, 'v, String> {
        self.get(name)
    }

    /// A string that may have line breaks and tabs.
    pub fn multiline_text(&mut self, name: &'static str) -> Field<'_, 'v, String> {
        self.read(name, read_lines)
    }

    /// A whole number within these bounds.
    pub fn integer<T: FromJson + PartialOrd + Display>(
        &mut self,
        name: &'static str,
        allowed: RangeInclusive<T>,
    ) -> Field<'_, 'v, T> {
        self.read(name, |value| match T::from_json(value) {
            Ok(number) if allowed.contains(&number) => Ok(number),
            Err(refusal) if !is_whole(value) => Err(refusal),
            // The same message whether the type or the bounds were exceeded.
            _ => {
                let (least, most) = (allowed.start(), allowed.end());
                Err(format!("must be a whole number between {least} and {most}, not {value}").into())
            }
        })
    }

    /// A finite number, whole or not.
    pub fn number(&mut self, name: &'static str) -> Field<'_, 'v, f64> {
        self.get(name)
    }

    /// `true` or `false`; no other spelling.
    pub fn boolean(&mut self, name: &'static str) -> Field<'_, 'v, bool> {
        self.get(name)
    }

    /// A string that is parsed; `must_be` ends the sentence of a refusal: `an e-mail address`.
    pub fn parsed<T: std::str::FromStr>(
        &mut self,
        name: &'static str,
        must_be: &'static str,
    ) -> Field<'_, 'v, T> {
        self.text(name).convert(|text| text.parse().map_err(|_other| format!("must be {must_be}").into()))
    }

    /// An instant within the range of [`Timestamp`].
    pub fn instant(&mut self, name: &'static str) -> Field<'_, 'v, Timestamp> {
        self.when(name)
            .convert(|when| when.instant().ok_or_else(|| "must be before 9999-12-31T23:59:59Z".into()))
    }

    /// An instant, or a time in the far future that means "never".
    pub fn when(&mut self, name: &'static str) -> Field<'_, 'v, InstantOrNever> {
        let zone = self.zone.clone();
        self.read(name, |value| {
            let when = read_instant_or_never(text_of(value)?, &zone);
            when.ok_or_else(|| "must be a date and time such as \"2026-05-01T12:00:00Z\"".into())
        })
    }

    /// The JSON value itself, without a check.
    pub fn raw(&mut self, name: &'static str) -> Field<'_, 'v, &'v Value> {
        self.read(name, Ok)
    }

    /// An array whose number of items is in the range.
    pub fn array<T: FromJson>(
        &mut self,
        name: &'static str,
        items: RangeInclusive<usize>,
    ) -> Field<'_, 'v, Vec<T>> {
        self.items(name, &items, |fields, index, item| match T::from_json(item) {
            Ok(item) => Some(item),
            Err(refusal) => {
                fields.refuse_item(name, index, &refusal);
                None
            }
        })
    }

    /// An array of objects, each read by `read`; unknown members are refused in each.
    pub fn objects<T>(
        &mut self,
        name: &'static str,
        items: RangeInclusive<usize>,
        mut read: impl FnMut(&mut Fields<'v>) -> Option<T>,
    ) -> Field<'_, 'v, Vec<T>> {
        self.items(name, &items, |fields, index, item| match item {
            Value::Object(object) => {
                let pointer = fields.pointer.member(name).item(index);
                fields.within(object, pointer, &mut read)
            }
            other => {
                fields.refuse_item(name, index, &must_be("an object", other));
                None
            }
        })
    }

    /// An object, read by `read`; unknown members are refused in it too.
    pub fn object<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Fields<'v>) -> Option<T>,
    ) -> Field<'_, 'v, T> {
        let field = self.read(name, |value| value.as_object().ok_or_else(|| must_be("an object", value)));
        let Field { fields, name, state } = field;
        let state = match state {
            State::Good(object) => {
                let pointer = fields.pointer.member(name);
                fields.within(object, pointer, &mut read).map_or(State::Refused, State::Good)
            }
            State::Absent => State::Absent,
            State::Null => State::Null,
            State::Refused => State::Refused,
        };
        Field { fields, name, state }
    }

    /// An object of strings.
    pub fn string_map(
        &mut self,
        name: &'static str,
        limits: MapLimits,
    ) -> Field<'_, 'v, BTreeMap<String, String>> {
        let too_many = format!("must have at most {} members", limits.entries);
        self.object(name, |entries| {
            entries.open = true;
            if entries.object.len() > limits.entries {
                entries.problem(entries.pointer.clone(), format!("{} {too_many}.", quote(name)));
                return None;
            }
            let mut map = BTreeMap::new();
            for (key, value) in entries.object {
                let key_is_good = check_chars(key, &(1..=limits.key_chars)).and_then(|()| {
                    let control = key.chars().any(char::is_control);
                    (!control).then_some(()).ok_or_else(|| "must not contain control characters".into())
                });
                if let Err(refusal) = key_is_good {
                    entries
                        .problem(entries.pointer.member(key), format!("The name {} {refusal}.", quote(key)));
                }
                let text = read_lines(value)
                    .and_then(|text| check_chars(&text, &(0..=limits.value_chars)).map(|()| text));
                match text {
                    Ok(text) => drop(map.insert(key.clone(), text)),
                    Err(refusal) => {
                        entries.problem(entries.pointer.member(key), format!("{} {refusal}.", quote(key)));
                    }
                }
            }
            Some(map)
        })
    }

    /// Ignores these members, so that a client can send an answer back.
    pub fn ignore(&mut self, names: &[&'static str]) {
        self.ignored.extend_from_slice(names);
    }

    /// Lets this member be missing or null although it is required; it is then read as None.
    pub fn excuse(&mut self, name: &'static str) {
        self.excused = Some(name);
    }

    pub(super) fn is_excused(&self, name: &str) -> bool {
        self.excused == Some(name)
    }

    /// Whether the member is present, null or not.
    pub fn has(&self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// The members that were not read so far. The caller checks them; they are no longer refused as unknown.
    pub fn take_unknown(&mut self) -> Vec<(&'v str, &'v Value)> {
        self.open = true;
        self.unknown().collect()
    }

    /// Records a problem with a member, for rules between members: `is required when "expires" is true`.
    pub fn refuse(&mut self, name: &str, refusal: &str) {
        self.problem(self.pointer.member(name), sentence(&quote(name), refusal));
    }

    /// Records problems within a member; their pointers are relative to it.
    pub fn refuse_within(&mut self, name: &str, problems: impl IntoIterator<Item = Problem>) {
        let pointer = self.pointer.member(name);
        for problem in problems {
            self.problem(problem.pointer.below(&pointer), problem.detail);
        }
    }

    /// Gives all problems, or the result of `make`. `make` returns None only if a member did, which is a recorded
    /// problem.
    pub fn finish<T>(mut self, make: impl FnOnce() -> Option<T>) -> Result<T, Vec<Problem>> {
        self.refuse_unknown();
        if self.problems.is_empty() {
            match make() {
                Some(whole) => return Ok(whole),
                None => self.problem(self.pointer.clone(), "A required member is missing.".to_owned()),
            }
        }
        Err(self.problems)
    }

    pub(super) fn refuse_item(&mut self, name: &str, index: usize, refusal: &Refusal) {
        let pointer = self.pointer.member(name).item(index);
        self.problem(pointer, sentence(&format!("Item {index} of {}", quote(name)), refusal));
    }

    fn problem(&mut self, pointer: Pointer, detail: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { pointer, detail });
        }
    }

    fn read<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'v Value) -> Result<T, Refusal>,
    ) -> Field<'_, 'v, T> {
        self.known.push(name);
        let state = match self.object.get(name) {
            None => State::Absent,
            Some(Value::Null) => State::Null,
            Some(value) => match read(value) {
                Ok(value) => State::Good(value),
                Err(refusal) => {
                    self.refuse(name, &refusal);
                    State::Refused
                }
            },
        };
        Field { fields: self, name, state }
    }

    /// Reads an array item by item; the count is checked first, so that too many items are one problem.
    fn items<T>(
        &mut self,
        name: &'static str,
        count: &RangeInclusive<usize>,
        mut read: impl FnMut(&mut Self, usize, &'v Value) -> Option<T>,
    ) -> Field<'_, 'v, Vec<T>> {
        let array = self.read(name, |value| value.as_array().ok_or_else(|| must_be("an array", value)));
        let array = array.check(|items| {
            if count.contains(&items.len()) {
                return Ok(());
            }
            Err(format!("must have {} to {} items; it has {}", count.start(), count.end(), items.len())
                .into())
        });
        let Field { fields, name, state } = array;
        let state = match state {
            State::Good(array) => {
                let items: Vec<_> =
                    array.iter().enumerate().filter_map(|(index, item)| read(fields, index, item)).collect();
                if items.len() == array.len() { State::Good(items) } else { State::Refused }
            }
            State::Absent => State::Absent,
            State::Null => State::Null,
            State::Refused => State::Refused,
        };
        Field { fields, name, state }
    }

    /// Reads a nested object; its problems are added to those of this object.
    fn within<T>(
        &mut self,
        object: &'v Map<String, Value>,
        pointer: Pointer,
        read: &mut impl FnMut(&mut Fields<'v>) -> Option<T>,
    ) -> Option<T> {
        let problems = std::mem::take(&mut self.problems);
        let mut inner = Fields::at(object, pointer, problems, self.zone.clone());
        let made = read(&mut inner);
        inner.refuse_unknown();
        self.problems = inner.problems;
        made
    }

    fn unknown(&self) -> impl Iterator<Item = (&'v str, &'v Value)> {
        let expected = |name: &str| self.known.contains(&name) || self.ignored.contains(&name);
        self.object
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(move |(name, _)| !expected(name))
    }

    fn refuse_unknown(&mut self) {
        if self.open {
            return;
        }
        let unknown: Vec<&str> = self.unknown().map(|(name, _)| name).take(MOST_PROBLEMS).collect();
        for name in unknown {
            let guess = nearest(name, self.known.iter().copied().filter(|known| !self.has(known)));
            let hint = match guess {
                Some(known) => format!("; did you mean \"{known}\"?"),
                None => ". Leave it out.".to_owned(),
            };
            self.problem(self.pointer.member(name), format!("Unknown member {}{hint}", quote(name)));
        }
    }
}

/// A refusal as a sentence. One with a hint at its end is a question already.
fn sentence(subject: &str, refusal: &str) -> String {
    let end = if refusal.ends_with('?') { "" } else { "." };
    format!("{subject} {refusal}{end}")
}

#[cfg(test)]
mod tests;
