//! The work for webhooks: look for what is new, take it, send it, all over again.

use std::time::Duration;

use perigee_core::error::StoreError;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::address::Guard;
use super::client::{Client, ClientError};
use super::deliver::{Busy, deliver_all};
use super::follow::{Followed, follow_all};
use crate::app::App;
use crate::config;

/// How long a look is put off at the most: retries come due, and other nodes announce nothing.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How soon after a look another one is worth it.
const LOOK_AFTER: Duration = Duration::from_millis(100);

/// What a node needs to serve webhooks.
#[derive(Debug)]
pub struct Webhooks {
    pub(super) client: Client,
    pub(super) busy: Busy,
    followed: Followed,
}

impl Webhooks {
    /// As the operator set it.
    pub fn new(settings: &config::Webhooks) -> Result<Self, ClientError> {
        let guard = Guard {
            allow_http: settings.allow_http,
            allow_private: settings.allow_private,
            allowed: settings.networks(),
        };
        Ok(Self {
            client: Client::new(guard, Duration::from_secs(settings.timeout_seconds.into()))?,
            busy: Busy::new(settings),
            followed: Followed::default(),
        })
    }

    /// Decides where webhooks may go.
    pub fn guard(&self) -> &Guard {
        &self.client.guard
    }
}

/// Serves webhooks until told to stop.
pub async fn run(app: App, stop: CancellationToken) {
    let mut news = app.signals.any_account();
    while !stop.is_cancelled() {
        let begun = Instant::now();
        if let Err(error) = turn(&app).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not look for what webhooks want");
        }
        let wait = async {
            sleep_until(begun + LOOK_AFTER).await;
            let _news_or_not = timeout_at(begun + LOOK_EVERY, news.changed()).await;
        };
        stop.run_until_cancelled(wait).await;
    }
}

/// Takes what is new for every webhook and begins to send what is due; sending goes on behind.
pub async fn turn(app: &App) -> Result<(), StoreError> {
    follow_all(app, &app.webhooks.followed).await?;
    deliver_all(app).await
}
