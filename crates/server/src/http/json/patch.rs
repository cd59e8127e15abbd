//! Applies a patch: an object is a JSON Merge Patch (RFC 7396), an array a JSON Patch (RFC 6902). The work is
//! limited to a number of steps that depends on the sizes of the patch and the document.

mod cost;

use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, CopyOperation, MoveOperation, PatchErrorKind, PatchOperation, RemoveOperation,
    ReplaceOperation,
};
use serde_json::{Map, Value};

use self::cost::{Measured, allowed, charge_path, charge_shift, measure, same};
use super::hint::{nearest, quote};
use super::parse::MAX_DEPTH;
use super::pointer::{Pointer, Problem};
use super::value::kind;
use crate::budget::{OutOfSteps, Steps};

/// The operations of a JSON Patch, by their `op`.
pub const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];
/// The most operations one JSON Patch may have.
pub const OPERATIONS_MAX: usize = 1000;
/// About how many bytes the `copy` operations of one patch may add in total: repeated doubling would exhaust memory.
const COPIED_BYTES_MAX: usize = 1 << 20;

/// Why a patch was not applied. The document is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchProblem {
    /// The patch is malformed, or would nest the document too deeply.
    #[error("{0}")]
    Malformed(Problem),
    /// An operation names a path that the document does not have.
    #[error("{0}")]
    MissingPath(Problem),
    /// A `test` operation found another value.
    #[error("{0}")]
    TestFailed(Problem),
    /// The patch would take more work, or copy more, than is allowed for its size.
    #[error("{0}")]
    TooCostly(Problem),
}

impl PatchProblem {
    /// The problem and its pointer in the patch.
    pub fn problem(&self) -> &Problem {
        match self {
            Self::Malformed(problem)
            | Self::MissingPath(problem)
            | Self::TestFailed(problem)
            | Self::TooCostly(problem) => problem,
        }
    }
}

/// The patched document; all of the patch is applied, or none of it.
pub fn apply_patch(document: &Value, patch: &Value) -> Result<Value, PatchProblem> {
    apply_within(document, patch, &mut allowed(document, patch))
}

/// The same within `steps` steps. None if it would take more and must be done on a blocking thread by
/// [`apply_patch`].
pub fn apply_patch_at_once(
    document: &Value,
    patch: &Value,
    steps: u64,
) -> Option<Result<Value, PatchProblem>> {
    let mut steps = Steps::new(steps);
    measure(document, &mut steps).and_then(|_| measure(patch, &mut steps)).ok()?;
    match apply_within(document, patch, &mut steps) {
        Err(PatchProblem::TooCostly(_)) => None,
        applied => Some(applied),
    }
}

fn apply_within(document: &Value, patch: &Value, steps: &mut Steps) -> Result<Value, PatchProblem> {
    let mut patched = document.clone();
    match patch {
        // Visits each value of the patch once.
        Value::Object(_) => json_patch::merge(&mut patched, patch),
        Value::Array(operations) => apply_operations(&mut patched, operations, steps)?,
        other => {
            let detail = format!(
                "A patch must be an object (JSON Merge Patch) or an array of operations (JSON Patch), not {}.",
                kind(other)
            );
            return Err(PatchProblem::Malformed(Problem { pointer: Pointer::root(), detail }));
        }
    }
    Ok(patched)
}

fn apply_operations(
    document: &mut Value,
    operations: &[Value],
    steps: &mut Steps,
) -> Result<(), PatchProblem> {
    if operations.len() > OPERATIONS_MAX {
        let detail =
            format!("A patch must have at most {OPERATIONS_MAX} operations. Split it into several patches.");
        return Err(PatchProblem::TooCostly(Problem { pointer: Pointer::root(), detail }));
    }
    let mut copied = 0;
    for (index, operation) in operations.iter().enumerate() {
        let operation = Operation { index, body: operation };
        match operation.read()? {
            Step::Test { path, value } => operation.test(document, &path, value, steps)?,
            Step::Change(change) => {
                let placed = operation.charge(document, &change, steps)?;
                operation.check_growth(&change, placed, &mut copied)?;
                operation.change(document, &change)?;
            }
        }
    }
    Ok(())
}

enum Step<'p> {
    Test { path: PointerBuf, value: &'p Value },
    Change(PatchOperation),
}

/// One operation of a patch, and its index for error messages.
struct Operation<'p> {
    index: usize,
    body: &'p Value,
}

impl<'p> Operation<'p> {
    fn problem(&self, detail: &str) -> Problem {
        Problem {
            pointer: Pointer::root().item(self.index),
            detail: format!("Operation {} {detail}.", self.index),
        }
    }

    fn malformed(&self, detail: &str) -> PatchProblem {
        PatchProblem::Malformed(self.problem(detail))
    }

    fn missing(&self, path: &str) -> PatchProblem {
        PatchProblem::MissingPath(self.problem(&format!("names {}, which does not exist", quote(path))))
    }

