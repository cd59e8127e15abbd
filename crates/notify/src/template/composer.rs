//! Composes messages with the account's templates or the built-in ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use perigee_core::id::{AccountId, NotificationId};
use perigee_core::notifications::notification::{
    Channel, Compose, ComposeError, Composed, Content, InlinePicture, Message, Occasion,
};

use super::consent;
use super::count::segment_count;
use super::engine::render;
use super::facts::Facts;
use super::kind::TemplateKind;
use super::{password_link, report_mail, sos_notice, test};
use crate::plain::{excerpt, one_line};
use crate::push::compose_push;
use crate::sms::{Fitting, fit};

/// An account's own templates.
pub type AccountTemplates = Arc<BTreeMap<TemplateKind, String>>;

/// Where accounts keep their own templates.
#[async_trait]
pub trait CustomTemplates: Send + Sync {
    /// The templates of one account; empty if they cannot be read, because an alert must not wait for them.
    async fn custom_templates(&self, account: AccountId) -> AccountTemplates;
}

/// Composes messages from templates.
pub struct Composer {
    customs: Arc<dyn CustomTemplates>,
    fitting: Fitting,
}

/// The template that is used if even the built-in one fails. In a report, which has no device, `device.name` is the
/// name of the account.
const FALLBACK: &str = "{{ alert.title|cut(50) }} - {{ device.name|cut(50) }}";

/// Begins the subject of e-mails to people who are not users of the account and did not confirm.
pub(super) const SERVICE: &str = "[Perigee]";
/// Characters of the account's own subject that such an e-mail has.
const SUBJECT_SHOWN: usize = 100;

/// The templates of one occasion.
struct Kinds {
    subject: TemplateKind,
    text: TemplateKind,
    html: TemplateKind,
    /// `None` for messages that are sent by e-mail only.
    sms: Option<TemplateKind>,
    /// Title and text of a notification in a browser; `None` for messages that are not sent to browsers.
    push: Option<(TemplateKind, TemplateKind)>,
}

impl Composer {
    /// Makes a composer with these templates; `fitting` limits its SMS.
    pub fn new(customs: Arc<dyn CustomTemplates>, fitting: Fitting) -> Self {
        Self { customs, fitting }
    }
}

#[async_trait]
impl Compose for Composer {
    async fn compose(&self, content: &Content) -> Result<Composed, ComposeError> {
        let composed = self.compose_text(content).await?;
        Ok(if content.channel == Channel::PUSH { compose_push(content, composed) } else { composed })
    }
}

impl Composer {
    async fn compose_text(&self, content: &Content) -> Result<Composed, ComposeError> {
        match (&content.occasion, content.channel) {
            (Occasion::ConfirmRecipient, Channel::EMAIL) => return Ok(consent::question(content)),
            (Occasion::ConfirmRecipient, _) => {
                return Err(ComposeError("this kind of message is sent by e-mail only".to_owned()));
            }
            (Occasion::Test, _) => return Ok(test::message(content)),
            (Occasion::UnregisteredSos(notice), _) => return Ok(sos_notice::message(content, notice)),
            (Occasion::ScheduledReport(notice), Channel::EMAIL) => {
                return Ok(report_mail::message(content, notice));
            }
            (Occasion::PasswordLink { purpose }, Channel::EMAIL) => {
                return Ok(password_link::message(content, *purpose));
            }
            _ => {}
        }
        let customs = self.customs.custom_templates(content.account).await;
        let kinds = kinds(&content.occasion)?;
        let writer =
            Writer { customs, facts: Facts::of(content), account: content.account, notification: content.id };
        let (channel, fitting) = (content.channel, self.fitting);
        // Each outbox worker composes one message at a time, so that at most one per channel uses the CPU.
        let work = move || writer.write_all(&kinds, channel, fitting);
        let written = tokio::task::spawn_blocking(work).await;
        let Texts { subject, mut text, mut html } =
            written.map_err(|error| ComposeError(error.to_string()))??;
        let count = segment_count(channel, &text);
        consent::add_footer(content, &mut text, html.as_mut());
        let subject = match channel {
            // E-mail to people who did not ask for it must clearly show its purpose, whatever names and templates
            // contain.
            Channel::EMAIL if content.is_stranger => {
                format!("{SERVICE} {}", excerpt(&subject, SUBJECT_SHOWN))
            }
            _ => subject,
        };
        let pictures = html.as_deref().map(|html| pictures(content, html)).unwrap_or_default();
        let message = Message {
            id: content.id,
            channel,
            to: content.to.clone(),
            subject,
            text,
            html,
            mail_link: content.mail_link.clone(),
            push: None,
            attachment: None,
            pictures,
        };
        Ok(Composed { message, segments: count })
    }
}

