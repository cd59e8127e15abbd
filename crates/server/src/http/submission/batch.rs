//! Items judged one by one, and the answer that says what became of each.

use http::StatusCode;
use perigee_core::location::Outcome;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::code::Code;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::{Pointer, Problem};

/// Problems listed when nothing could be stored.
const MOST_PROBLEMS: usize = 100;

/// Why an item is not stored.
#[derive(Debug)]
pub struct ItemError {
    /// The stable name of the reason.
    pub code: &'static str,
    /// What is wrong where; never empty.
    pub problems: Vec<Problem>,
}

/// The good items of a body, and why the others are none.
#[derive(Debug)]
pub struct Batch<T> {
    /// What can be stored, in the order it was sent.
    pub good: Vec<T>,
    /// What cannot.
    pub rejected: Vec<Rejection>,
}

/// An item that was not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rejection {
    /// Its place among the items sent, from 0.
    #[schema(example = 3, minimum = 0, maximum = 9999)]
    index: usize,
    /// Why, by a stable name: `invalid-location` or `invalid-alert` for a member that is missing or wrong,
    /// `unknown-member` for an array or object nobody knows, `malformed-json` for a line that is not JSON.
    #[schema(value_type = RejectionCode, example = "invalid-location")]
    code: &'static str,
    /// A sentence for a person that says what to change.
    #[schema(example = "\"latitude\" must be between -90 and 90, not 91.")]
    error: String,
}

/// Why an item was not stored.
#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
pub enum RejectionCode {
    /// A member of a location is missing or wrong.
    InvalidLocation,
    /// A member of an alert is missing or wrong.
    InvalidAlert,
    /// An array or object that nobody knows.
    UnknownMember,
    /// The line is not JSON.
    MalformedJson,
}

/// What became of the items of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stored {
    /// How many are new and kept.
    #[schema(example = 2, minimum = 0, maximum = 10000)]
    pub accepted: usize,
    /// How many were there already.
    #[schema(example = 0, minimum = 0, maximum = 10000)]
    pub duplicates: usize,
    /// Those that were not stored, by their place.
    #[schema(max_items = 10000, example = json!([]))]
    pub rejected: Vec<Rejection>,
}

/// Items judged so far, in the order they were sent.
#[derive(Debug)]
pub(super) struct Judged<T> {
    batch: Batch<T>,
    problems: Vec<Problem>,
}

impl<T> Judged<T> {
    /// None yet.
    pub(super) const fn new() -> Self {
        Self { batch: Batch { good: Vec::new(), rejected: Vec::new() }, problems: Vec::new() }
    }

    /// How many were judged.
    pub(super) const fn count(&self) -> usize {
        self.batch.good.len() + self.batch.rejected.len()
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.batch.good.reserve_exact(more);
    }

    /// Adds the next item, which is good.
    pub(super) fn push(&mut self, item: T) {
        self.batch.good.push(item);
    }

    /// Adds the next item, good or not.
    pub(super) fn add(&mut self, judged: Result<T, ItemError>) {
        match judged {
            Ok(item) => self.push(item),
            Err(error) => {
                let rejection =
                    Rejection { index: self.count(), code: error.code, error: in_short(&error.problems) };
                self.batch.rejected.push(rejection);
                let room = MOST_PROBLEMS.saturating_sub(self.problems.len());
                self.problems.extend(error.problems.into_iter().take(room));
            }
        }
    }

    /// All of them; refused when none is good.
    pub(super) fn finish(self) -> ApiResult<Batch<T>> {
        if self.batch.good.is_empty() { Err(invalid_body(self.problems)) } else { Ok(self.batch) }
    }
}

/// A line that is not JSON, at this place.
pub(super) fn malformed(problem: Problem, place: &Pointer) -> ItemError {
    let problem = Problem { pointer: problem.pointer.below(place), detail: problem.detail };
    ItemError { code: Code::MalformedJson.name(), problems: vec![problem] }
}

fn in_short(problems: &[Problem]) -> String {
    match problems {
        [] => String::new(),
        [only] => only.detail.clone(),
        [first, _] => format!("{} There is another problem.", first.detail),
        [first, rest @ ..] => format!("{} There are {} more problems.", first.detail, rest.len()),
    }
}

impl Stored {
    /// Sums up.
    pub fn of(outcomes: impl IntoIterator<Item = Outcome>, rejected: Vec<Rejection>) -> Self {
        let mut stored = Self { accepted: 0, duplicates: 0, rejected };
        for outcome in outcomes {
            match outcome {
                Outcome::Accepted => stored.accepted += 1,
                Outcome::Duplicate => stored.duplicates += 1,
            }
        }
        stored
    }

    /// 201 when something new is kept, else 200.
    pub fn status(&self) -> StatusCode {
        if self.accepted > 0 { StatusCode::CREATED } else { StatusCode::OK }
    }
}
