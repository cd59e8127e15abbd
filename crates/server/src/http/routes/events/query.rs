//! The filter of events in a query.

use std::collections::BTreeSet;
use std::iter::successors;
use std::str::FromStr;

use perigee_core::events::event::{EventFilter, EventKind};
use perigee_core::id::DeviceId;

use crate::http::extract::Params;

/// Takes `types` and `devices`, each a list separated by commas.
pub fn read_filter(params: &mut Params) -> EventFilter {
    let types = params.text("types");
    let mut kinds = BTreeSet::new();
    for name in types.iter().flat_map(|types| types.split(',')).map(str::trim) {
        let some = kinds_named(name);
        if some.is_empty() {
            let detail = format!(
                "\"{name}\" is not a type of event. Leave \"types\" out, or give types such as \"alert.created\" or \"device.*\"."
            );
            params.refuse("types", detail);
        }
        kinds.extend(some);
    }
    let ids = params.text("devices");
    let mut devices = BTreeSet::new();
    for id in ids.iter().flat_map(|ids| ids.split(',')).map(str::trim) {
        if let Ok(device) = DeviceId::from_str(id) {
            devices.insert(device);
        } else {
            let detail = format!(
                "\"{id}\" is not the ID of a device. Give IDs such as \"dev_01jc2m8k4n5p7\", separated by commas."
            );
            params.refuse("devices", detail);
        }
    }
    EventFilter { kinds, devices, ..EventFilter::default() }
}

/// The kinds that a name means: one, or all with the same beginning if it ends in `.*`.
pub fn kinds_named(name: &str) -> Vec<EventKind> {
    let is_named = |kind: &&EventKind| match name.strip_suffix('*') {
        Some(start) => start.ends_with('.') && kind.name().starts_with(start),
        None => kind.name() == name,
    };
    EventKind::ALL.iter().filter(is_named).copied().collect()
}

/// Every name that [`kinds_named`] accepts.
pub fn kind_names() -> BTreeSet<String> {
    fn family(name: &'static str) -> Option<&'static str> {
        name.rsplit_once('.').map(|(family, _)| family)
    }
    let names = EventKind::ALL.iter().map(|kind| kind.name());
    let families = names.clone().flat_map(|name| successors(family(name), |name| family(name)));
    let families = families.map(|family| format!("{family}.*"));
    names.map(str::to_owned).chain(families).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_kind_or_a_family() {
        assert_eq!(kinds_named("alert.created"), [EventKind::AlertCreated]);
        assert_eq!(kinds_named("group.*").len(), 3);
        assert_eq!(kinds_named("limit.*").len(), 2);
        for nothing in ["", "*", ".*", "alert", "alert.", "alert.cre*", "alert.createdx", "*.created"] {
            assert_eq!(kinds_named(nothing), [], "{nothing}");
        }
        for name in kind_names() {
            assert!(!kinds_named(&name).is_empty(), "{name}");
        }
    }
}
