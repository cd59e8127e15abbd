//! `perigee user`: password links, and changes to users that only an operator can make.

use anyhow::Result;
use perigee_core::access::actor::Origin;
use perigee_core::access::credential::{LinkPurpose as Purpose, NewLink};
use perigee_core::text::Email;
use perigee_server::auth::Secret;
use perigee_server::auth::link::LinkPurpose;
use perigee_server::config::Config;
use serde::Serialize;

use super::open::Opened;
use crate::args::{Common, Link, UserCommand};
use crate::output::{Answer, print};
use crate::settings;

/// Runs a `user` subcommand.
pub(crate) async fn run(common: &Common, command: UserCommand) -> Result<()> {
    match command {
        UserCommand::ResetPassword(options) => {
            print(&link(common, options, Purpose::Reset).await?, common.json)
        }
        UserCommand::Invite(options) => {
            print(&link(common, options, Purpose::Invitation).await?, common.json)
        }
        UserCommand::Set { email, operator, totp } => {
            let config = settings::load(common, Vec::new())?;
            print(&set(&config, &email, operator, totp.is_some()).await?, common.json)
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreatedLink {
    user_id: String,
    email: String,
    link: String,
    expires: String,
}

impl Answer for CreatedLink {
    fn in_words(&self) -> String {
        format!(
            "Give this link to {}. It works once, until {}; earlier ones no longer work.\n\n{}",
            self.email, self.expires, self.link
        )
    }
}

async fn link(common: &Common, options: Link, purpose: Purpose) -> Result<CreatedLink> {
    let base_url = options.base_url.map(|url| ("server", "base_url", url));
    let config = settings::load(common, base_url.into_iter().collect())?;
    let (lifetime_s, bound_to) = match purpose {
        Purpose::Reset => (config.auth.reset_link_seconds, LinkPurpose::PasswordReset),
        Purpose::Invitation => (config.auth.invitation_seconds, LinkPurpose::Invitation),
    };
    let opened = Opened::existing(&config).await?;
    let user = opened.login(&options.email).await?.user;
    let secret = Secret::generate();
    let expires = opened.now().plus_seconds(i64::from(lifetime_s));
    let new = NewLink { user: user.id, purpose, hash: *bound_to.hash(&secret).as_bytes(), expires };
    opened.store().create_link(&Origin::command(), new).await?;
    opened.close().await;
    let base_url = config.server.base_url_at(config.server.listen)?;
    Ok(CreatedLink {
        user_id: user.id.to_string(),
        email: user.profile.email.as_str().to_owned(),
        link: base_url.join(&format!("/password#token={}", secret.expose())),
        expires: expires.to_string(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    user_id: String,
    email: String,
    operator: bool,
    totp: bool,
}

impl Answer for Changed {
    fn in_words(&self) -> String {
        let operator = if self.operator { "an operator" } else { "not an operator" };
        let totp = if self.totp { "with a second factor" } else { "without a second factor" };
        format!("{} is {operator} of this server and signs in {totp}", self.email)
    }
}

async fn set(config: &Config, email: &Email, operator: Option<bool>, remove_totp: bool) -> Result<Changed> {
    let opened = Opened::existing(config).await?;
    let id = opened.login(email).await?.user.id;
    if let Some(operator) = operator {
        opened.store().set_operator(id, operator).await?;
    }
    if remove_totp {
        opened.store().delete_totp(&Origin::command(), id).await?;
    }
    let login = opened.login(email).await?;
    opened.close().await;
    Ok(Changed {
        user_id: login.user.id.to_string(),
        email: login.user.profile.email.as_str().to_owned(),
        operator: login.user.operator,
        totp: login.totp.is_some_and(|totp| totp.confirmed),
    })
}
