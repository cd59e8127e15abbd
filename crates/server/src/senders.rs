//! The ways messages leave, built from configuration: for the service, and for whoever tries them out.

use std::sync::Arc;

use perigee_core::notification::{Compose, Receipt, Sender};
use perigee_core::time::Clock;
use perigee_notify::email::EmailSender;
use perigee_notify::sms::smpp::SmppGateway;
use perigee_notify::template::Composer;
use tokio::sync::mpsc;

use crate::app::App;
use crate::background::{Outlet, Outlets};
use crate::config::{Config, ConfigError, SmsGateway};
use crate::wording::StoredWording;

/// The ways messages leave; none where nothing is configured.
#[derive(Default)]
pub struct Senders {
    /// For e-mail.
    pub email: Option<Arc<dyn Sender>>,
    /// For SMS.
    pub sms: Option<Arc<dyn Sender>>,
    /// The session with a message centre, and the receipts it brings.
    pub centre: Option<Centre>,
}

/// A message centre that brings receipts for as long as somebody stays bound to it.
pub struct Centre {
    /// The session.
    pub gateway: Arc<SmppGateway>,
    /// What it says later of messages it took.
    pub receipts: mpsc::Receiver<Receipt>,
}

impl Senders {
    /// Builds what the settings ask for. Connects to nobody yet.
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
                senders.centre = Some(Centre { gateway, receipts });
            }
        }
        Ok(senders)
    }
}

impl Senders {
    /// The ways out with somebody who writes the messages, and the centre apart from them.
    pub fn into_outlets(self, app: &App) -> (Outlets, Option<Centre>) {
        let wording = StoredWording::new(Arc::clone(&app.store), Arc::clone(&app.clock));
        let compose: Arc<dyn Compose> = Arc::new(Composer::new(Arc::new(wording), app.config.sms.fitting()));
        let outlet = |sender| Outlet { compose: Arc::clone(&compose), sender };
        (Outlets { email: self.email.map(outlet), sms: self.sms.map(outlet) }, self.centre)
    }
}

fn refused(key: &'static str, error: &dyn std::error::Error) -> ConfigError {
    ConfigError { key, problem: error.to_string() }
}
