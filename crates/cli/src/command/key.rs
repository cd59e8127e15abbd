//! `perigee key`: API keys and the key that signs tokens. A running server applies changes within five seconds.

use anyhow::{Result, bail};
use perigee_core::access::actor::Origin;
use perigee_core::access::credential::ApiKey as StoredApiKey;
use perigee_core::access::privilege::Privilege;
use perigee_core::id::KeyId;
use perigee_core::text::Email;
use perigee_notify::push::PushKey;
use perigee_server::auth::api_key::ApiKey;
use perigee_server::auth::signing::SigningKey;
use perigee_server::config::Config;
use serde::Serialize;

use super::open::Opened;
use crate::args::{Common, KeyCommand};
use crate::output::{Answer, print};
use crate::settings;

/// Runs a `key` subcommand.
pub(crate) async fn run(common: &Common, command: KeyCommand) -> Result<()> {
    let config = settings::load(common, Vec::new())?;
    match command {
        KeyCommand::Issue { email } => print(&issue(&config, &email).await?, common.json),
        KeyCommand::RotateSigning { at_once } => print(&rotate(&config, at_once).await?, common.json),
        KeyCommand::RotatePush { at_once } => print(&rotate_push(&config, at_once).await?, common.json),
        KeyCommand::Revoke { email } => print(&revoke(&config, &email).await?, common.json),
    }
}

/// The result of `key issue`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Issued {
    user_id: String,
    email: String,
    api_key: String,
}

impl Answer for Issued {
    fn in_words(&self) -> String {
        format!("user name  {}\nAPI key    {}\n\nThe key is shown only now.", self.email, self.api_key)
    }
}

/// Issues a new API key, which replaces the old one of the user.
async fn issue(config: &Config, email: &Email) -> Result<Issued> {
    let opened = Opened::existing(config).await?;
    let user = opened.login(email).await?.user;
    if !user.profile.privileges.allows(Privilege::Api) {
        bail!("{} may not have an API key; give the user the privilege \"api\" first", email.as_str());
    }
    let key = ApiKey::generate();
    let stored = StoredApiKey {
        id: KeyId::random(opened.now()),
        hash: *key.hash().as_bytes(),
        hint: key.hint().to_owned(),
        creation: opened.now(),
        last_used: None,
    };
    opened.store().put_api_key(&Origin::command(), user.id, stored).await?;
    opened.close().await;
    Ok(Issued {
        user_id: user.id.to_string(),
        email: user.profile.email.as_str().to_owned(),
        api_key: key.expose().to_owned(),
    })
}

/// Seconds that an old signing key stays valid beyond the lifetime of its tokens: servers sign with it until they
/// notice the new one, and their clocks may differ.
const OLD_KEY_MARGIN_S: i64 = 60;

/// The result of `key rotate-signing` and `key rotate-push`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rotated {
    key_id: String,
    old_keys_until: String,
}

impl Answer for Rotated {
    fn in_words(&self) -> String {
        format!(
            "key id         {}\nold keys until {}\n\nServers use the new key within five seconds.",
            self.key_id, self.old_keys_until
        )
    }
}

/// Makes a new signing key. Tokens signed by older keys stay valid until they expire, or not at all with `at_once`.
async fn rotate(config: &Config, at_once: bool) -> Result<Rotated> {
    let opened = Opened::existing(config).await?;
    let key = SigningKey::generate()?;
    let now = opened.now();
    let seconds = if at_once { 0 } else { i64::from(config.auth.token_seconds) + OLD_KEY_MARGIN_S };
    let until = now.plus_seconds(seconds);
    opened.store().rotate_signing_key(key.to_stored(now), until).await?;
    opened.close().await;
    Ok(Rotated { key_id: key.id().to_owned(), old_keys_until: until.to_string() })
}

/// Seconds for which messages to browsers are signed with an old key after a rotation: 60 days. A browser subscribes with
/// the new key when its user next opens the console.
const OLD_PUSH_KEY_S: i64 = 60 * 86_400;

/// Makes a new key for Web Push. Browsers that are subscribed with an older one are notified until it expires, or not at
/// all with `at_once`.
async fn rotate_push(config: &Config, at_once: bool) -> Result<Rotated> {
    let opened = Opened::existing(config).await?;
    let key = PushKey::generate()?;
    let now = opened.now();
    let until = now.plus_seconds(if at_once { 0 } else { OLD_PUSH_KEY_S });
    opened.store().rotate_push_key(key.to_stored(now), until).await?;
    opened.close().await;
    Ok(Rotated { key_id: key.id().to_owned(), old_keys_until: until.to_string() })
}

/// The result of `key revoke`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Revocation {
    user_id: String,
    email: String,
    revoked: bool,
}

impl Answer for Revocation {
    fn in_words(&self) -> String {
        if self.revoked {
            format!("the API key of {} is revoked; its tokens stop working within five seconds", self.email)
        } else {
            format!("{} had no API key", self.email)
        }
    }
}

async fn revoke(config: &Config, email: &Email) -> Result<Revocation> {
    let opened = Opened::existing(config).await?;
    let user = opened.login(email).await?.user;
    let revoked = opened.store().delete_api_key(&Origin::command(), user.id).await?;
    opened.close().await;
    Ok(Revocation { user_id: user.id.to_string(), email: user.profile.email.as_str().to_owned(), revoked })
}
