//! The senders of messages to people, built from configuration: for the service, and for the command that tests them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::notifications::notification::{Channel, Compose, Receipt, Sender};
use perigee_core::store::Store;
use perigee_core::time::Clock;
use perigee_notify::email::EmailSender;
use perigee_notify::preset::{PresetSender, UrlCheck};
use perigee_notify::push::PushSender;
use perigee_notify::sms::smpp::SmppSender;
use perigee_notify::template::Composer;
use tokio::sync::mpsc;
use url::Url;

use super::channel_sender::{ChannelSender, ChannelSenders};
use super::push_targets::StoredTargets;
use super::template_cache::TemplateCache;
use crate::config::{Config, ConfigError, SmsGateway};
use crate::webhook::{Client, Guard};

/// The senders of the configured channels.
#[derive(Default)]
pub struct Senders {
    /// The sender of each channel that is configured.
    pub channels: BTreeMap<Channel, Arc<dyn Sender>>,
    /// The SMPP session, when SMS go through one.
    pub centre: Option<MessageCentre>,
    /// What the sender to browsers needs, which reads them from the store; `None` if it is switched off.
    pub push: Option<PushParts>,
}

/// The sender to browsers without the store.
pub struct PushParts {
    client: Client,
    check_url: UrlCheck,
}

/// A session with a message centre (SMSC), which delivers receipts only while it is bound.
pub struct MessageCentre {
    /// The SMPP session with the centre.
    pub sender: Arc<SmppSender>,
    /// Delivery receipts of messages the centre accepted earlier.
    pub receipts: mpsc::Receiver<Receipt>,
}

impl Senders {
    /// Builds the configured senders. No connection is opened yet.
    pub fn build(config: &Config, clock: &Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let mut senders = Self::default();
        if let Some(settings) = config.email.settings()? {
            let sender = EmailSender::new(settings, Arc::clone(clock))
                .map_err(|error| refused("email.ca_file", &error))?;
            senders.channels.insert(Channel::EMAIL, Arc::new(sender));
        }
        match config.sms.gateway {
            SmsGateway::None => {}
            SmsGateway::Http => {
                senders.channels.insert(Channel::SMS, Arc::new(config.sms.http_sender()?));
            }
            SmsGateway::Smpp => {
                let (sender, receipts) = SmppSender::new(config.sms.smpp_settings()?)
                    .map_err(|error| refused("sms.gateway", &error))?;
                let sender = Arc::new(sender);
                senders.channels.insert(Channel::SMS, Arc::clone(&sender) as Arc<dyn Sender>);
                senders.centre = Some(MessageCentre { sender, receipts });
            }
        }
        senders.add_presets(config)?;
        if config.push.enabled {
            let (client, check_url) = guarded(config, "push")?;
            senders.push = Some(PushParts { client, check_url });
        }
        Ok(senders)
    }

    /// Adds the senders of presets. They share one client, which connects only to addresses that webhooks may have.
    fn add_presets(&mut self, config: &Config) -> Result<(), ConfigError> {
        if config.channels.is_empty() {
            return Ok(());
        }
        let (client, check_url) = guarded(config, KEY)?;
        for channel in config.channels.keys() {
            let settings = config.preset_settings(*channel)?;
            let sender = PresetSender::new(*channel, settings, client.http(), Arc::clone(&check_url));
            let sender = sender
                .map_err(|error| ConfigError { key: KEY, problem: format!("{} {error}", channel.name()) })?;
            self.channels.insert(*channel, Arc::new(sender));
        }
        Ok(())
    }

    /// The senders with their composers, and the message centre separately.
    pub fn into_channels(
        self,
        config: &Config,
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
    ) -> (ChannelSenders, Option<MessageCentre>) {
        let templates = TemplateCache::new(Arc::clone(store), Arc::clone(clock));
        let compose: Arc<dyn Compose> = Arc::new(Composer::new(Arc::new(templates), config.sms.fitting()));
        let mut channels = ChannelSenders::default();
        for (channel, sender) in self.channels {
            channels.insert(channel, ChannelSender { compose: Arc::clone(&compose), sender });
        }
        if let Some(PushParts { client, check_url }) = self.push {
            let targets = Arc::new(StoredTargets(Arc::clone(store)));
            let (contact, clock) = (config.push_contact(), Arc::clone(clock));
            let sender = PushSender::new(targets, contact, client.http(), check_url, clock);
            channels.insert(Channel::PUSH, ChannelSender { compose, sender: Arc::new(sender) });
        }
        (channels, self.centre)
    }
}

const KEY: &str = "channels";

/// A client that connects only to addresses that webhooks may have, and the check of URLs that it does not make.
fn guarded(config: &Config, key: &'static str) -> Result<(Client, UrlCheck), ConfigError> {
    let timeout = Duration::from_secs(config.webhooks.timeout_seconds.into());
    let client =
        Client::new(Guard::configured(&config.webhooks), timeout).map_err(|error| refused(key, &error))?;
    let guard = client.clone();
    let check_url: UrlCheck =
        Arc::new(move |url: &Url| guard.check_url(url).map_err(|refusal| refusal.to_string()));
    Ok((client, check_url))
}

fn refused(key: &'static str, error: &dyn std::error::Error) -> ConfigError {
    ConfigError { key, problem: error.to_string() }
}
