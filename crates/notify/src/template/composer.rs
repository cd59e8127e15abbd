//! From what happened to a message, by the account's templates or the built-in ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use perigee_core::id::AccountId;
use perigee_core::notification::{Channel, Compose, ComposeError, Composed, Content, Message, Occasion};

use super::engine::render;
use super::facts::Facts;
use super::kind::TemplateKind;
use crate::plain::one_line;
use crate::sms::{Fitting, fit, segments};

/// An account's own templates.
pub type Customs = Arc<BTreeMap<TemplateKind, String>>;

/// Where accounts keep their own templates.
#[async_trait]
pub trait CustomTemplates: Send + Sync {
    /// Those of one account; none when they cannot be read, since an alert must not wait for its wording.
    async fn custom_templates(&self, account: AccountId) -> Customs;
}

/// Writes messages.
pub struct Composer {
    customs: Arc<dyn CustomTemplates>,
    fitting: Fitting,
}

/// What is said when nothing more can be. A report without a device names its account.
const BAREST: &str = "{{ alert.title|cut(50) }} - {{ device.name|cut(50) }}";

/// The templates of one occasion.
struct Kinds {
    subject: TemplateKind,
    text: TemplateKind,
    html: TemplateKind,
    /// None for what goes by e-mail alone.
    sms: Option<TemplateKind>,
}

impl Composer {
    /// A writer with these templates, whose SMS fit so.
    pub fn new(customs: Arc<dyn CustomTemplates>, fitting: Fitting) -> Self {
        Self { customs, fitting }
    }
}

#[async_trait]
impl Compose for Composer {
    async fn compose(&self, content: &Content) -> Result<Composed, ComposeError> {
        let customs = self.customs.custom_templates(content.account).await;
        let facts = Facts::of(content);
        let write = |kind| write(kind, &customs, &facts, content);
        let kinds = kinds(&content.occasion)?;
        let (subject, text, html) = match content.channel {
            Channel::Email => {
                (one_line(&write(kinds.subject)?), write(kinds.text)?, Some(write(kinds.html)?))
            }
            Channel::Sms => {
                let kind = kinds.sms.ok_or_else(|| ComposeError("it goes by e-mail alone".to_owned()))?;
                (String::new(), fit(&write(kind)?, self.fitting), None)
            }
        };
        let count = match content.channel {
            Channel::Email => 0,
            Channel::Sms => u32::try_from(segments(&text).count).unwrap_or(u32::MAX),
        };
        let message =
            Message { id: content.id, channel: content.channel, to: content.to.clone(), subject, text, html };
        Ok(Composed { message, segments: count })
    }
}

/// By the account's own template, or by the built-in one when it has none or its own fails on these facts.
fn write(
    kind: TemplateKind,
    customs: &BTreeMap<TemplateKind, String>,
    facts: &Facts,
    content: &Content,
) -> Result<String, ComposeError> {
    if let Some(source) = customs.get(&kind) {
        match render(kind, source, facts) {
            Ok(text) => return Ok(text),
            Err(error) => tracing::warn!(
                account = %content.account,
                notification = %content.id,
                kind = kind.name(),
                %error,
                "an account's template failed; the built-in one was used"
            ),
        }
    }
    render(kind, kind.built_in(), facts).or_else(|error| {
        // More was sent with the alert than fits anywhere. It is told all the same.
        tracing::warn!(notification = %content.id, kind = kind.name(), %error, "a built-in template failed");
        render(kind, BAREST, facts).map_err(|error| ComposeError(error.to_string()))
    })
}

fn kinds(occasion: &Occasion) -> Result<Kinds, ComposeError> {
    Ok(match occasion {
        Occasion::Alert { .. } => Kinds {
            subject: TemplateKind::AlertEmailSubject,
            text: TemplateKind::AlertEmailText,
            html: TemplateKind::AlertEmailHtml,
            sms: Some(TemplateKind::AlertSms),
        },
        Occasion::LimitReached { .. } => Kinds {
            subject: TemplateKind::LimitEmailSubject,
            text: TemplateKind::LimitEmailText,
            html: TemplateKind::LimitEmailHtml,
            sms: Some(TemplateKind::LimitSms),
        },
        Occasion::Overview(_) => Kinds {
            subject: TemplateKind::OverviewEmailSubject,
            text: TemplateKind::OverviewEmailText,
            html: TemplateKind::OverviewEmailHtml,
            sms: None,
        },
        Occasion::Gone => return Err(ComposeError("what it was to tell of is gone".to_owned())),
    })
}
