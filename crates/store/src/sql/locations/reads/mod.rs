//! Reading locations: histories, last locations, and the feed in order of arrival.

pub(crate) mod feed;
pub(super) mod last;
pub(super) mod last_list;
pub(super) mod of_devices;
pub(super) mod read;
pub(super) mod trails;
pub(super) mod window;
