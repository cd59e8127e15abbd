//! Texts with the placeholders `{number}`, `{digits}`, `{text}`, `{id}` and `{sender}`.
//!
//! The caller, who knows the context, escapes the values.

/// The values of the placeholders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'v> {
    /// The number with its `+`.
    pub(super) number: &'v str,
    /// The number without its `+`.
    pub(super) digits: &'v str,
    /// The text of the message.
    pub(super) text: &'v str,
    /// The notification's id, the same on every attempt.
    pub(super) id: &'v str,
    /// The sender of the message.
    pub(super) sender: &'v str,
}

/// One of the known placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placeholder {
    Number,
    Digits,
    Text,
    Id,
    Sender,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Placeholder(Placeholder),
}

/// A text with placeholders, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

/// The error for an unknown placeholder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{{{0}}} is not a placeholder; use {{number}}, {{digits}}, {{text}}, {{id}} or {{sender}}, and {{{{ for a brace"
)]
pub struct UnknownPlaceholder(String);

impl Template {
    /// Parses a text into literals and placeholders.
    pub(super) fn parse(source: &str) -> Result<Self, UnknownPlaceholder> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = source;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from_brace) = rest.split_at(at);
            literal.push_str(before);
            if from_brace.starts_with("{{") || from_brace.starts_with("}}") {
                literal.push_str(from_brace.get(..1).unwrap_or_default());
                rest = from_brace.get(2..).unwrap_or_default();
                continue;
            }
            let unknown = || UnknownPlaceholder(from_brace.chars().skip(1).take(20).collect());
            let (name, after) =
                from_brace.strip_prefix('{').and_then(|s| s.split_once('}')).ok_or_else(unknown)?;
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            pieces.push(Piece::Placeholder(
                placeholder(name).ok_or_else(|| UnknownPlaceholder(name.to_owned()))?,
            ));
            rest = after;
        }
        literal.push_str(rest);
        pieces.push(Piece::Literal(literal));
        pieces.retain(|piece| *piece != Piece::Literal(String::new()));
        Ok(Self(pieces))
    }

    /// The text with all values inserted, each passed through `escape`.
    pub(super) fn fill(&self, values: &Values<'_>, escape: impl Fn(&str) -> String) -> String {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => filled.push_str(text),
                Piece::Placeholder(placeholder) => filled.push_str(&escape(value(values, *placeholder))),
            }
        }
        filled
    }

    /// The literal text before the first placeholder.
    pub(super) fn beginning(&self) -> &str {
        match self.0.first() {
            Some(Piece::Literal(text)) => text,
            _ => "",
        }
    }

    /// Whether there is any placeholder.
    pub(super) fn has_placeholders(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Placeholder(_)))
    }

    /// Whether it contains `{text}`.
    pub(super) fn has_text(&self) -> bool {
        self.0.contains(&Piece::Placeholder(Placeholder::Text))
    }

    /// Whether it contains `{number}` or `{digits}`.
    pub(super) fn has_number(&self) -> bool {
        [Placeholder::Number, Placeholder::Digits]
            .iter()
            .any(|placeholder| self.0.contains(&Piece::Placeholder(*placeholder)))
    }
}

fn placeholder(name: &str) -> Option<Placeholder> {
    Some(match name {
        "number" => Placeholder::Number,
        "digits" => Placeholder::Digits,
        "text" => Placeholder::Text,
        "id" => Placeholder::Id,
        "sender" => Placeholder::Sender,
        _ => return None,
    })
}

fn value<'v>(values: &Values<'v>, placeholder: Placeholder) -> &'v str {
    match placeholder {
        Placeholder::Number => values.number,
        Placeholder::Digits => values.digits,
        Placeholder::Text => values.text,
        Placeholder::Id => values.id,
        Placeholder::Sender => values.sender,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: Values<'static> =
        Values { number: "+34600", digits: "34600", text: "{id} & \"x\"", id: "ntf_1", sender: "Perigee" };

    #[test]
    fn fills_each_placeholder_once() {
        let template = Template::parse("to={digits}&t={text}{{{sender}}}").unwrap();
        // An inserted value is not scanned for placeholders.
        assert_eq!(template.fill(&VALUES, str::to_owned), "to=34600&t={id} & \"x\"{Perigee}");
        assert_eq!(template.beginning(), "to=");
        assert!(template.has_text() && template.has_number());
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in ["{Number}", "{", "a}b", "{text", "{ text }"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
    }
}
