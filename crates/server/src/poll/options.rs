//! Reading the settings of polled gateways.

use perigee_gateways::Options;
use perigee_gateways::setting::SettingError;
use url::Url;

use crate::webhook::Guard;

/// Maximum number of characters of a setting.
const TEXT_MAX: usize = 500;

/// Reads a required text of at most [`TEXT_MAX`] characters.
pub(super) fn text<'o>(options: &'o Options, name: &str) -> Result<&'o str, SettingError> {
    let text = options.text(name).map(str::trim).filter(|text| !text.is_empty() && text.len() <= TEXT_MAX);
    text.ok_or_else(|| invalid(name, format!("must be a string of 1 to {TEXT_MAX} characters")))
}

/// Reads the URL to fetch from, which the operator must allow.
pub(super) fn url(text: &str, guard: &Guard) -> Result<Url, SettingError> {
    guard.parse(text).map_err(|refused| invalid("url", refused.to_string()))
}

/// The error for an option with this name; the problem is a phrase that follows the name.
pub(super) fn invalid(name: &str, problem: impl Into<String>) -> SettingError {
    SettingError::new(format!("/{name}"), problem)
}
