//! A user's own preferences for the console: language, units, time zone, theme.

use axum::extract::State;
use perigee_core::preference::{ConsoleLanguage, Preferences, Theme};
use perigee_core::routing::Units;
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::session::find_self;
use crate::app::App;
use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::extract::{Change, SessionCaller};
use crate::http::json::Fields;
use crate::http::reply::Reply;

/// Somebody's preferences, as they are answered.
#[derive(Serialize, ToSchema)]
#[schema(as = OnePreferences)]
pub struct PreferencesAnswer {
    /// The preferences as they are now.
    preferences: PreferencesView,
}

/// How somebody wants the console to look.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Preferences)]
pub struct PreferencesView {
    /// The language, `en` or `es`; null for that of the browser.
    #[schema(example = "es", pattern = "^(en|es)$")]
    language: Option<&'static str>,
    /// The units: `metric`, `imperial` or `nautical`.
    #[schema(example = "metric", pattern = "^(metric|imperial|nautical)$")]
    units: &'static str,
    /// The zone times are shown in, by IANA id; null for the user's own.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// The colours: `system`, `light` or `dark`.
    #[schema(example = "system", pattern = "^(system|light|dark)$")]
    theme: &'static str,
}

/// How the console shows things to a user.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct PreferencesInput {
    /// The language, `en` or `es`; null for that of the browser.
    #[schema(example = "es", pattern = "^(en|es)$")]
    language: Option<String>,
    /// The units: `metric`, `imperial` or `nautical`.
    #[schema(example = "metric", pattern = "^(metric|imperial|nautical)$")]
    units: String,
    /// The zone times are shown in, by IANA id; null for the user's own.
    #[schema(example = "Europe/Madrid", min_length = 1, max_length = 100)]
    time_zone: Option<String>,
    /// The colours: `system`, `light` or `dark`.
    #[schema(example = "system", pattern = "^(system|light|dark)$")]
    theme: String,
}

impl From<Preferences> for PreferencesView {
    fn from(preferences: Preferences) -> Self {
        Self {
            language: preferences.language.map(ConsoleLanguage::name),
            units: preferences.units.name(),
            time_zone: preferences.time_zone.map(|zone| zone.to_string()),
            theme: preferences.theme.name(),
        }
    }
}

fn read_preferences(body: &Value) -> ApiResult<Preferences> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    let languages = ConsoleLanguage::ALL.map(|language| (language.name(), language));
    let language = fields.text("language").one_of(&languages).nullable();
    let units = fields.text("units").one_of(&Units::ALL.map(|units| (units.name(), units))).nullable();
    let time_zone = fields.get::<Zone>("timeZone").nullable();
    let theme = fields.text("theme").one_of(&Theme::ALL.map(|theme| (theme.name(), theme))).nullable();
    let (units, theme) = (units.unwrap_or_default(), theme.unwrap_or_default());
    fields.finish(|| Some(Preferences { language, units, time_zone, theme })).map_err(invalid_body)
}

/// Change how the console looks to you.
///
/// What is null or left out of a whole object is as it is for somebody who never chose. `GET /api/session` tells it.
#[utoipa::path(patch, path = "/api/session/preferences", tag = "authentication", request_body = PreferencesInput,
    security(("session" = [])),
    responses((status = 200, description = "The preferences as they are now.", body = PreferencesAnswer)))]
pub async fn update_preferences(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    change: Change,
) -> ApiResult<Reply<PreferencesAnswer>> {
    let change = change.nested("preferences");
    let present = find_self(&app, caller.user_id()).await?.preferences;
    let wanted = read_preferences(&change.apply(&PreferencesView::from(present)).await?);
    let wanted = wanted.map_err(|error| change.place(error))?;
    app.store.set_preferences(caller.user_id(), wanted.clone()).await?;
    Ok(caller.reply(PreferencesAnswer { preferences: PreferencesView::from(wanted) }))
}
