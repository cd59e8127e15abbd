//! Everything that satellite networks and phones send, over real connections to a running server: recorded requests and
//! verified examples of every feed, on both engines.
//!
//! `vectors.jsonl` has what is not in the recordings of `crates/gateways/tests/fixtures`, in the same form; `options` are
//! those of the gateway, `alerts` the names of alerts, `wrong` headers with a wrong secret.

#[path = "../../../../../gateways/tests/golden/compare.rs"]
mod compare;
mod directip;
mod http;
mod request;
