//! Attacks by gateways of feeds and by connections of trackers.

pub(crate) mod feed_bodies;
pub(crate) mod rubbish;
pub(crate) mod tarpit_feeds;
pub(crate) mod trackers;
