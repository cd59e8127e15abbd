//! Checks the rows of a body one by one: the names of groups, and the settings of each device.

use std::collections::{BTreeMap, BTreeSet};

use perigee_core::devices::device::DeviceSettings;
use serde_json::json;

use super::super::input::read_device;
use super::rows::{Row, refused};
use crate::http::prelude::*;

/// Maximum number of identifiers in all rows of a body.
const IDENTIFIERS_MAX: usize = 10_000;
/// Maximum number of groups that all rows of a body name, each counted in every row.
const MEMBERSHIPS_MAX: usize = 20_000;
/// Characters of a name or identifier that are reported of a row which is not valid.
const SHOWN_MAX: usize = 200;

/// A row after its settings were checked.
#[derive(Debug)]
pub(super) struct ExaminedRow {
    pub(super) line: Option<u64>,
    /// The identifier in the row, for the report.
    pub(super) identifier: Option<String>,
    /// The name in the row, for the report.
    pub(super) name: Option<String>,
    /// Problems, with pointers within the row.
    pub(super) problems: Vec<Problem>,
}

/// The rows of a body, and the settings of those that are valid, in the same order.
#[derive(Debug)]
pub(super) struct Examined {
    pub(super) rows: Vec<ExaminedRow>,
    pub(super) settings: Vec<DeviceSettings>,
}

/// Every name or ID of a group in all rows, as the member `groups` of an object.
pub(super) fn groups_named(rows: &[Row]) -> Value {
    let groups = |row: &Row| row.value.as_ref().ok().and_then(|value| value.get("groups")).cloned();
    let named: BTreeSet<String> = rows
        .iter()
        .filter_map(groups)
        .filter_map(|groups| match groups {
            Value::Array(items) => Some(items),
            _ => None,
        })
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect();
    json!({ "groups": named })
}

/// Reads the settings of every row. `ids` has the ID of each group by its name.
pub(super) fn examine(rows: Vec<Row>, ids: &BTreeMap<String, String>) -> ApiResult<Examined> {
    let mut examined = Examined { rows: Vec::with_capacity(rows.len()), settings: Vec::new() };
    let (mut identifiers, mut memberships) = (0, 0);
    for Row { line, value } in rows {
        let shown = |member: &str| {
            let text = value.as_ref().ok()?.get(member)?.as_str()?;
            Some(text.chars().take(SHOWN_MAX).collect::<String>())
        };
        let (identifier, name) = (shown("identifier"), shown("name"));
        let read = value.map_err(|problem| vec![problem]).and_then(|mut device| {
            resolve(&mut device, ids);
            read_device(&device).map_err(|error| error.problems)
        });
        let problems = match read {
            Ok(settings) => {
                identifiers += settings.identifiers.len() + usize::from(settings.identifier.is_some());
                memberships += settings.groups.len();
                examined.settings.push(settings);
                Vec::new()
            }
            Err(problems) => problems,
        };
        examined.rows.push(ExaminedRow { line, identifier, name, problems });
    }
    if identifiers > IDENTIFIERS_MAX {
        return Err(refused(format!(
            "The devices have more than {IDENTIFIERS_MAX} identifiers in all. Send them in parts."
        )));
    }
    if memberships > MEMBERSHIPS_MAX {
        return Err(refused(format!(
            "The devices are in more than {MEMBERSHIPS_MAX} groups in all. Send them in parts."
        )));
    }
    Ok(examined)
}

/// Replaces names of groups by IDs.
fn resolve(device: &mut Value, ids: &BTreeMap<String, String>) {
    let Some(Value::Array(groups)) = device.get_mut("groups") else { return };
    for group in groups {
        if let Some(id) = group.as_str().and_then(|name| ids.get(name)) {
            *group = Value::String(id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: Value) -> Row {
        Row { line: None, value: Ok(value) }
    }

    #[test]
    fn each_row_has_its_own_problems() {
        let broken = Problem { pointer: Pointer::root(), detail: "not JSON".to_owned() };
        let rows = vec![
            row(json!({"name": "a", "identifier": "1", "groups": ["Boats"]})),
            row(json!({"identifier": 5, "name": "b"})),
            Row { line: Some(3), value: Err(broken) },
            row(json!(7)),
        ];
        assert_eq!(groups_named(&rows), json!({"groups": ["Boats"]}));
        let ids = BTreeMap::from([("Boats".to_owned(), "grp_01jc2m8k4n5p6".to_owned())]);
        let examined = examine(rows, &ids).unwrap();
        assert_eq!(examined.settings.len(), 1);
        assert_eq!(examined.settings[0].groups.len(), 1);
        let counts: Vec<usize> = examined.rows.iter().map(|row| row.problems.len()).collect();
        assert_eq!(counts, [0, 1, 1, 1]);
        assert_eq!(examined.rows[1].problems[0].pointer.as_str(), "/identifier");
        assert_eq!(examined.rows[1].name.as_deref(), Some("b"));
    }

    #[test]
    fn identifiers_and_groups_are_bounded_in_all() {
        let many = |index: usize| {
            let further: Vec<Value> =
                (0..20).map(|each| json!({"identifier": format!("{index}-{each}")})).collect();
            row(json!({"name": "a", "identifiers": further}))
        };
        assert!(examine((0..500).map(many).collect(), &BTreeMap::new()).is_ok());
        assert!(examine((0..501).map(many).collect(), &BTreeMap::new()).is_err());
    }
}
