//! The fields of a message, from a form, from JSON or from the claims of the token.

use serde_json::{Map, Value as Json};

use crate::decoded::DecodeError;
use crate::feed::{FeedContext, FeedRequest, Refused};
use crate::notation::form::Form;
use crate::{notation::jwt, notation::loose};

/// The fields of a message.
pub(super) struct Fields(Map<String, Json>);

impl Fields {
    /// The fields of a body that is JSON or a form.
    pub(super) fn of_body(request: &FeedRequest<'_>, context: &FeedContext<'_>) -> Result<Self, DecodeError> {
        if request.body.trim_ascii_start().first() == Some(&b'{') {
            return match loose::parse(request.body, context.budget)? {
                Json::Object(members) => Ok(Self(members)),
                _ => Err(DecodeError::Malformed("the body is not an object")),
            };
        }
        let form = Form::parse(request.body);
        if form.is_empty() {
            return Err(DecodeError::Malformed("the body is neither a form nor JSON"));
        }
        Ok(Self(form.into_object()))
    }

    /// The claims of the token if the feed has a key to verify it, otherwise the body.
    pub(super) fn trusted(self, context: &FeedContext<'_>) -> Result<Self, Refused> {
        let Some(key) = context.options.text("key") else { return Ok(self) };
        let token = self.text("JWT").ok_or(Refused::Missing("JWT"))?;
        jwt::claims(&token, key).map(Self)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(loose::text)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(loose::number)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(loose::flag)
    }

    pub(super) fn time(&self, name: &str) -> Option<perigee_core::time::Timestamp> {
        self.text(name).and_then(|text| crate::notation::instant::iso(&text))
    }
}
