//! Resolves devices and groups that a request names by identifier or name instead of id.

use std::collections::{BTreeMap, BTreeSet};

use perigee_core::id::{DeviceId, GroupId};
use perigee_core::text::NAME_MAX;
use serde_json::Value;

use super::error::{ApiResult, invalid_body};
use super::extract::{Caller, Params};
use super::json::{Pointer, Problem};
use crate::app::App;

/// Maximum names in one body, to bound the lookup; larger requests must use ids.
const NAMES_MAX: usize = 1_000;

/// The kind of resource that a member or parameter refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A device, by identifier or by a name that only one device has.
    Device,
    /// A group, by a name that only one group has.
    Group,
}

/// The result of resolving a name.
enum Match {
    NotFound,
    One(String),
    Several,
}

impl Named {
    const fn plural(self) -> &'static str {
        match self {
            Self::Device => "devices",
            Self::Group => "groups",
        }
    }

    /// Whether a text has to be looked up: it is not an id, and it has the length of a name.
    fn is_name(self, text: &str) -> bool {
        let is_id = match self {
            Self::Device => text.parse::<DeviceId>().is_ok(),
            Self::Group => text.parse::<GroupId>().is_ok(),
        };
        !is_id && !text.is_empty() && text.chars().count() <= NAME_MAX
    }

    /// Resolves each of these names among the devices or groups that the caller can see. An identifier wins over a
    /// name.
    async fn look_up(
        self,
        app: &App,
        caller: &Caller,
        names: BTreeSet<String>,
    ) -> ApiResult<BTreeMap<String, Match>> {
        let names: Vec<String> = names.into_iter().collect();
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut by_identifier = BTreeMap::new();
        let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
        match self {
            Self::Device => {
                for device in app.store.list_named_devices(caller.scope(), &names).await? {
                    by_name.entry(device.name).or_default().push(device.id.to_string());
                    by_identifier.extend(device.identifier.map(|text| (text, device.id.to_string())));
                }
            }
            Self::Group => {
                for (id, name) in app.store.list_named_groups(caller.scope(), &names).await? {
                    by_name.entry(name).or_default().push(id.to_string());
                }
            }
        }
        let resolve = |name: String| {
            let found = match (by_identifier.get(&name), by_name.get(&name).map(Vec::as_slice)) {
                (Some(id), _) | (None, Some([id])) => Match::One(id.clone()),
                (None, Some([_, _, ..])) => Match::Several,
                (None, Some([]) | None) => Match::NotFound,
            };
            (name, found)
        };
        Ok(names.into_iter().map(resolve).collect())
    }
}

/// Replaces names by ids in these members of a body, each a string or an array of strings. An empty string becomes
/// null. Unknown names are left in the body, and reading it rejects them as invalid ids.
pub async fn resolve_names(
    app: &App,
    caller: &Caller,
    body: &mut Value,
    members: &[(&'static str, Named)],
) -> ApiResult<()> {
    let Value::Object(object) = body else { return Ok(()) };
    let mut to_look_up: BTreeMap<Named, BTreeSet<String>> = BTreeMap::new();
    for (member, named) in members {
        let names = to_look_up.entry(*named).or_default();
        match object.get_mut(*member) {
            Some(Value::String(text)) if text.is_empty() => {
                drop(object.insert((*member).to_owned(), Value::Null));
            }
            Some(Value::String(text)) if named.is_name(text) => drop(names.insert(text.clone())),
            Some(Value::Array(items)) => {
                let texts = items.iter().filter_map(Value::as_str).filter(|text| named.is_name(text));
                names.extend(texts.map(str::to_owned));
            }
            _ => {}
        }
        if names.len() > NAMES_MAX {
            let detail = format!("\"{member}\" has more than {NAMES_MAX} names. Use IDs instead.");
            return Err(invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail }]));
        }
    }
    let mut resolved = BTreeMap::new();
    for (named, names) in to_look_up {
        resolved.insert(named, named.look_up(app, caller, names).await?);
    }
    let mut problems = Vec::new();
    for (member, named) in members {
        let pointer = Pointer::root().member(member);
        let Some(matches) = resolved.get(named) else { continue };
        let mut replace = |value: &mut Value, pointer: Pointer| {
            let Some(found) = value.as_str().and_then(|text| matches.get(text)) else { return };
            match found {
                Match::NotFound => {}
                Match::One(id) => *value = Value::String(id.clone()),
                Match::Several => problems.push(Problem { pointer, detail: ambiguous(value, *named) }),
            }
        };
        match object.get_mut(*member) {
            Some(Value::Array(items)) => {
                items.iter_mut().enumerate().for_each(|(index, item)| replace(item, pointer.item(index)));
            }
            Some(value) => replace(value, pointer),
            None => {}
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(invalid_body(problems)) }
}

/// The error for a name that several devices or groups have.
fn ambiguous(name: &Value, named: Named) -> String {
    format!("Several {} have the name {name}. Use the ID of one of them.", named.plural())
}

/// Reads a query parameter that names a device by id, identifier or name.
pub async fn device_param(
    app: &App,
    caller: &Caller,
    params: &mut Params,
    name: &str,
) -> ApiResult<Option<DeviceId>> {
    let must_be = "the ID, identifier or name of a device";
    Ok(param(app, caller, params, name, Named::Device, must_be).await?.and_then(|id| id.parse().ok()))
}

/// Reads a query parameter that names a group by id or name.
pub async fn group_param(
    app: &App,
    caller: &Caller,
    params: &mut Params,
    name: &str,
) -> ApiResult<Option<GroupId>> {
    let must_be = "the ID or name of a group";
    Ok(param(app, caller, params, name, Named::Group, must_be).await?.and_then(|id| id.parse().ok()))
}

/// The id that a parameter gives or resolves to; None if the parameter is missing, empty or refused.
async fn param(
    app: &App,
    caller: &Caller,
    params: &mut Params,
    name: &str,
    named: Named,
    must_be: &str,
) -> ApiResult<Option<String>> {
    let Some(text) = params.text(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let is_id = !named.is_name(&text) && text.chars().count() <= NAME_MAX;
    if is_id {
        return Ok(Some(text));
    }
    let mut found = named.look_up(app, caller, BTreeSet::from([text.clone()])).await?;
    match found.remove(&text) {
        Some(Match::One(id)) => return Ok(Some(id)),
        Some(Match::Several) => params.refuse(name, ambiguous(&Value::from(text), named)),
        Some(Match::NotFound) | None => {
            params.refuse(name, format!("The parameter \"{name}\" must be {must_be} that you may see."));
        }
    }
    Ok(None)
}
