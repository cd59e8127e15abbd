//! The cost of a JSON Patch in steps, charged before each operation: values visited, copied and shifted.

use json_patch::jsonptr::Pointer;
use serde_json::Value;

use crate::budget::{OutOfSteps, Steps};

/// Steps allowed for any patch, however small: a few milliseconds.
const FLOOR: u64 = 1_000_000;
/// Further steps for each value, or 16 bytes of text, of the document and the patch.
const PER_VALUE: u64 = 4;
/// Bytes of text that cost one step.
const TEXT_STEP: usize = 16;
/// Bytes counted for a copied value besides its text.
const VALUE_BYTES: usize = 16;

/// The steps allowed for this patch on this document.
pub(super) fn allowed(document: &Value, patch: &Value) -> Steps {
    Steps::new(FLOOR + PER_VALUE * (size(document) + size(patch)))
}

/// The size of a value in steps.
fn size(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text_steps(text),
        Value::Array(items) => items.iter().map(size).fold(1, u64::saturating_add),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| text_steps(name).saturating_add(size(value)))
            .fold(1, u64::saturating_add),
    }
}

fn text_steps(text: &str) -> u64 {
    steps_of(text.len() / TEXT_STEP)
}

fn steps_of(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Depth and size of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// The nesting of arrays and objects.
    pub(super) depth: usize,
    /// Approximate size in bytes.
    pub(super) bytes: usize,
}

/// Measures a value and charges each step, so that measuring itself is limited.
pub(super) fn measure(value: &Value, steps: &mut Steps) -> Result<Measured, OutOfSteps> {
    let mut found = Measured { depth: 0, bytes: VALUE_BYTES };
    let mut inside = |name: &str, value: &Value, steps: &mut Steps| {
        steps.charge(text_steps(name))?;
        let inner = measure(value, steps)?;
        found.depth = found.depth.max(inner.depth + 1);
        found.bytes = found.bytes.saturating_add(name.len()).saturating_add(inner.bytes);
        Ok(())
    };
    steps.charge(1)?;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => {
            steps.charge(text_steps(text))?;
            found.bytes = found.bytes.saturating_add(text.len());
        }
        Value::Array(items) => {
            items.iter().try_for_each(|item| inside("", item, steps))?;
            found.depth = found.depth.max(1);
        }
        Value::Object(members) => {
            members.iter().try_for_each(|(name, member)| inside(name, member, steps))?;
            found.depth = found.depth.max(1);
        }
    }
    Ok(found)
}

/// Whether two values are equal by RFC 6902, which compares numbers by value, not by spelling. Charges each pair it
/// compares.
pub(super) fn same(left: &Value, right: &Value, steps: &mut Steps) -> Result<bool, OutOfSteps> {
    steps.charge(1)?;
    Ok(match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.is_f64() != right.is_f64() && left.as_f64() == right.as_f64())
        }
        (Value::String(left), Value::String(right)) => {
            steps.charge(text_steps(left))?;
            left == right
        }
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !same(left, right, steps)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Object(left), Value::Object(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (name, left) in left {
                steps.charge(text_steps(name))?;
                let Some(right) = right.get(name) else { return Ok(false) };
                if !same(left, right, steps)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => left == right,
    })
}

/// Charges the lookup of a path: its segments and its text.
pub(super) fn charge_path(path: &Pointer, steps: &mut Steps) -> Result<(), OutOfSteps> {
    steps.charge(steps_of(path.count()).saturating_add(text_steps(path.as_str())))
}

/// Charges the elements that shift when one is inserted into or removed from an array at this path.
pub(super) fn charge_shift(document: &Value, path: &Pointer, steps: &mut Steps) -> Result<(), OutOfSteps> {
    let Some((parent, last)) = path.split_back() else { return Ok(()) };
    let Some(Value::Array(items)) = document.pointer(parent.as_str()) else { return Ok(()) };
    let index = last.encoded().parse().unwrap_or(items.len());
    steps.charge(steps_of(items.len().saturating_sub(index)))
}
