//! Limits what a user can grant to others to the user's own `from`, `expires` and `adminDevices`.

use perigee_core::access::user::{Bound, User, UserProfile};
use perigee_core::time::Timestamp;

use crate::http::prelude::*;

/// Copies the caller's `from` and `expires` to a new user who has none, unless the caller is an owner who does not
/// expire.
pub(in crate::http::routes) fn inherit_bounds(caller: &Caller, wanted: &mut UserProfile) {
    let own = &caller.user().profile;
    if own.is_lasting_owner(caller.now()) {
        return;
    }
    wanted.from = wanted.from.or(own.from);
    wanted.expires = wanted.expires.or(own.expires);
}

/// Refuses a new user whose bounds exceed those of the caller.
pub(in crate::http::routes) fn require_creatable(caller: &Caller, wanted: &UserProfile) -> ApiResult<()> {
    refuse(caller.user().profile.bound_exceeded_by(wanted, caller.now()))
}

/// Refuses a change that exceeds the caller's bounds, or that lifts the caller's own.
pub(in crate::http::routes) fn require_change_within_bounds(
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

/// Refuses to set the password of a user whose bounds exceed those of the caller: the caller could then sign in as that
/// user.
pub(in crate::http::routes) fn require_within_bounds(caller: &Caller, user: &User) -> ApiResult<()> {
    match caller.user().profile.bound_exceeded_by(&user.profile, caller.now()) {
        None => Ok(()),
        Some(bound) => Err(forbidden(format!(
            "This user's \"{}\" allows more than yours, so you cannot set their password. Ask an administrator \
             without this limit.",
            bound.member()
        ))),
    }
}

/// The error for a change of the caller's own bounds.
pub(in crate::http::routes) fn own_bounds() -> ApiError {
    forbidden(
        "You cannot change your own group, deviceId, privileges, adminDevices, from or expires. \
         Ask an administrator of the account.",
    )
}

fn refuse(exceeded: Option<Bound>) -> ApiResult<()> {
    let text = |instant: Timestamp| instant.to_string();
    let message = match exceeded {
        None => return Ok(()),
        Some(Bound::From(from)) => {
            format!("\"from\" cannot be before your own \"from\", {}.", text(from))
        }
        Some(Bound::Expires(expires)) => {
            format!("\"expires\" is required and cannot be after your own \"expires\", {}.", text(expires))
        }
        Some(Bound::AdminDevices(most)) => format!(
            "Your own \"adminDevices\" is {most}, so a user to whom you grant \"devices.write\" needs \
             \"adminDevices\": 0. Ask an administrator without this limit to grant more."
        ),
    };
    Err(forbidden(message))
}
