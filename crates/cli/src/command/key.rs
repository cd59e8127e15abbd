//! `perigee key`: API keys. Issuing and revoking act on a running server within five seconds.

use anyhow::{Result, bail};
use perigee_core::actor::Origin;
use perigee_core::credential::ApiKey as Kept;
use perigee_core::id::KeyId;
use perigee_core::privilege::Privilege;
use perigee_core::text::Email;
use perigee_server::auth::api_key::ApiKey;
use perigee_server::config::Config;
use serde::Serialize;

use super::open::Opened;
use crate::args::{Common, KeyCommand};
use crate::output::{Answer, print};
use crate::settings;

/// Does what `key` asks.
pub(crate) async fn run(common: &Common, command: KeyCommand) -> Result<()> {
    let config = settings::load(common, Vec::new())?;
    match command {
        KeyCommand::Issue { email } => print(&issue(&config, &email).await?, common.json),
        KeyCommand::Revoke { email } => print(&revoke(&config, &email).await?, common.json),
    }
}

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

async fn issue(config: &Config, email: &Email) -> Result<Issued> {
    let opened = Opened::existing(config).await?;
    let user = opened.login(email).await?.user;
    if !user.profile.privileges.allows(Privilege::Api) {
        bail!("{} may not hold an API key; give the user the privilege \"api\" first", email.as_str());
    }
    let key = ApiKey::generate();
    let kept = Kept {
        id: KeyId::new(opened.now()),
        hash: *key.hash().as_bytes(),
        hint: key.hint().to_owned(),
        creation: opened.now(),
        last_used: None,
    };
    opened.store().put_api_key(&Origin::command(), user.id, kept).await?;
    opened.close().await;
    Ok(Issued {
        user_id: user.id.to_string(),
        email: user.profile.email.as_str().to_owned(),
        api_key: key.expose().to_owned(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    user_id: String,
    email: String,
    revoked: bool,
}

impl Answer for Ended {
    fn in_words(&self) -> String {
        if self.revoked {
            format!("the API key of {} is revoked; its tokens end within five seconds", self.email)
        } else {
            format!("{} had no API key", self.email)
        }
    }
}

async fn revoke(config: &Config, email: &Email) -> Result<Ended> {
    let opened = Opened::existing(config).await?;
    let user = opened.login(email).await?.user;
    let revoked = opened.store().delete_api_key(&Origin::command(), user.id).await?;
    opened.close().await;
    Ok(Ended { user_id: user.id.to_string(), email: user.profile.email.as_str().to_owned(), revoked })
}
