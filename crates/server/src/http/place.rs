//! Positions in words, where a query asks for them: `place=true`, in the language and units of the reader.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::locations::place::{Form, Reader, describe};
use perigee_core::notifications::routing::Units;

use super::error::{ApiResult, internal};
use super::extract::{Caller, Params};
use crate::app::App;

/// Reads `place`, `language` and `units`. The defaults are the caller's preferences; without a preferred language, that
/// of the caller's country.
pub async fn place_param(app: &App, caller: &Caller, params: &mut Params) -> ApiResult<Option<Reader>> {
    let wanted = read_flag(params);
    let given = read_reader(params);
    if wanted { reader_of(app, caller, given).await.map(Some) } else { Ok(None) }
}

/// Reads `place` alone.
pub fn read_flag(params: &mut Params) -> bool {
    params.word("place", &[("true", true), ("false", false)]).unwrap_or_default()
}

/// Reads `language` and `units`.
pub fn read_reader(params: &mut Params) -> (Option<ConsoleLanguage>, Option<Units>) {
    (
        params.word("language", &ConsoleLanguage::ALL.map(|language| (language.name(), language))),
        params.word("units", &Units::ALL.map(|units| (units.name(), units))),
    )
}

/// Takes from the caller's preferences what the query leaves out.
pub async fn reader_of(
    app: &App,
    caller: &Caller,
    (language, units): (Option<ConsoleLanguage>, Option<Units>),
) -> ApiResult<Reader> {
    if let (Some(language), Some(units)) = (language, units) {
        return Ok(Reader { language, units });
    }
    let login = app.store.find_login_by_id(caller.user_id()).await?;
    let chosen = login.ok_or_else(|| internal("the user of the request was deleted"))?.preferences;
    let language = language.or(chosen.language);
    Ok(Reader {
        language: language.unwrap_or_else(|| ConsoleLanguage::of_country(caller.user().profile.country)),
        units: units.unwrap_or(chosen.units),
    })
}

/// The place of a position, if places are requested.
pub fn place_of(reader: Option<Reader>, latitude: Latitude, longitude: Longitude) -> Option<String> {
    reader.and_then(|reader| describe((latitude, longitude), reader, Form::Full))
}
