//! Reading far more than a client needs.

pub(crate) mod histories;
pub(crate) mod long_polls;
pub(crate) mod raw_messages;
pub(crate) mod reports;
pub(crate) mod share_viewers;
pub(crate) mod tiles;
