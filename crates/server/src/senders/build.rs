//! The senders of messages to people, built from configuration: for the service, and for the command that tests them.

use std::sync::Arc;

use perigee_core::notifications::notification::{Compose, Receipt, Sender};
use perigee_core::store::Store;
use perigee_core::time::Clock;
use perigee_notify::email::EmailSender;
use perigee_notify::sms::smpp::SmppGateway;
use perigee_notify::template::Composer;
use tokio::sync::mpsc;

use super::channel_sender::{ChannelSender, ChannelSenders};
use super::template_cache::TemplateCache;
use crate::config::{Config, ConfigError, SmsGateway};

/// The senders of the configured channels.
#[derive(Default)]
pub struct Senders {
    /// None when SMTP is not configured.
    pub email: Option<Arc<dyn Sender>>,
    /// None when no SMS gateway is configured.
    pub sms: Option<Arc<dyn Sender>>,
    /// The SMPP session, when SMS go through one.
    pub centre: Option<MessageCentre>,
}

/// A session with a message centre (SMSC), which delivers receipts only while it is bound.
pub struct MessageCentre {
    /// The SMPP session with the centre.
    pub gateway: Arc<SmppGateway>,
    /// Delivery receipts of messages the centre accepted earlier.
    pub receipts: mpsc::Receiver<Receipt>,
}

impl Senders {
    /// Builds the configured senders. Connects to nobody yet.
    pub fn build(config: &Config, clock: &Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let mut senders = Self::default();
        if let Some(settings) = config.email.settings()? {
            let sender = EmailSender::new(settings, Arc::clone(clock))
                .map_err(|error| refused("email.ca_file", &error))?;
            senders.email = Some(Arc::new(sender));
        }
        match config.sms.gateway {
            SmsGateway::None => {}
            SmsGateway::Http => senders.sms = Some(Arc::new(config.sms.http_gateway()?)),
            SmsGateway::Smpp => {
                let (gateway, receipts) = SmppGateway::new(config.sms.smpp_settings()?)
                    .map_err(|error| refused("sms.gateway", &error))?;
                let gateway = Arc::new(gateway);
                senders.sms = Some(Arc::clone(&gateway) as Arc<dyn Sender>);
                senders.centre = Some(MessageCentre { gateway, receipts });
            }
        }
        Ok(senders)
    }

    /// The senders with what writes their messages, and the message centre apart from them.
    pub fn into_channels(
        self,
        config: &Config,
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
    ) -> (ChannelSenders, Option<MessageCentre>) {
        let templates = TemplateCache::new(Arc::clone(store), Arc::clone(clock));
        let compose: Arc<dyn Compose> = Arc::new(Composer::new(Arc::new(templates), config.sms.fitting()));
        let channel = |sender| ChannelSender { compose: Arc::clone(&compose), sender };
        (ChannelSenders { email: self.email.map(channel), sms: self.sms.map(channel) }, self.centre)
    }
}

fn refused(key: &'static str, error: &dyn std::error::Error) -> ConfigError {
    ConfigError { key, problem: error.to_string() }
}
