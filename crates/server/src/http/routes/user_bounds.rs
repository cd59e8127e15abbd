//! Keeps what a user gives to others within the user's own `from`, `expires` and `adminDevices`.

use perigee_core::time::Timestamp;
use perigee_core::user::{Bound, User, UserProfile};

use crate::http::error::{ApiError, ApiResult, forbidden};
use crate::http::extract::Caller;

/// Gives a new user the validity of a creator who has bounds, where none was asked for.
pub(super) fn inherit_bounds(caller: &Caller, wanted: &mut UserProfile) {
    let own = &caller.user().profile;
    if own.is_lasting_owner(caller.now()) {
        return;
    }
    wanted.from = wanted.from.or(own.from);
    wanted.expires = wanted.expires.or(own.expires);
}

/// Refuses a new user who would reach further than the caller.
pub(super) fn require_creatable(caller: &Caller, wanted: &UserProfile) -> ApiResult<()> {
    refuse(caller.user().profile.bound_exceeded_by(wanted, caller.now()))
}

/// Refuses a change that gives somebody more than the caller's bounds allow, or that lifts the caller's own.
pub(super) fn require_change_within_bounds(
    caller: &Caller,
    present: &User,
    wanted: &UserProfile,
) -> ApiResult<()> {
    let (own, now) = (&caller.user().profile, caller.now());
    if present.id == caller.user_id() {
        return match present.profile.bound_lifted_by(wanted, now) {
            Some(_lifted) => Err(own_bounds()),
            None => Ok(()),
        };
    }
    refuse(own.bound_exceeded_by_change(&present.profile, wanted, now))
}

/// Refuses power over the password of somebody who reaches further than the caller: whoever sets it can sign in as
/// that user.
pub(super) fn require_within_bounds(caller: &Caller, user: &User) -> ApiResult<()> {
    match caller.user().profile.bound_exceeded_by(&user.profile, caller.now()) {
        None => Ok(()),
        Some(bound) => Err(forbidden(format!(
            "This user's \"{}\" allows more than yours, so you cannot set their password. Ask an administrator \
             without this limit.",
            bound.member()
        ))),
    }
}

/// Nobody lifts their own bounds.
pub(super) fn own_bounds() -> ApiError {
    forbidden(
        "You cannot change your own group, deviceId, privileges, adminDevices, from or expires. \
         Ask an administrator of the account.",
    )
}

fn refuse(exceeded: Option<Bound>) -> ApiResult<()> {
    let until = |instant: Timestamp| instant.to_string();
    let message = match exceeded {
        None => return Ok(()),
        Some(Bound::From(from)) => {
            format!("\"from\" cannot be before {}, your own \"from\".", until(from))
        }
        Some(Bound::Expires(expires)) => {
            format!("\"expires\" is required and cannot be after {}, your own \"expires\".", until(expires))
        }
        Some(Bound::AdminDevices(most)) => format!(
            "You may have at most {most} devices yourself (\"adminDevices\"), so users to whom you give \
             \"devices.write\" need \"adminDevices\": 0. Ask an administrator without this bound."
        ),
    };
    Err(forbidden(message))
}
