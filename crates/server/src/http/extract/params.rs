//! Query parameters. Unknown, repeated and invalid ones are all reported at once.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::FromRequestParts;
use http::Uri;
use http::request::Parts;
use perigee_core::page::PageRequest;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use crate::http::cursor::Cursor;
use crate::http::error::{ApiError, ApiResult, invalid_parameters};
use crate::http::json::{InstantOrNever, Pointer, Problem, read_instant_or_never};

/// The end of the sentence that refuses an instant.
const A_TIME: &str = "a date and time such as \"2026-05-01T12:00:00Z\"; write \"+\" as %2B";

/// The query parameters that were not read yet, and the problems found so far.
#[derive(Debug)]
pub struct Params {
    given: BTreeMap<String, String>,
    problems: Vec<Problem>,
    path: String,
    query: Option<String>,
}

/// The requested part of a list.
#[derive(Debug)]
pub struct ListPart {
    /// The page; None for everything.
    pub page: Option<PageRequest>,
    /// Path and query for the `Link` to the next page.
    pub link: String,
    /// The name that cursors of the list are bound to.
    pub list: &'static str,
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> ApiResult<Self> {
        Ok(Self::of(&parts.uri))
    }
}

impl Params {
    /// Maximum number of characters of a parameter.
    pub const CHARS_MAX: usize = 1_000;

    /// The parameters of this address.
    pub fn of(uri: &Uri) -> Self {
        let query = uri.query().map(str::to_owned);
        let mut params =
            Self { given: BTreeMap::new(), problems: Vec::new(), path: uri.path().to_owned(), query };
        for (name, value) in url::form_urlencoded::parse(params.query.clone().unwrap_or_default().as_bytes())
        {
            if value.contains('\0') || name.contains('\0') {
                params.refuse(&name.replace('\0', ""), "A parameter must not contain NUL.");
            } else if params.given.insert(name.to_string(), value.to_string()).is_some() {
                params.refuse(&name, format!("The parameter \"{name}\" is given more than once."));
            }
        }
        params
    }

    /// A query without parameters.
    #[cfg(test)]
    pub(crate) fn empty() -> Self {
        Self { given: BTreeMap::new(), problems: Vec::new(), path: String::new(), query: None }
    }

    /// Whether a parameter is present and was not read yet.
    pub fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Reads a parameter as text; None if it is absent.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let text = self.given.remove(name)?;
        if text.chars().count() > Self::CHARS_MAX {
            let most = Self::CHARS_MAX;
            self.refuse(name, format!("The parameter \"{name}\" must have at most {most} characters."));
            return None;
        }
        Some(text)
    }

    /// Reads and parses a parameter; `must_be` ends the sentence of a refusal.
    pub fn parsed<T: FromStr>(&mut self, name: &str, must_be: &str) -> Option<T> {
        let text = self.text(name)?;
        let parsed = text.parse().ok();
        if parsed.is_none() {
            self.refuse(name, format!("The parameter \"{name}\" must be {must_be}."));
        }
        parsed
    }

    /// Reads an instant; without an offset it is in `zone`. A time that means "never" becomes [`Timestamp::MAX`].
    pub fn instant(&mut self, name: &str, zone: &Zone) -> Option<Timestamp> {
        let text = self.text(name)?;
        let instant = read_instant_or_never(&text, zone).map(InstantOrNever::or_max);
        if instant.is_none() {
            self.refuse(name, format!("The parameter \"{name}\" must be {A_TIME}."));
        }
        instant
    }

    /// Reads an instant that is required.
    pub fn required_instant(&mut self, name: &str, zone: &Zone) -> Option<Timestamp> {
        if !self.has(name) {
            self.refuse(name, format!("The parameter \"{name}\" is required: {A_TIME}."));
        }
        self.instant(name, zone)
    }

    /// Reads a whole number within bounds.
    pub fn number(&mut self, name: &str, least: u32, most: u32) -> Option<u32> {
        let must_be = format!("a whole number from {least} to {most}");
        let number = self.parsed::<u32>(name, &must_be)?;
        if !(least..=most).contains(&number) {
            self.refuse(name, format!("The parameter \"{name}\" must be {must_be}."));
            return None;
        }
        Some(number)
    }

    /// Reads a `tag=key:value` parameter.
    pub fn tag(&mut self) -> Option<(String, String)> {
        let text = self.text("tag")?;
        match text.split_once(':') {
            Some((key, value)) if !key.is_empty() => Some((key.to_owned(), value.to_owned())),
            _ => {
                self.refuse(
                    "tag",
                    "The parameter \"tag\" must be a key and a value, such as \"colour:red\".",
                );
                None
            }
        }
    }

    /// Reads one of these words, ignoring case, and returns its value.
    pub fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(name)?;
        let found =
            words.iter().find(|(word, _)| word.eq_ignore_ascii_case(&text)).map(|(_, meaning)| *meaning);
        if found.is_none() {
            let list: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            self.refuse(name, format!("The parameter \"{name}\" must be one of {}.", list.join(", ")));
        }
        found
    }

    /// Adds a problem with a parameter.
    pub fn refuse(&mut self, name: &str, detail: impl Into<String>) {
        self.problems.push(Problem { pointer: Pointer::root().member(name), detail: detail.into() });
    }

    /// Reads `limit` and `cursor` of a list that is complete unless one of them is given, and refuses all other
    /// parameters.
    pub fn finish_list(self, list: &'static str) -> ApiResult<ListPart> {
        let asked = self.given.contains_key("limit") || self.given.contains_key("cursor");
        let part = self.finish_page(list, PageRequest::LIMIT_MAX)?;
        Ok(ListPart { page: part.page.filter(|_| asked), ..part })
    }

    /// Reads `limit` and `cursor` of a list that is always paged, with `default` as the limit, and refuses all other
    /// parameters.
    pub fn finish_page(mut self, list: &'static str, default: u32) -> ApiResult<ListPart> {
        let limit = self.number("limit", 1, PageRequest::LIMIT_MAX);
        let cursor = self.text("cursor");
        let after =
            cursor.as_deref().map(|text| Cursor::read(list, text)).transpose()?.map(|cursor| cursor.number);
        let link = self.link_without_cursor();
        self.finish()?;
        Ok(ListPart { page: Some(PageRequest { after, limit: limit.unwrap_or(default) }), link, list })
    }

    /// Refuses the parameters that were not read, and reports all problems.
    pub fn finish(mut self) -> ApiResult<()> {
        for name in std::mem::take(&mut self.given).into_keys() {
            self.refuse(&name, format!("Unknown parameter \"{name}\". Leave it out."));
        }
        if self.problems.is_empty() { Ok(()) } else { Err(invalid_parameters(self.problems)) }
    }

    /// Path and query with an empty `cursor=` at the end, to append the next cursor to.
    pub fn link_without_cursor(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in url::form_urlencoded::parse(self.query.as_deref().unwrap_or_default().as_bytes())
        {
            if name != "cursor" {
                query.append_pair(&name, &value);
            }
        }
        query.append_pair("cursor", "");
        format!("{}?{}", self.path, query.finish())
    }
}
