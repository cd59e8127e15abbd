//! Passwords that one user sets for another. Everything else is validated before the password is hashed, which is
//! expensive.

use perigee_core::access::user::UserProfile;
use perigee_core::devices::device::DeviceRef;
use perigee_core::error::Unique;
use perigee_core::id::UserId;
use perigee_core::text::Email;
use secrecy::SecretString;
use tokio::sync::OnceCell;

use crate::http::prelude::*;

/// Whether a user other than `own` has this e-mail address.
pub(in crate::http::routes) async fn is_taken(
    app: &App,
    email: &Email,
    own: Option<UserId>,
) -> ApiResult<bool> {
    let holder = app.store.find_login(email).await?;
    Ok(holder.is_some_and(|login| Some(login.user.id) != own))
}

/// Checks what the store would refuse, before the password is hashed. The store checks it again.
pub(in crate::http::routes) async fn check_before_hash(
    app: &App,
    caller: &Caller,
    wanted: &UserProfile,
    own: Option<UserId>,
) -> ApiResult<Result<(), StoreError>> {
    let unknown = |kind, id| Ok(Err(StoreError::UnknownReference { kind, id }));
    if let Some(group) = wanted.group
        && app.store.find_group(caller.scope(), group).await?.is_none()
    {
        return unknown(Kind::Group, group.to_string());
    }
    if let Some(device) = wanted.device
        && app.store.find_device_id(caller.scope(), &DeviceRef::Id(device)).await?.is_none()
    {
        return unknown(Kind::Device, device.to_string());
    }
    if is_taken(app, &wanted.email, own).await? {
        return Ok(Err(StoreError::Taken(Unique::Email)));
    }
    Ok(Ok(()))
}

/// The hash of a new password, computed once even if the change is tried several times.
#[derive(Debug, Default)]
pub(in crate::http::routes) struct HashOnce(OnceCell<String>);

impl HashOnce {
    pub(in crate::http::routes) async fn get(
        &self,
        app: &App,
        caller: &Caller,
        password: SecretString,
    ) -> ApiResult<String> {
        let hash = || app.access.passwords.hash_for(caller.payer(), password);
        Ok(self.0.get_or_try_init(hash).await?.clone())
    }
}
