//! The message that asks a traveller to check in, by a link that reaches the device.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use perigee_core::access::actor::Scope;
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::devices::conversation::{NewOutgoing, TextKind};
use perigee_core::devices::device::DeviceRef;
use perigee_core::plans::PlanNudge;

use crate::app::ComposeNudge;
use crate::http::prelude::*;
use crate::http::routes::devices::conversation::links_in;
use crate::http::routes::page_words::page_words;

/// Messages wait at most as long for the device.
const DEADLINE_S: i64 = 6 * 60 * 60;
/// The message fits into one of every network that carries texts.
const CHARS_MAX: usize = 160;

/// Composes messages for the background job, which may not know the routes.
pub const COMPOSE_NUDGE: ComposeNudge = compose;

fn compose<'a>(
    app: &'a App,
    scope: Scope,
    nudge: &'a PlanNudge,
) -> BoxFuture<'a, Result<Option<NewOutgoing>, StoreError>> {
    async move {
        let found = app.store.find_device(scope, &DeviceRef::Id(nudge.device)).await?;
        let Some(device) = found else { return Ok(None) };
        let text = text_of(nudge);
        let now = app.clock.now();
        let links = links_in(app, scope, now, &device).await?;
        let link = links
            .into_iter()
            .find(|link| link.carries(TextKind::Text) && link.refuses(app, &device, &text, now).is_none());
        let deadline = now.plus_seconds(DEADLINE_S);
        let carrier = link.and_then(|link| link.carrier(TextKind::Text, &text, deadline));
        Ok(carrier.map(|carrier| NewOutgoing {
            kind: TextKind::Text,
            text,
            interval_s: None,
            carrier,
            deadline,
        }))
    }
    .boxed()
}

/// The text in the language of the first traveller. A long name is cut, so that the words to answer with are not.
fn text_of(nudge: &PlanNudge) -> String {
    let settings = &nudge.plan.settings;
    let tag = settings.travellers.first().map_or("en", |traveller| traveller.language.as_str());
    let words = &page_words(ConsoleLanguage::of_reader(tag)).travel;
    let local = nudge.zone.as_jiff().to_datetime(nudge.deadline.to_jiff());
    let text = words.nudge.replace("{time}", &local.strftime("%H:%M").to_string());
    let room = CHARS_MAX.saturating_sub(text.chars().count() - "{name}".len());
    // Networks differ in the letters that they carry.
    let plain = |letter: char| if letter.is_ascii() && !letter.is_control() { letter } else { '?' };
    let name: String = settings.name.chars().map(plain).take(room).collect();
    text.replace("{name}", &name)
}