/// The pictures that this HTML shows. An account's own template may show none of them.
fn pictures(content: &Content, html: &str) -> Vec<InlinePicture> {
    let look = &content.appearance;
    let logo = look.logo.as_ref().map(|logo| InlinePicture {
        content_id: InlinePicture::LOGO,
        media_type: logo.media_type.name(),
        bytes: Arc::new(logo.bytes.clone()),
    });
    let map = look.map.as_ref().map(|map| InlinePicture {
        content_id: InlinePicture::MAP,
        media_type: "image/png",
        bytes: Arc::clone(map),
    });
    let is_shown = |picture: &InlinePicture| html.contains(&format!("cid:{}", picture.content_id));
    logo.into_iter().chain(map).filter(is_shown).collect()
}

/// The parts of one message.
struct Texts {
    subject: String,
    text: String,
    html: Option<String>,
}

/// Renders the templates of one message.
struct Writer {
    customs: AccountTemplates,
    facts: Facts,
    account: AccountId,
    notification: NotificationId,
}

impl Writer {
    fn write_all(&self, kinds: &Kinds, channel: Channel, fitting: Fitting) -> Result<Texts, ComposeError> {
        if channel == Channel::EMAIL {
            return Ok(Texts {
                subject: one_line(&self.write(kinds.subject)?),
                text: self.write(kinds.text)?,
                html: Some(self.write(kinds.html)?),
            });
        }
        if channel == Channel::PUSH {
            let (title, text) = kinds
                .push
                .ok_or_else(|| ComposeError("this kind of message is not sent to browsers".to_owned()))?;
            return Ok(Texts { subject: one_line(&self.write(title)?), text: self.write(text)?, html: None });
        }
        let kind = kinds
            .sms
            .ok_or_else(|| ComposeError("this kind of message is sent by e-mail only".to_owned()))?;
        let text = self.write(kind)?;
        if channel == Channel::SMS {
            return Ok(Texts { subject: String::new(), text: fit(&text, fitting), html: None });
        }
        // Other channels have the title of an e-mail and the short text of an SMS.
        Ok(Texts { subject: one_line(&self.write(kinds.subject)?), text, html: None })
    }

    /// Renders the account's own template. Uses the built-in one if there is none, or if its own fails or exceeds its
    /// budget.
    fn write(&self, kind: TemplateKind) -> Result<String, ComposeError> {
        if let Some(source) = self.customs.get(&kind) {
            match render(kind, source, &self.facts) {
                Ok(text) => return Ok(text),
                Err(error) => tracing::warn!(
                    account = %self.account,
                    notification = %self.notification,
                    kind = kind.name(),
                    %error,
                    "an account's template failed; the built-in one was used"
                ),
            }
        }
        render(kind, kind.built_in(), &self.facts).or_else(|error| {
            // The alert has more data than fits into a message; a short text is sent instead.
            tracing::warn!(notification = %self.notification, kind = kind.name(), %error, "a built-in template failed");
            render(kind, FALLBACK, &self.facts).map_err(|error| ComposeError(error.to_string()))
        })
    }
}

fn kinds(occasion: &Occasion) -> Result<Kinds, ComposeError> {
    Ok(match occasion {
        Occasion::Alert { .. } => Kinds {
            subject: TemplateKind::AlertEmailSubject,
            text: TemplateKind::AlertEmailText,
            html: TemplateKind::AlertEmailHtml,
            sms: Some(TemplateKind::AlertSms),
            push: Some((TemplateKind::AlertPushTitle, TemplateKind::AlertPushText)),
        },
        Occasion::LimitReached { .. } => Kinds {
            subject: TemplateKind::LimitEmailSubject,
            text: TemplateKind::LimitEmailText,
            html: TemplateKind::LimitEmailHtml,
            sms: Some(TemplateKind::LimitSms),
            push: None,
        },
        Occasion::Overview(_) => Kinds {
            subject: TemplateKind::OverviewEmailSubject,
            text: TemplateKind::OverviewEmailText,
            html: TemplateKind::OverviewEmailHtml,
            sms: None,
            push: None,
        },
        Occasion::Test
        | Occasion::UnregisteredSos(_)
        | Occasion::ScheduledReport(_)
        | Occasion::PasswordLink { .. }
        | Occasion::ConfirmRecipient
        | Occasion::Deleted => {
            return Err(ComposeError("the alert or report of the notification was deleted".to_owned()));
        }
    })
}
