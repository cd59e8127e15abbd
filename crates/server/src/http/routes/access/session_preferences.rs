//! Preferences of the signed-in user for the console: language, units, time zone, theme.

use perigee_core::access::preference::{ConsoleLanguage, Preferences, Theme};
use perigee_core::notifications::routing::Units;
use perigee_core::revision::Revision;
use perigee_core::zone::Zone;
use sha2::{Digest as _, Sha256};

use crate::http::input::{Word, words};
use crate::http::prelude::*;
use crate::http::routes::access::session::find_self;

/// A response with the preferences of a user.
#[derive(Serialize, ToSchema)]
#[schema(as = OnePreferences)]
pub struct PreferencesAnswer {
    /// Preferences of the user.
    preferences: PreferencesView,
}

/// Preferences of a user for the console.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Preferences)]
pub struct PreferencesView {
    /// Language of the console. Null for the language of the browser.
    #[schema(value_type = Option<ConsoleLanguageName>, example = "es")]
    language: Option<&'static str>,
    /// Units of speeds and distances: `metric`, `imperial` or `nautical`.
    #[schema(example = "metric", pattern = "^(metric|imperial|nautical)$")]
    units: &'static str,
    /// Time zone in which times are shown, as an IANA identifier. Null for the time zone of the user.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// Colours of the console: `light`, `dark`, or `system` for the setting of the browser.
    #[schema(example = "system", pattern = "^(system|light|dark)$")]
    theme: &'static str,
}

words! {
    "ConsoleLanguage", ConsoleLanguage::MEANINGS => ConsoleLanguage;
    "Theme", "Colours of the console. `system`: as set in the browser. `light`: light colours. `dark`: dark \
        colours." => Theme;
}

/// The schema of a language of the console in the OpenAPI document.
pub type ConsoleLanguageName = Word<ConsoleLanguage>;

input! {
    /// Preferences of a user for the console.
    struct PreferencesInput {
        /// Language of the console. Null for the language of the browser.
        language: Word<ConsoleLanguage>, nullable, example "es";
        /// Units of speeds and distances. Null for `metric`.
        units: Word<Units>, nullable, example "metric";
        /// Time zone in which times are shown, as an IANA identifier. Null for the time zone of the user.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Colours of the console. Null for `system`.
        theme: Word<Theme>, nullable, example "system";
    }
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
    read_body(body, &[ENVELOPE], |input: PreferencesInput, _| {
        Some(Preferences {
            language: input.language,
            units: input.units.unwrap_or_default(),
            time_zone: input.time_zone,
            theme: input.theme.unwrap_or_default(),
        })
    })
}

/// A revision computed from the content: preferences have no counter of changes.
fn revision(preferences: &Preferences) -> ApiResult<Revision> {
    let text = serde_json::to_vec(&PreferencesView::from(preferences.clone())).map_err(internal)?;
    let number =
        Sha256::digest(&text).iter().take(6).fold(0, |number, byte| (number << 8) | i64::from(*byte));
    Ok(Revision(number))
}

fn answer(caller: &Caller, preferences: Preferences) -> ApiReply<PreferencesAnswer> {
    let revision = revision(&preferences)?;
    let view = PreferencesView::from(preferences);
    Ok(caller.reply(PreferencesAnswer { preferences: view }).revision(revision))
}

/// Retrieve your preferences
///
/// Returns the preferences of the signed-in user for the console. `GET /api/session` returns them too. Requires a
/// console session.
#[utoipa::path(get, path = "/api/session/preferences", tag = "authentication", security(("session" = [])),
    responses((status = 200, description = "Preferences of the user.", body = PreferencesAnswer)))]
pub async fn get_preferences(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    params: Params,
) -> ApiReply<PreferencesAnswer> {
    params.finish()?;
    answer(&caller, find_self(&app, caller.user_id()).await?.preferences)
}

/// Update your preferences
///
/// Changes the preferences of the signed-in user for the console. A member that is set to null gets its default.
/// Requires a console session.
#[utoipa::path(patch, path = "/api/session/preferences", tag = "authentication", request_body = PreferencesInput,
    security(("session" = [])),
    responses((status = 200, description = "The updated preferences.", body = PreferencesAnswer)))]
pub async fn update_preferences(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    change: Change,
) -> ApiReply<PreferencesAnswer> {
    let change = change.nested("preferences");
    let wanted = retry_changed(&change.preconditions, || async {
        let present = find_self(&app, caller.user_id()).await?.preferences;
        change.preconditions.check(Kind::Preferences, revision(&present)?)?;
        let wanted = read_preferences(&change.apply(&PreferencesView::from(present.clone())).await?);
        let wanted = wanted.map_err(|error| change.rebase(error))?;
        let set = app.store.set_preferences(caller.user_id(), Some(present), wanted.clone()).await;
        Ok(set.map(|()| wanted))
    })
    .await?;
    answer(&caller, wanted)
}
