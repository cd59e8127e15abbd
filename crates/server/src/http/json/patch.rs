//! Applies a patch by its shape: an object is a JSON Merge Patch (RFC 7396), an array a JSON Patch (RFC 6902).

use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, CopyOperation, MoveOperation, PatchErrorKind, PatchOperation, RemoveOperation,
    ReplaceOperation,
};
use serde_json::{Map, Value};

use super::hint::{nearest, quote};
use super::parse::MAX_DEPTH;
use super::pointer::{Pointer, Problem};
use super::value::kind;

/// Operations a JSON Patch may have.
const MOST_OPERATIONS: usize = 1000;
/// How much `copy` may add to a document in all, in bytes or so. Doubling would fill any memory.
const MOST_COPIED: usize = 1 << 20;

/// Why a patch was not applied. The document is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchProblem {
    /// The patch is none, or would make too much of the document.
    #[error("{0}")]
    Malformed(Problem),
    /// An operation names a place that the document does not have.
    #[error("{0}")]
    MissingPath(Problem),
    /// A `test` operation found another value.
    #[error("{0}")]
    TestFailed(Problem),
}

impl PatchProblem {
    /// What is wrong and where in the patch.
    pub fn problem(&self) -> &Problem {
        match self {
            Self::Malformed(problem) | Self::MissingPath(problem) | Self::TestFailed(problem) => problem,
        }
    }
}

/// The document as the patch makes it: all of the patch is applied, or none of it.
pub fn apply_patch(document: &Value, patch: &Value) -> Result<Value, PatchProblem> {
    let mut patched = document.clone();
    match patch {
        Value::Object(_) => json_patch::merge(&mut patched, patch),
        Value::Array(operations) => apply_operations(&mut patched, operations)?,
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

fn apply_operations(document: &mut Value, operations: &[Value]) -> Result<(), PatchProblem> {
    if operations.len() > MOST_OPERATIONS {
        let detail = format!("A patch must have at most {MOST_OPERATIONS} operations. Send several patches.");
        return Err(PatchProblem::Malformed(Problem { pointer: Pointer::root(), detail }));
    }
    let mut copied = 0;
    for (index, operation) in operations.iter().enumerate() {
        let operation = Operation { index, body: operation };
        match operation.read()? {
            Step::Test { path, value } => operation.test(document, &path, value)?,
            Step::Change(change) => {
                operation.check_growth(document, &change, &mut copied)?;
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

/// One operation of a patch, and where it stands, which its problems name.
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
        const NAMES: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];
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
                    nearest(other, NAMES).map_or(String::new(), |name| format!(", perhaps \"{name}\""));
                let detail =
                    format!("must have an \"op\" of {}{hint}, not {}", NAMES.join(", "), quote(other));
                return Err(self.malformed(&detail));
            }
            None => return Err(self.malformed(&format!("must have an \"op\" of {}", NAMES.join(", ")))),
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

    fn test(&self, document: &Value, path: &PointerBuf, expected: &Value) -> Result<(), PatchProblem> {
        let found = document.pointer(path.as_str()).ok_or_else(|| self.missing(path.as_str()))?;
        if same(found, expected) {
            return Ok(());
        }
        let detail =
            format!("tested {} and found another value. Read the resource again", quote(path.as_str()));
        Err(PatchProblem::TestFailed(self.problem(&detail)))
    }

    /// Refuses what would nest the document beyond what a body may be, or copy it full.
    fn check_growth(
        &self,
        document: &Value,
        change: &PatchOperation,
        copied: &mut usize,
    ) -> Result<(), PatchProblem> {
        let at =
            |from: &PointerBuf| document.pointer(from.as_str()).ok_or_else(|| self.missing(from.as_str()));
        let placed = match change {
            PatchOperation::Add(operation) => &operation.value,
            PatchOperation::Replace(operation) => &operation.value,
            PatchOperation::Move(operation) => at(&operation.from)?,
            PatchOperation::Copy(operation) => {
                let source = at(&operation.from)?;
                *copied = copied.saturating_add(weight(source));
                if *copied > MOST_COPIED {
                    return Err(self.malformed("would copy more than a document may hold"));
                }
                source
            }
            PatchOperation::Remove(_) | PatchOperation::Test(_) => return Ok(()),
        };
        if change.path().count() + depth(placed) > MAX_DEPTH {
            return Err(self.malformed(&format!("would nest the document more than {MAX_DEPTH} levels deep")));
        }
        Ok(())
    }

    fn change(&self, document: &mut Value, change: &PatchOperation) -> Result<(), PatchProblem> {
        // Without an undo log: the document is a copy that a failure throws away.
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

/// Whether two values are equal as RFC 6902 has it: numbers by what they are worth, not by how they are written.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.is_f64() != right.is_f64() && left.as_f64() == right.as_f64())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

/// About how many bytes a value takes.
fn weight(value: &Value) -> usize {
    const EACH: usize = 16;
    EACH + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + weight(value)).sum(),
    }
}

/// How deeply arrays and objects lie in each other.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
