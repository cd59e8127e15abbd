//! Follows the log of locations and judges what arrives: alerts that locations carry, rules, and how devices are heard.
//!
//! Each round reads a part of an account's log after the commit that stored it, finds out what it means, and keeps all
//! of that in one transaction that also moves the cursor: a crash loses nothing and repeats nothing. A lease keeps
//! nodes from doing the same work; that none of it counts twice is the transaction's doing.
//!
//! A round is a slice of about 100 ms. Accounts take turns, so that one with much to judge does not hold up the others.

mod catch_up;
mod judge;
mod memory;
mod node;
mod round;
mod slice;
mod status;
mod turns;

pub use node::Follower;
