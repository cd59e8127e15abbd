//! Tenants who create and change what costs the server work: rules, geofences, groups, drivers, plans.

pub(crate) mod drivers;
pub(crate) mod geofences;
pub(crate) mod groups;
pub(crate) mod maintenance;
pub(crate) mod plans;
pub(crate) mod refusals;
pub(crate) mod rules;
pub(crate) mod timelines;
