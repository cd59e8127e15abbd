//! The `Credentials` trait: keys, sessions, passwords, links and second factors.

use futures_util::FutureExt as _;
use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{
    ApiKey, Identity, LinkPurpose, Login, NewLink, NewPassword, NewSession, SecretHash, Session,
    SignInAddress, SigningKey, VerifiedTotp,
};
use perigee_core::access::user::User;
use perigee_core::id::{KeyId, SessionId, UserId};
use perigee_core::store::{Credentials, Result};
use perigee_core::text::Email;
use perigee_core::time::Timestamp;

use crate::database::Database;
use crate::forward::forward;
use crate::sql::access::signing_keys::Keys;
use crate::sql::{
    access::api_keys, access::logins, access::passwords, access::sessions, access::signing_keys, access::totp,
};

async fn signing_keys(database: &Database, fresh: SigningKey) -> Result<Vec<SigningKey>> {
    let known = database.list_signing_keys().await?;
    if !known.is_empty() {
        return Ok(known);
    }
    database.write(move |tx| signing_keys::list_or_keep(tx, Keys::Tokens, fresh).boxed()).await
}

forward! {
    impl Credentials for Database {
        read_snapshot find_login(&self, &email: Email) -> Option<Login> = logins::find_by_email;
        read_snapshot find_login_by_id(&self, user: UserId) -> Option<Login> = logins::find;
        read_snapshot find_identity(&self, user: UserId) -> Option<Identity> = logins::identify;
        write put_api_key(&self, &origin: Origin, user: UserId, key: ApiKey) -> () = api_keys::put;
        write delete_api_key(&self, &origin: Origin, user: UserId) -> bool = api_keys::delete;
        write touch_api_key(&self, user: UserId, key: KeyId, at: Timestamp) -> () = api_keys::touch;
        write create_session(&self, &origin: Origin, new: NewSession) -> Session = sessions::create;
        read find_session(&self, &hash: SecretHash) -> Option<Session> = sessions::find;
        read list_sign_in_addresses(&self, limit: u32) -> Vec<SignInAddress> = sessions::list_addresses;
        write delete_session(&self, &origin: Origin, id: SessionId) -> () = sessions::delete;
        write set_password(&self, &origin: Origin, user: UserId, new: NewPassword, keep: Option<SessionId>)
            -> () = passwords::set;
        write rehash_password(&self, user: UserId, &old_hash: str, new_hash: String)
            -> () = passwords::rehash;
        write create_link(&self, &origin: Origin, new: NewLink) -> () = passwords::create_link;
        write mail_password_link(&self, &origin: Origin, user: UserId, purpose: LinkPurpose)
            -> bool = passwords::mail_link;
        read find_link(&self, &hash: SecretHash) -> Option<User> = passwords::find_link;
        write redeem_link(&self, &origin: Origin, &hash: SecretHash, new: NewPassword)
            -> Option<UserId> = passwords::redeem_link;
        write begin_totp(&self, user: UserId, secret: Vec<u8>) -> () = totp::begin;
        write confirm_totp(
            &self, &origin: Origin, user: UserId, proved: VerifiedTotp, keep: Option<SessionId>
        ) -> () = totp::confirm;
        write delete_totp(&self, &origin: Origin, user: UserId) -> () = totp::delete;
        write use_totp_step(&self, user: UserId, step: i64) -> bool = totp::use_step;
        run signing_keys(&self, fresh: SigningKey) -> Vec<SigningKey> = signing_keys;
        read list_signing_keys(&self) -> Vec<SigningKey> = signing_keys::list(Keys::Tokens);
        write rotate_signing_key(&self, fresh: SigningKey, old_until: Timestamp)
            -> () = signing_keys::rotate(Keys::Tokens, fresh, old_until);
    }
}
