//! Accounts: licences, limits, usage and operators.

mod account;
mod licenses;
mod limits;
mod operator;
mod retention;
mod standing;
mod usage;
