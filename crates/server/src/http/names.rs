//! Resolves devices and groups that a request names by identifier or name instead of id.

use std::collections::{BTreeMap, BTreeSet};

use perigee_core::id::{DeviceId, GroupId};
use perigee_core::text::NAME_MAX;
use serde_json::Value;

use super::error::{ApiResult, invalid_body};
use super::extract::{Caller, Params};
use super::json::{Pointer, Problem};
use crate::app::App;

/// The most names in one body; requests about more things must use ids.
const NAMES_MAX: usize = 1_000;

/// The kind of thing that a member names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// Devices, by identifier or by a name that only one has.
    Device,
    /// Groups, by a name that only one has.
    Group,
}

/// What a name resolves to.
enum Match {
    None,
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

    /// Whether a text is not an id.
    fn is_name(self, text: &str) -> bool {
        let is_id = match self {
            Self::Device => text.parse::<DeviceId>().is_ok(),
            Self::Group => text.parse::<GroupId>().is_ok(),
        };
        !is_id && !text.is_empty() && text.chars().count() <= NAME_MAX
    }

    /// The ids behind each of these names, among what the caller sees.
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
                for device in app.store.find_named_devices(caller.scope(), &names).await? {
                    by_name.entry(device.name).or_default().push(device.id.to_string());
                    by_identifier.extend(device.identifier.map(|text| (text, device.id.to_string())));
                }
            }
            Self::Group => {
                for (id, name) in app.store.find_named_groups(caller.scope(), &names).await? {
                    by_name.entry(name).or_default().push(id.to_string());
                }
            }
        }
        let stands_for = |name: String| {
            let found = match (by_identifier.get(&name), by_name.get(&name).map(Vec::as_slice)) {
                (Some(id), _) | (None, Some([id])) => Match::One(id.clone()),
                (None, Some([_, _, ..])) => Match::Several,
                (None, Some([]) | None) => Match::None,
            };
            (name, found)
        };
        Ok(names.into_iter().map(stands_for).collect())
    }
}

/// Replaces names by ids in these members of a body, each a string or an array of strings. An empty string means
/// none. Unknown names stay, and the body's reader refuses them.
pub async fn resolve_names(
    app: &App,
    caller: &Caller,
    body: &mut Value,
    members: &[(&'static str, Named)],
) -> ApiResult<()> {
    let Value::Object(object) = body else { return Ok(()) };
    let mut wanted: BTreeMap<Named, BTreeSet<String>> = BTreeMap::new();
    for (member, named) in members {
        let names = wanted.entry(*named).or_default();
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
            let detail = format!("\"{member}\" holds more than {NAMES_MAX} names. Give ids instead.");
            return Err(invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail }]));
        }
    }
    let mut known = BTreeMap::new();
    for (named, names) in wanted {
        known.insert(named, named.look_up(app, caller, names).await?);
    }
    let mut problems = Vec::new();
    for (member, named) in members {
        let place = Pointer::root().member(member);
        let Some(known) = known.get(named) else { continue };
        let mut put = |value: &mut Value, place: Pointer| {
            let Some(found) = value.as_str().and_then(|text| known.get(text)) else { return };
            match found {
                Match::None => {}
                Match::One(id) => *value = Value::String(id.clone()),
                Match::Several => problems.push(Problem { pointer: place, detail: several(value, *named) }),
            }
        };
        match object.get_mut(*member) {
            Some(Value::Array(items)) => {
                items.iter_mut().enumerate().for_each(|(index, item)| put(item, place.item(index)));
            }
            Some(value) => put(value, place),
            None => {}
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(invalid_body(problems)) }
}

fn several(name: &Value, named: Named) -> String {
    format!("Several {} are called {name}. Give the id of one.", named.plural())
}

/// Reads a query parameter that names a device by id, identifier or name.
pub async fn device_param(
    app: &App,
    caller: &Caller,
    params: &mut Params,
    name: &str,
) -> ApiResult<Option<DeviceId>> {
    let must_be = "the id, identifier or name of a device";
    Ok(param(app, caller, params, name, Named::Device, must_be).await?.and_then(|id| id.parse().ok()))
}

/// Reads a query parameter that names a group by id or name.
pub async fn group_param(
    app: &App,
    caller: &Caller,
    params: &mut Params,
    name: &str,
) -> ApiResult<Option<GroupId>> {
    let must_be = "the id or name of a group";
    Ok(param(app, caller, params, name, Named::Group, must_be).await?.and_then(|id| id.parse().ok()))
}

/// The id behind a parameter; None if it is empty.
async fn param(
    app: &App,
    caller: &Caller,
    params: &mut Params,
    name: &str,
    named: Named,
    must_be: &str,
) -> ApiResult<Option<String>> {
    let Some(text) = params.text(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    if !named.is_name(&text) && text.chars().count() <= NAME_MAX {
        return Ok(Some(text));
    }
    let mut found = named.look_up(app, caller, BTreeSet::from([text.clone()])).await?;
    match found.remove(&text) {
        Some(Match::One(id)) => return Ok(Some(id)),
        Some(Match::Several) => params.refuse(name, several(&Value::from(text), named)),
        Some(Match::None) | None => {
            params.refuse(name, format!("The parameter \"{name}\" must be {must_be}; there is none such."));
        }
    }
    Ok(None)
}
