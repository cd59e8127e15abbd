//! `perigee notify`: sends test messages.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use perigee_core::id::NotificationId;
use perigee_core::notifications::notification::{Channel, Message, Receipt, SendOutcome};
use perigee_core::notifications::routing::Destination;
use perigee_core::time::{Clock, SystemClock};
use perigee_notify::sms::fit;
use perigee_server::senders::{MessageCentre, Senders};
use serde::Serialize;

use crate::args::{Common, NotifyCommand};
use crate::output::{Answer, print};
use crate::settings;

const SUBJECT: &str = "Perigee: test message";
const TEXT: &str = "This is a test message from Perigee. If you can read it, messages like this one arrive.";

/// Runs a `notify` subcommand.
pub(crate) async fn run(common: &Common, command: NotifyCommand) -> Result<ExitCode> {
    let NotifyCommand::Test { email, sms, to, text, wait_for_receipt } = command;
    let config = settings::load(common, Vec::new())?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut senders = Senders::build(&config, &clock)?;
    let text = text.unwrap_or_else(|| TEXT.to_owned());
    let to = match (email, sms, to) {
        (Some(email), ..) => Destination::Email(email),
        (None, Some(number), _) => Destination::Sms(number),
        (None, None, Some(to)) => to,
        (None, None, None) => bail!("give a recipient with --email, --sms or --to"),
    };
    let channel = to.channel();
    let section = if channel.is_other() { "channels." } else { "" };
    let sender = senders.channels.remove(&channel).with_context(|| {
        format!("no {0} can be sent: set [{section}{0}] in the settings first", channel.name())
    })?;
    let message = Message {
        id: NotificationId::random(clock.now()),
        channel,
        to: to.as_str().to_owned(),
        subject: if channel == Channel::SMS { String::new() } else { SUBJECT.to_owned() },
        text: if channel == Channel::SMS { fit(&text, config.sms.fitting()) } else { text },
        html: None,
        mail_link: None,
        push: None,
        attachment: None,
        pictures: Vec::new(),
    };
    let delivery = sender.send(&message).await;
    let mut tested = Tested::of(&message, &delivery);
    if let (SendOutcome::Sent { reference }, Some(seconds), Some(centre)) =
        (&delivery, wait_for_receipt, senders.centre.as_mut())
    {
        tested.receipt = Some(receipt(centre, reference.as_deref(), Duration::from_secs(seconds)).await?);
    }
    if let Some(centre) = &senders.centre {
        centre.sender.close().await;
    }
    print(&tested, common.json)?;
    Ok(if matches!(delivery, SendOutcome::Sent { .. }) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Waits for the delivery receipt of the message with this reference.
async fn receipt(centre: &mut MessageCentre, reference: Option<&str>, timeout: Duration) -> Result<String> {
    let mine = async {
        while let Some(Receipt { reference: of, failure }) = centre.receipts.recv().await {
            if Some(of.as_str()) == reference {
                return Ok(failure.unwrap_or_else(|| "delivered".to_owned()));
            }
        }
        bail!("the connection to the message centre was closed before the delivery receipt was received")
    };
    tokio::time::timeout(timeout, mine)
        .await
        .context("the delivery receipt was not received in time; the message may still arrive")?
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tested {
    id: String,
    to: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<String>,
}

impl Tested {
    fn of(message: &Message, delivery: &SendOutcome) -> Self {
        let (outcome, detail) = match delivery {
            SendOutcome::Sent { reference } => ("sent", reference.clone()),
            SendOutcome::Refused { reason } => ("refused", Some(reason.clone())),
            SendOutcome::RetryLater { reason, .. } => ("later", Some(reason.clone())),
            SendOutcome::Unclear { reason } => ("unclear", Some(reason.clone())),
        };
        Self { id: message.id.to_string(), to: message.to.clone(), outcome, detail, receipt: None }
    }
}

impl Answer for Tested {
    fn in_words(&self) -> String {
        let said = self.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
        let line = match self.outcome {
            "sent" => format!("sent to {}{said}", self.to),
            "refused" => format!("refused: not sent to {}, and not tried again{said}", self.to),
            "later" => format!("not sent to {}; the service would try again{said}", self.to),
            _ => format!("may or may not have been sent to {}{said}", self.to),
        };
        let receipt =
            self.receipt.as_ref().map(|receipt| format!("\nreceipt: {receipt}")).unwrap_or_default();
        format!("{line}{receipt}")
    }
}