    fn read(&self) -> Result<Step<'p>, PatchProblem> {
        let members = self.body.as_object().ok_or_else(|| self.malformed("must be an object"))?;
        let path = self.path(members, "path")?;
        let value = || {
            let value = members.get("value");
            value.ok_or_else(|| self.malformed("must have a \"value\""))
        };
        let change = match members.get("op").and_then(Value::as_str) {
            Some("test") => return Ok(Step::Test { path, value: value()? }),
            Some("add") => PatchOperation::Add(AddOperation { path, value: value()?.clone() }),
            Some("replace") => PatchOperation::Replace(ReplaceOperation { path, value: value()?.clone() }),
            Some("remove") => PatchOperation::Remove(RemoveOperation { path }),
            Some("move") => PatchOperation::Move(MoveOperation { from: self.path(members, "from")?, path }),
            Some("copy") => PatchOperation::Copy(CopyOperation { from: self.path(members, "from")?, path }),
            Some(other) => {
                let hint =
                    nearest(other, OPERATIONS).map_or(String::new(), |name| format!(", perhaps \"{name}\""));
                let detail = format!(
                    "must have an \"op\" that is one of {}{hint}, not {}",
                    OPERATIONS.join(", "),
                    quote(other)
                );
                return Err(self.malformed(&detail));
            }
            None => {
                return Err(
                    self.malformed(&format!("must have an \"op\" that is one of {}", OPERATIONS.join(", ")))
                );
            }
        };
        Ok(Step::Change(change))
    }

    fn path(&self, members: &Map<String, Value>, name: &str) -> Result<PointerBuf, PatchProblem> {
        let Some(text) = members.get(name).and_then(Value::as_str) else {
            return Err(self.malformed(&format!("must have a \"{name}\" that is a string")));
        };
        PointerBuf::parse(text).map_err(|_other| {
            let detail = format!(
                "must have a \"{name}\" that is a JSON pointer such as \"/name\", not {}",
                quote(text)
            );
            self.malformed(&detail)
        })
    }

    fn too_costly(&self, detail: &str) -> PatchProblem {
        PatchProblem::TooCostly(self.problem(detail))
    }

    fn out_of_steps(&self, _: OutOfSteps) -> PatchProblem {
        self.too_costly(
            "would take more work than a patch of this size may. Send fewer operations, or replace the array or object \
             they change as a whole",
        )
    }

    fn test(
        &self,
        document: &Value,
        path: &PointerBuf,
        expected: &Value,
        steps: &mut Steps,
    ) -> Result<(), PatchProblem> {
        let found = document.pointer(path.as_str()).ok_or_else(|| self.missing(path.as_str()))?;
        let paid = charge_path(path, steps).and_then(|()| same(found, expected, steps));
        if paid.map_err(|none_left| self.out_of_steps(none_left))? {
            return Ok(());
        }
        let detail = format!("expected another value at {}. Read the resource again", quote(path.as_str()));
        Err(PatchProblem::TestFailed(self.problem(&detail)))
    }

    /// Charges the steps of a change before it is made, and measures the value it adds.
    fn charge(
        &self,
        document: &Value,
        change: &PatchOperation,
        steps: &mut Steps,
    ) -> Result<Measured, PatchProblem> {
        let found =
            |from: &PointerBuf| document.pointer(from.as_str()).ok_or_else(|| self.missing(from.as_str()));
        let path = change.path();
        let (placed, from) = match change {
            PatchOperation::Add(operation) => (Some(&operation.value), None),
            PatchOperation::Replace(operation) => (Some(&operation.value), None),
            PatchOperation::Move(operation) => {
                let moved = found(&operation.from)?;
                // A value that is not moved deeper cannot increase the nesting.
                let goes_deeper = path.count() > operation.from.count();
                (goes_deeper.then_some(moved), Some(&operation.from))
            }
            PatchOperation::Copy(operation) => (Some(found(&operation.from)?), Some(&operation.from)),
            PatchOperation::Remove(_) | PatchOperation::Test(_) => (None, None),
        };
        let mut paid = || {
            charge_path(path, steps)?;
            charge_shift(document, path, steps)?;
            if let Some(from) = from {
                charge_path(from, steps)?;
                if matches!(change, PatchOperation::Move(_)) {
                    charge_shift(document, from, steps)?;
                }
            }
            // Charged twice: the value is measured and then cloned.
            let placed = placed.map(|placed| measure(placed, steps).and_then(|_| measure(placed, steps)));
            Ok(placed.transpose()?.unwrap_or_default())
        };
        paid().map_err(|none_left| self.out_of_steps(none_left))
    }

    /// Refuses a change that would nest the document too deeply or copy too much.
    fn check_growth(
        &self,
        change: &PatchOperation,
        placed: Measured,
        copied: &mut usize,
    ) -> Result<(), PatchProblem> {
        if matches!(change, PatchOperation::Copy(_)) {
            *copied = copied.saturating_add(placed.bytes);
            if *copied > COPIED_BYTES_MAX {
                return Err(self.too_costly("would make the document larger than allowed"));
            }
        }
        if placed.depth > 0 && change.path().count() + placed.depth > MAX_DEPTH {
            return Err(self.malformed(&format!("would nest the document more than {MAX_DEPTH} levels deep")));
        }
        Ok(())
    }

    fn change(&self, document: &mut Value, change: &PatchOperation) -> Result<(), PatchProblem> {
        // No undo log is needed: the document is a copy that is dropped on failure.
        json_patch::patch_unsafe(document, std::slice::from_ref(change)).map_err(|error| {
            match (error.kind, change) {
                (PatchErrorKind::CannotMoveInsideItself, _) => {
                    self.malformed("would move a value into itself")
                }
                (PatchErrorKind::InvalidFromPointer, PatchOperation::Move(operation)) => {
                    self.missing(operation.from.as_str())
                }
                _ => self.missing(change.path().as_str()),
            }
        })
    }
}

#[cfg(test)]
mod tests;
