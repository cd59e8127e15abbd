//! Translating `?1` placeholders into PostgreSQL's `$1`, with a cache of the results.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::DbError;

/// Translations cached at most. Statements are few and fixed; the limit bounds the memory of generated ones.
const CACHED_MAX: usize = 2048;

/// A cache of translated statements.
#[derive(Debug, Default)]
pub(crate) struct Translations(RwLock<HashMap<Box<str>, Arc<str>>>);

impl Translations {
    /// The statement in PostgreSQL's syntax.
    pub(crate) fn get(&self, sql: &str) -> Result<Arc<str>, DbError> {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(sql) {
            return Ok(Arc::clone(known));
        }
        let translated: Arc<str> = translate(sql)?.into();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < CACHED_MAX {
            known.insert(sql.into(), Arc::clone(&translated));
        }
        Ok(translated)
    }
}

/// Rewrites placeholders outside of literals, quoted names and comments.
fn translate(sql: &str) -> Result<String, DbError> {
    let mut result = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => quoted(rest, '\''),
            '"' => quoted(rest, '"'),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '?' => {
                if !rest[1..].starts_with(|next: char| next.is_ascii_digit()) {
                    return Err(DbError::internal(format!("placeholder without a number in: {sql}")));
                }
                result.push('$');
                rest = &rest[1..];
                continue;
            }
            other => other.len_utf8(),
        };
        result.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Ok(result)
}

/// The length of the quoted part at the start. A doubled quote is read as two quoted parts, with the same result.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: Option<&str>) {
        assert_eq!(translate(input).ok().as_deref(), expect, "{input}");
    }

    #[test]
    fn rewrites_placeholders_only() {
        check("SELECT ?2, ?1, ?10", Some("SELECT $2, $1, $10"));
        check("SELECT '?1', 'it''s ?1', ?1", Some("SELECT '?1', 'it''s ?1', $1"));
        check(r#"SELECT "a?1", ?1 -- why ?1"#, Some(r#"SELECT "a?1", $1 -- why ?1"#));
        check("SELECT /* ?1 */ ?1\n-- ?\n, ?2", Some("SELECT /* ?1 */ $1\n-- ?\n, $2"));
        check("SELECT 'é?1', ?1 LIKE ?2 ESCAPE '\\'", Some("SELECT 'é?1', $1 LIKE $2 ESCAPE '\\'"));
        check("SELECT 'unclosed ?1", Some("SELECT 'unclosed ?1"));
        check("SELECT ?", None);
        check("SELECT ?a", None);
    }

    #[test]
    fn remembers() {
        let translations = Translations::default();
        let first = translations.get("SELECT ?1").unwrap();
        assert!(Arc::ptr_eq(&first, &translations.get("SELECT ?1").unwrap()));
    }
}
