//! The value of one JSON member while it is validated.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;
use std::ops::RangeInclusive;

use super::fields::Fields;
use super::hint::{nearest, quote};
use super::pointer::Problem;
use super::value::{Refusal, check_chars};

pub(super) enum State<T> {
    /// The member is absent.
    Absent,
    /// The member is `null`.
    Null,
    /// The member was refused and its problem recorded.
    Refused,
    /// The member is valid so far.
    Good(T),
}

/// A member of a JSON object while it is validated. [`Self::required`], [`Self::optional`], [`Self::nullable`] or
/// [`Self::or`] give its value; problems are recorded in its [`Fields`].
#[must_use = "a member is checked only when it ends in required, optional, nullable or or"]
pub struct Field<'f, 'v, T> {
    pub(super) fields: &'f mut Fields<'v>,
    pub(super) name: &'static str,
    pub(super) state: State<T>,
}

impl<'f, 'v, T> Field<'f, 'v, T> {
    /// The value of a required member, not null. None means that a problem was recorded.
    pub fn required(self) -> Option<T> {
        match self.state {
            State::Absent | State::Null if self.fields.is_excused(self.name) => {}
            State::Absent => self.fields.refuse(self.name, "is required"),
            State::Null => self.fields.refuse(self.name, "is required and must not be null"),
            State::Refused => {}
            State::Good(value) => return Some(value),
        }
        None
    }

    /// The value of a member that may be absent but not null.
    pub fn optional(self) -> Option<T> {
        match self.state {
            State::Null => self.fields.refuse(self.name, "must not be null; leave it out instead"),
            State::Absent | State::Refused => {}
            State::Good(value) => return Some(value),
        }
        None
    }

    /// The value of a member that may be absent or null, with the same meaning.
    pub fn nullable(self) -> Option<T> {
        match self.state {
            State::Good(value) => Some(value),
            State::Absent | State::Null | State::Refused => None,
        }
    }

    /// The value of a member, or this default if it is absent. It must not be null.
    pub fn or(self, default: T) -> T {
        self.optional().unwrap_or(default)
    }

    /// Refuses a value for which `rule` gives a reason.
    pub fn check(self, rule: impl FnOnce(&T) -> Result<(), Refusal>) -> Self {
        self.convert(|value| rule(&value).map(|()| value))
    }

    /// Converts the value, or refuses it.
    pub fn convert<U>(self, make: impl FnOnce(T) -> Result<U, Refusal>) -> Field<'f, 'v, U> {
        let Self { fields, name, state } = self;
        let state = match state {
            State::Absent => State::Absent,
            State::Null => State::Null,
            State::Refused => State::Refused,
            State::Good(value) => match make(value) {
                Ok(value) => State::Good(value),
                Err(refusal) => {
                    fields.refuse(name, &refusal);
                    State::Refused
                }
            },
        };
        Field { fields, name, state }
    }
}

impl<'f, 'v, T> Field<'f, 'v, T> {
    /// Converts the value, or records the problems in it; their pointers are relative to it.
    pub fn convert_within<U>(self, make: impl FnOnce(T) -> Result<U, Vec<Problem>>) -> Field<'f, 'v, U> {
        let Self { fields, name, state } = self;
        let state = match state {
            State::Absent => State::Absent,
            State::Null => State::Null,
            State::Refused => State::Refused,
            State::Good(value) => match make(value) {
                Ok(value) => State::Good(value),
                Err(problems) => {
                    fields.refuse_within(name, problems);
                    State::Refused
                }
            },
        };
        Field { fields, name, state }
    }
}

impl<T: PartialOrd + Display> Field<'_, '_, T> {
    /// Refuses a value outside the range.
    pub fn range(self, allowed: RangeInclusive<T>) -> Self {
        self.check(|value| {
            if allowed.contains(value) {
                return Ok(());
            }
            Err(format!("must be between {} and {}, not {value}", allowed.start(), allowed.end()).into())
        })
    }
}

impl<'f, 'v> Field<'f, 'v, String> {
    /// Refuses a text with fewer or more characters; if at least one is needed, blanks alone are refused.
    pub fn chars(self, allowed: RangeInclusive<usize>) -> Self {
        self.check(|text| check_chars(text, &allowed))
    }

    /// Converts to lower case, for words that are matched ignoring case.
    pub fn lower_case(self) -> Self {
        self.convert(|text| Ok(text.to_ascii_lowercase()))
    }

    /// Converts one of these words to its value.
    pub fn one_of<T: Copy>(self, words: &[(&str, T)]) -> Field<'f, 'v, T> {
        self.convert(|text| {
            if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text) {
                return Ok(*meaning);
            }
            let list: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            let guess = nearest(&text, words.iter().map(|(word, _)| *word));
            let hint = guess.map_or(String::new(), |word| format!("; did you mean \"{word}\"?"));
            Err(format!("must be one of {}, not {}{hint}", list.join(", "), quote(&text)).into())
        })
    }
}

impl<T> Field<'_, '_, Vec<T>> {
    /// Refuses items for which `rule` gives a reason, each with its own pointer.
    pub fn each(self, rule: impl Fn(&T) -> Result<(), Refusal>) -> Self {
        self.refuse_items(|items| {
            items.iter().enumerate().filter_map(|(index, item)| Some((index, rule(item).err()?))).collect()
        })
    }

    fn refuse_items(mut self, find: impl FnOnce(&[T]) -> Vec<(usize, Refusal)>) -> Self {
        let State::Good(items) = &self.state else {
            return self;
        };
        let wrong = find(items);
        for (index, refusal) in &wrong {
            self.fields.refuse_item(self.name, *index, refusal);
        }
        if !wrong.is_empty() {
            self.state = State::Refused;
        }
        self
    }
}

impl<T: Eq + Hash> Field<'_, '_, Vec<T>> {
    /// Refuses items equal to an earlier one.
    pub fn unique(self) -> Self {
        self.refuse_items(|items| {
            let mut seen = HashSet::new();
            let repeated = items.iter().enumerate().filter(|(_, item)| !seen.insert(*item));
            repeated.map(|(index, _)| (index, "repeats an earlier item".into())).collect()
        })
    }
}
