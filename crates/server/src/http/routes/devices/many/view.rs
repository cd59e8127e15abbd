//! The report about many devices of one call.

use perigee_core::devices::new_devices::{NEW_DEVICES_MAX, NewDevices, RowOutcome, RowRefusal};
use perigee_core::id::DeviceId;

use super::examine::ExaminedRow;
use crate::http::prelude::*;

/// Problems of one row that are listed.
const PROBLEMS_OF_ROW: usize = 8;

/// Outcome of a row. `new`: a device is created for it, or would be. `existing`: a device has this identifier already,
/// and is left as it is. `invalid`: no device can be created for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// A device is created for the row, or would be.
    New,
    /// A device that the caller may see has this identifier already, and is left as it is.
    Existing,
    /// No device can be created for the row, and so for none.
    Invalid,
}

/// What happened to a row, or would happen.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RowReport {
    /// Position of the row among the rows of the body, counted from 0.
    #[schema(example = 0, minimum = 0, maximum = 4999)]
    pub(super) index: usize,
    /// Line of the body on which the row begins, counted from 1. Null for JSON arrays.
    #[schema(example = 2, minimum = 1)]
    line: Option<u64>,
    /// Whether a device was created for the row.
    pub(super) outcome: Outcome,
    /// ID of the device that was created, or that exists already. Null for an invalid row, and in a dry run for a new one.
    #[schema(value_type = Option<String>, example = "dev_01jc2m8k4n5p7")]
    id: Option<DeviceId>,
    /// Identifier in the row. Null if it has none, or if the row is not an object.
    #[schema(example = "300234010759001")]
    identifier: Option<String>,
    /// Name in the row. Null if it has none, or if the row is not an object.
    #[schema(example = "Northern Star")]
    name: Option<String>,
    /// Problems of an invalid row, in sentences that say what is accepted: at most 8. Empty for other rows.
    #[schema(max_items = 8, example = json!([]))]
    problems: Vec<String>,
}

/// Result of creating many devices, or of a dry run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewDevicesReport {
    /// Whether this was a dry run, which creates nothing.
    #[schema(example = false)]
    dry_run: bool,
    /// Number of devices that were created: all new ones, or 0 in a dry run.
    #[schema(example = 1, minimum = 0, maximum = 5000)]
    pub(super) created: usize,
    /// Number of rows for which a device is created, or would be.
    #[schema(example = 1, minimum = 0, maximum = 5000)]
    new: usize,
    /// Number of rows whose identifier a device has already.
    #[schema(example = 0, minimum = 0, maximum = 5000)]
    existing: usize,
    /// Number of rows for which no device can be created; always 0 unless this was a dry run.
    #[schema(example = 0, minimum = 0, maximum = 5000)]
    invalid: usize,
    /// Number of licences that the new devices use. Devices with an expiration date in the past use none.
    #[schema(example = 1, minimum = 0, maximum = 5000)]
    licenses_needed: u32,
    /// Number of licences that were free before. If fewer are free than needed, the request fails unless it is a dry run.
    #[schema(example = 10, minimum = 0)]
    licenses_free: u32,
    /// One report for each row, in the order of the body.
    #[schema(max_items = 5000)]
    rows: Vec<RowReport>,
}

const _: () = assert!(NEW_DEVICES_MAX == 5_000, "the schemas state this number");

/// The sentence for a row that the store refused.
fn sentence(refusal: &RowRefusal, line_of: impl Fn(usize) -> String) -> (&'static str, String) {
    match refusal {
        RowRefusal::Taken(identifier) => (
            "identifier",
            format!("Another device of the account has the identifier {identifier:?}. Use another one."),
        ),
        RowRefusal::Repeated { identifier, first } => (
            "identifier",
            format!("The identifier {identifier:?} is also in {}. Leave one out.", line_of(*first)),
        ),
        RowRefusal::UnknownGroup(group) => (
            "groups",
            format!("The account has no group with the ID {group}, or you may not see it. Check the ID."),
        ),
    }
}

/// Puts the outcomes of the store where the rows are that it examined. The others have problems already.
pub(super) fn report(
    rows: Vec<ExaminedRow>,
    outcome: &NewDevices,
    dry_run: bool,
) -> (NewDevicesReport, Vec<Problem>) {
    // The store counts only the rows that it was given.
    let given: Vec<(usize, Option<u64>)> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.problems.is_empty())
        .map(|(index, row)| (index, row.line))
        .collect();
    let place = |first: usize| match given.get(first) {
        Some((_, Some(line))) => format!("line {line}"),
        Some((index, None)) => format!("row {index}"),
        None => "another row".to_owned(),
    };
    let mut outcomes = outcome.rows.iter();
    let mut all = Vec::new();
    let mut reports = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        let at = Pointer::root().item(index);
        let mut problems = row.problems;
        let (mut id, mut is_present) = (None, false);
        if problems.is_empty() {
            match outcomes.next() {
                Some(RowOutcome::New(made)) => id = *made,
                Some(RowOutcome::Existing(present)) => (id, is_present) = (Some(*present), true),
                Some(RowOutcome::Refused(refusal)) => {
                    let (member, detail) = sentence(refusal, place);
                    problems.push(Problem { pointer: Pointer::root().member(member), detail });
                }
                None => {}
            }
        }
        let outcome = match (problems.is_empty(), is_present) {
            (false, _) => Outcome::Invalid,
            (true, true) => Outcome::Existing,
            (true, false) => Outcome::New,
        };
        let details = problems.iter().take(PROBLEMS_OF_ROW).map(|problem| problem.detail.clone()).collect();
        all.extend(problems.into_iter().map(|problem| Problem {
            pointer: problem.pointer.below(&at),
            detail: match row.line {
                Some(line) => format!("Line {line}: {}", problem.detail),
                None => format!("Row {index}: {}", problem.detail),
            },
        }));
        reports.push(RowReport {
            index,
            line: row.line,
            outcome,
            id,
            identifier: row.identifier,
            name: row.name,
            problems: details,
        });
    }
    let count = |wanted| reports.iter().filter(|report: &&RowReport| report.outcome == wanted).count();
    let (new, existing, invalid) = (count(Outcome::New), count(Outcome::Existing), count(Outcome::Invalid));
    let made = reports.iter().filter(|report| report.outcome == Outcome::New && report.id.is_some()).count();
    let report = NewDevicesReport {
        dry_run,
        created: made,
        new,
        existing,
        invalid,
        licenses_needed: outcome.licenses_needed,
        licenses_free: outcome.licenses_free,
        rows: reports,
    };
    (report, all)
}
