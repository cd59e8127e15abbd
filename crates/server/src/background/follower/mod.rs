//! Follows the log of locations and judges what arrives: alerts that locations carry, rules, and how devices are heard.
//!
//! Each round reads a part of an account's log after the commit that stored it, finds out what it means, and keeps all
//! of that in one transaction that also moves the cursor: a crash loses nothing and repeats nothing. A lease keeps
//! nodes from doing the same work; that none of it counts twice is the transaction's doing.

mod catch_up;
mod judge;
mod memory;
mod node;
mod round;
mod status;

pub use node::Follower;
