//! Secrets in a setting or in a separate file.

use std::fs;
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};

use super::ConfigError;
use super::check::refuse;

/// Maximum number of bytes of a file with a secret.
const FILE_MAX: usize = 64 * 1024;

/// The secret in a setting, or in the file that another setting names, without a final line end. None if neither is
/// set.
pub(super) fn secret(
    secret: &SecretString,
    file: &Path,
    file_key: &'static str,
) -> Result<Option<SecretString>, ConfigError> {
    let has_secret = !secret.expose_secret().is_empty();
    if file.as_os_str().is_empty() {
        return Ok(has_secret.then(|| secret.clone()));
    }
    if has_secret {
        return refuse(file_key, "set the secret itself or the file that holds it, not both");
    }
    match fs::read_to_string(file) {
        Ok(text) if text.len() <= FILE_MAX && !text.trim().is_empty() => {
            Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned().into()))
        }
        Ok(_) => refuse(
            file_key,
            format!("{} must contain only the secret, and must not be empty", file.display()),
        ),
        Err(error) => refuse(file_key, format!("cannot read {}: {error}", file.display())),
    }
}

/// The text of a setting that may be left empty.
pub(super) fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
