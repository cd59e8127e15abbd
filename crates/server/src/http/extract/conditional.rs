//! Preconditions: `If-Match` and `If-None-Match` against the revision of a resource.

use std::borrow::Cow;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use perigee_core::error::Kind;
use perigee_core::revision::Revision;

use crate::http::error::{ApiError, ApiResult, invalid_header};
use crate::http::error_code::ErrorCode;

/// The entity tag of a revision.
pub fn entity_tag(revision: Revision) -> String {
    format!("\"r{}\"", revision.0)
}

/// The entity tag without the suffix of a content encoding.
fn plain(tag: &str) -> Cow<'_, str> {
    let inner = tag.strip_suffix("-gz\"").or_else(|| tag.strip_suffix("-br\""));
    inner.map_or(Cow::Borrowed(tag), |inner| Cow::Owned(format!("{inner}\"")))
}

/// The preconditions of a request.
#[derive(Clone, Debug, Default)]
pub struct Preconditions {
    matches: Option<Tags>,
    none_match: Option<Tags>,
}

#[derive(Clone, Debug)]
enum Tags {
    Any,
    Listed(Vec<String>),
}

impl Tags {
    fn read(headers: &HeaderMap, name: &HeaderName) -> ApiResult<Option<Self>> {
        let values: Vec<&HeaderValue> = headers.get_all(name).iter().collect();
        if values.is_empty() {
            return Ok(None);
        }
        let mut tags = Vec::new();
        for value in values {
            let text = value.to_str().unwrap_or_default();
            if text.trim() == "*" {
                return Ok(Some(Self::Any));
            }
            for tag in text.split(',').map(str::trim) {
                let strong = tag.strip_prefix("W/").unwrap_or(tag);
                if strong.len() < 2 || !strong.starts_with('"') || !strong.ends_with('"') {
                    return Err(invalid_header(format!(
                        "The header {name} must have entity tags in double quotes, such as \"r3\", or *."
                    )));
                }
                tags.push(tag.to_owned());
            }
        }
        Ok(Some(Self::Listed(tags)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Preconditions {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> ApiResult<Self> {
        Ok(Self {
            matches: Tags::read(&parts.headers, &header::IF_MATCH)?,
            none_match: Tags::read(&parts.headers, &header::IF_NONE_MATCH)?,
        })
    }
}

impl Preconditions {
    /// Whether `If-Match` names a revision.
    pub fn names_revision(&self) -> bool {
        matches!(self.matches, Some(Tags::Listed(_)))
    }

    /// Refuses a change with 412 if `If-Match` does not match this revision, or `If-None-Match` does.
    pub fn check(&self, kind: Kind, revision: Revision) -> ApiResult<()> {
        let tag = entity_tag(revision);
        // `If-Match` compares strongly: a weak tag never matches.
        let fits = match &self.matches {
            None | Some(Tags::Any) => true,
            Some(Tags::Listed(tags)) => tags.iter().any(|known| plain(known) == tag),
        };
        let barred = match &self.none_match {
            None => false,
            Some(Tags::Any) => true,
            Some(Tags::Listed(tags)) => tags.iter().any(|known| plain(known) == tag),
        };
        if fits && !barred {
            return Ok(());
        }
        Err(ApiError::new(
            ErrorCode::PreconditionFailed,
            format!(
                "The current entity tag of the {kind} is {tag}. Read the {kind} again and repeat the change."
            ),
        ))
    }

    /// The tag in `If-None-Match` that matches this version in any content encoding.
    pub fn known(&self, tag: &str) -> Option<String> {
        match &self.none_match {
            None => None,
            Some(Tags::Any) => Some(tag.to_owned()),
            Some(Tags::Listed(tags)) => {
                let mut strong = tags.iter().map(|known| known.strip_prefix("W/").unwrap_or(known));
                strong.find(|known| *known == tag || plain(known) == tag).map(str::to_owned)
            }
        }
    }
}
