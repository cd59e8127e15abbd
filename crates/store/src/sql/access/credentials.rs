//! The `Credentials` trait: keys, sessions, passwords, links and second factors.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{
    ApiKey, Identity, LinkPurpose, Login, NewLink, NewPassword, NewSession, SecretHash, Session, SigningKey,
    VerifiedTotp,
};
use perigee_core::access::user::User;
use perigee_core::id::{KeyId, SessionId, UserId};
use perigee_core::store::{Credentials, Result};
use perigee_core::text::Email;
use perigee_core::time::Timestamp;

use crate::database::Database;
use crate::sql::{
    access::api_keys, access::logins, access::passwords, access::sessions, access::signing_keys, access::totp,
};

#[async_trait]
impl Credentials for Database {
    async fn find_login(&self, email: &Email) -> Result<Option<Login>> {
        let email = email.clone();
        self.read_snapshot(move |tx| logins::find_by_email(tx, email).boxed()).await
    }

    async fn find_login_by_id(&self, user: UserId) -> Result<Option<Login>> {
        self.read_snapshot(move |tx| logins::find(tx, user).boxed()).await
    }

    async fn find_identity(&self, user: UserId) -> Result<Option<Identity>> {
        self.read_snapshot(move |tx| logins::identify(tx, user).boxed()).await
    }

    async fn put_api_key(&self, origin: &Origin, user: UserId, key: ApiKey) -> Result<()> {
        let origin = origin.clone();
        self.write(move |tx| api_keys::put(tx, origin, user, key).boxed()).await
    }

    async fn delete_api_key(&self, origin: &Origin, user: UserId) -> Result<bool> {
        let origin = origin.clone();
        self.write(move |tx| api_keys::delete(tx, origin, user).boxed()).await
    }

    async fn touch_api_key(&self, user: UserId, key: KeyId, at: Timestamp) -> Result<()> {
        self.write(move |tx| api_keys::touch(tx, user, key, at).boxed()).await
    }

    async fn create_session(&self, origin: &Origin, new: NewSession) -> Result<Session> {
        let origin = origin.clone();
        self.write(move |tx| sessions::create(tx, origin, new).boxed()).await
    }

    async fn find_session(&self, hash: &SecretHash) -> Result<Option<Session>> {
        let hash = *hash;
        self.read(move |tx| sessions::find(tx, hash).boxed()).await
    }

    async fn delete_session(&self, origin: &Origin, id: SessionId) -> Result<()> {
        let origin = origin.clone();
        self.write(move |tx| sessions::delete(tx, origin, id).boxed()).await
    }

    async fn set_password(
        &self,
        origin: &Origin,
        user: UserId,
        new: NewPassword,
        keep: Option<SessionId>,
    ) -> Result<()> {
        let origin = origin.clone();
        self.write(move |tx| passwords::set(tx, origin, user, new, keep).boxed()).await
    }

    async fn rehash_password(&self, user: UserId, old_hash: &str, new_hash: String) -> Result<()> {
        let old_hash = old_hash.to_owned();
        self.write(move |tx| passwords::rehash(tx, user, old_hash, new_hash).boxed()).await
    }

    async fn create_link(&self, origin: &Origin, new: NewLink) -> Result<()> {
        let origin = origin.clone();
        self.write(move |tx| passwords::create_link(tx, origin, new).boxed()).await
    }

    async fn mail_password_link(&self, origin: &Origin, user: UserId, purpose: LinkPurpose) -> Result<bool> {
        let origin = origin.clone();
        self.write(move |tx| passwords::mail_link(tx, origin, user, purpose).boxed()).await
    }

    async fn find_link(&self, hash: &SecretHash) -> Result<Option<User>> {
        let hash = *hash;
        self.read(move |tx| passwords::find_link(tx, hash).boxed()).await
    }

    async fn redeem_link(
        &self,
        origin: &Origin,
        hash: &SecretHash,
        new: NewPassword,
    ) -> Result<Option<UserId>> {
        let (origin, hash) = (origin.clone(), *hash);
        self.write(move |tx| passwords::redeem_link(tx, origin, hash, new).boxed()).await
    }

    async fn begin_totp(&self, user: UserId, secret: Vec<u8>) -> Result<()> {
        self.write(move |tx| totp::begin(tx, user, secret).boxed()).await
    }

    async fn confirm_totp(
        &self,
        origin: &Origin,
        user: UserId,
        proved: VerifiedTotp,
        keep: Option<SessionId>,
    ) -> Result<()> {
        let origin = origin.clone();
        self.write(move |tx| totp::confirm(tx, origin, user, proved, keep).boxed()).await
    }

    async fn delete_totp(&self, origin: &Origin, user: UserId) -> Result<()> {
        let origin = origin.clone();
        self.write(move |tx| totp::delete(tx, origin, user).boxed()).await
    }

    async fn use_totp_step(&self, user: UserId, step: i64) -> Result<bool> {
        self.write(move |tx| totp::use_step(tx, user, step).boxed()).await
    }

    async fn signing_keys(&self, fresh: SigningKey) -> Result<Vec<SigningKey>> {
        let known = self.list_signing_keys().await?;
        if !known.is_empty() {
            return Ok(known);
        }
        self.write(move |tx| signing_keys::list_or_keep(tx, fresh).boxed()).await
    }

    async fn list_signing_keys(&self) -> Result<Vec<SigningKey>> {
        self.read(move |tx| signing_keys::list(tx).boxed()).await
    }

    async fn rotate_signing_key(&self, fresh: SigningKey, old_until: Timestamp) -> Result<()> {
        self.write(move |tx| signing_keys::rotate(tx, fresh, old_until).boxed()).await
    }
}
