//! Reading the settings of polled gateways.

use perigee_gateways::Options;
use url::Url;

use crate::webhook::Guard;

/// Characters that a setting may have.
const TEXT_MAX: usize = 500;

/// Why settings cannot be used, as a phrase that follows their name.
pub(super) type OptionError = String;

/// A text that must be there.
pub(super) fn text<'o>(options: &'o Options, name: &str) -> Result<&'o str, OptionError> {
    let text = options.text(name).map(str::trim).filter(|text| !text.is_empty() && text.len() <= TEXT_MAX);
    text.ok_or_else(|| format!("must have \"{name}\", a string of at most {TEXT_MAX} characters"))
}

/// An address that the operator allows to be fetched.
pub(super) fn url(text: &str, guard: &Guard) -> Result<Url, OptionError> {
    let url = Url::parse(text).map_err(|_error| "must be an address that begins with https://".to_owned())?;
    guard.check_url(&url).map_err(|refused| format!("cannot be used: it {refused}"))?;
    Ok(url)
}
