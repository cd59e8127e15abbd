//! Validation results of the items of a body, and the answer that reports them.

use http::StatusCode;
use perigee_core::locations::location::Outcome;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::error::{ApiResult, invalid_body};
use crate::http::error_code::ErrorCode;
use crate::http::json::{Pointer, Problem};

/// The most problems listed when no item was valid.
const MOST_PROBLEMS: usize = 100;
/// The most problems of one item that are listed, so that the answer to 10,000 items has a few megabytes.
const NAMED_PROBLEMS: usize = 8;

/// The reason for which an item is not stored.
#[derive(Debug)]
pub struct ItemError {
    /// The stable name of the reason.
    pub code: &'static str,
    /// Problems by pointer; never empty.
    pub problems: Vec<Problem>,
}

/// The valid items of a body, and the rejections of the others.
#[derive(Debug)]
pub struct Batch<T> {
    /// The valid items, in the order they were sent.
    pub good: Vec<T>,
    /// The other items, with their index in the body.
    pub rejected: Vec<Rejection>,
}

/// Submitted item that was not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rejection {
    /// Index of the item in the request, counted from 0.
    #[schema(example = 3, minimum = 0, maximum = 9999)]
    index: usize,
    /// Reason for which the item was not stored: `invalid-location` or `invalid-alert` if a member is missing or
    /// invalid, `unknown-member` for an unknown array or object, `malformed-json` for a line that is not JSON.
    #[schema(value_type = RejectionCode, example = "invalid-location")]
    code: &'static str,
    /// Problems of the item, in sentences that say what is accepted.
    #[schema(example = "\"latitude\" must be between -90 and 90, not 91.")]
    error: String,
}

/// Reason for which an item was not stored. `invalid-location`: a member of the location is missing or invalid.
/// `invalid-alert`: a member of the alert is missing or invalid. `unknown-member`: the item has an unknown member that is
/// an array or an object. `malformed-json`: the line is not JSON.
#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
pub enum RejectionCode {
    /// A member of the location is missing or invalid.
    InvalidLocation,
    /// A member of the alert is missing or invalid.
    InvalidAlert,
    /// The item has an unknown member that is an array or an object.
    UnknownMember,
    /// The line is not JSON.
    MalformedJson,
}

/// Result of a submission: the number of items that were stored, and the reasons for which others were not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stored {
    /// Number of submitted items that are new and were stored.
    #[schema(example = 2, minimum = 0, maximum = 10000)]
    pub accepted: usize,
    /// Number of submitted items that had been stored before. They are not stored again.
    #[schema(example = 0, minimum = 0, maximum = 10000)]
    pub duplicates: usize,
    /// Submitted items that are invalid and were not stored, sorted by index.
    #[schema(max_items = 10000, example = json!([]))]
    pub rejected: Vec<Rejection>,
}

/// The items validated so far, in the order they were sent.
#[derive(Debug)]
pub(super) struct BatchBuilder<T> {
    batch: Batch<T>,
    problems: Vec<Problem>,
}

impl<T> BatchBuilder<T> {
    /// A batch without items.
    pub(super) const fn new() -> Self {
        Self { batch: Batch { good: Vec::new(), rejected: Vec::new() }, problems: Vec::new() }
    }

    /// How many items were validated.
    pub(super) const fn count(&self) -> usize {
        self.batch.good.len() + self.batch.rejected.len()
    }

    /// Reserves capacity for this many more items.
    pub(super) fn reserve(&mut self, more: usize) {
        self.batch.good.reserve_exact(more);
    }

    /// Adds the next item, which is valid.
    pub(super) fn push(&mut self, item: T) {
        self.batch.good.push(item);
    }

    /// Adds the next item, valid or not.
    pub(super) fn add(&mut self, validated: Result<T, ItemError>) {
        match validated {
            Ok(item) => self.push(item),
            Err(error) => {
                let rejection =
                    Rejection { index: self.count(), code: error.code, error: join(&error.problems) };
                self.batch.rejected.push(rejection);
                let room = MOST_PROBLEMS.saturating_sub(self.problems.len());
                self.problems.extend(error.problems.into_iter().take(room));
            }
        }
    }

    /// The batch; an error if no item is valid.
    pub(super) fn finish(self) -> ApiResult<Batch<T>> {
        if self.batch.good.is_empty() { Err(invalid_body(self.problems)) } else { Ok(self.batch) }
    }
}

/// The rejection of a line that is not JSON.
pub(super) fn malformed(problem: Problem, base: &Pointer) -> ItemError {
    let problem = Problem { pointer: problem.pointer.below(base), detail: problem.detail };
    ItemError { code: ErrorCode::MalformedJson.name(), problems: vec![problem] }
}

/// The first [`NAMED_PROBLEMS`] problems of an item, and the number of the others.
fn join(problems: &[Problem]) -> String {
    let mut named: Vec<&str> =
        problems.iter().take(NAMED_PROBLEMS).map(|problem| problem.detail.as_str()).collect();
    let others = problems.len().saturating_sub(NAMED_PROBLEMS);
    let rest = format!("{others} more.");
    if others > 0 {
        named.push(&rest);
    }
    named.join(" ")
}

impl Stored {
    /// Counts stored and duplicate items for the answer.
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

    /// 201 if something new was stored, else 200.
    pub fn status(&self) -> StatusCode {
        if self.accepted > 0 { StatusCode::CREATED } else { StatusCode::OK }
    }
}
