//! The body of a request to a provider, with every value escaped for its context.

use serde_json::Value;

use super::placeholder::{Template, UnknownPlaceholder, Values};
use super::settings::GatewayBody;

/// A body with placeholders.
#[derive(Clone, Debug)]
pub(super) enum Body {
    None,
    Form(Vec<(String, Template)>),
    Json(Json),
}

/// A JSON document whose strings are templates. Values are inserted before serialization, so that none can break out
/// of its string.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Fixed(Value),
    Text(Template),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Body {
    pub(super) fn parse(body: &GatewayBody) -> Result<Self, UnknownPlaceholder> {
        Ok(match body {
            GatewayBody::None => Self::None,
            GatewayBody::Form(fields) => Self::Form(
                fields
                    .iter()
                    .map(|(name, source)| Ok((name.clone(), Template::parse(source)?)))
                    .collect::<Result<_, UnknownPlaceholder>>()?,
            ),
            GatewayBody::Json(document) => Self::Json(Json::parse(document)?),
        })
    }

    /// Every template in the body.
    pub(super) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::None => Vec::new(),
            Self::Form(fields) => fields.iter().map(|(_, template)| template).collect(),
            Self::Json(document) => document.templates(),
        }
    }

    /// The content type and the filled body.
    pub(super) fn fill(&self, values: &Values<'_>) -> Option<(&'static str, String)> {
        match self {
            Self::None => None,
            Self::Form(fields) => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                for (name, template) in fields {
                    form.append_pair(name, &template.fill(values, str::to_owned));
                }
                Some(("application/x-www-form-urlencoded", form.finish()))
            }
            Self::Json(document) => Some(("application/json", document.fill(values).to_string())),
        }
    }
}

impl Json {
    fn parse(document: &Value) -> Result<Self, UnknownPlaceholder> {
        Ok(match document {
            Value::String(source) => Self::Text(Template::parse(source)?),
            Value::Array(items) => Self::List(items.iter().map(Self::parse).collect::<Result<_, _>>()?),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(name, member)| Ok((name.clone(), Self::parse(member)?)))
                    .collect::<Result<_, UnknownPlaceholder>>()?,
            ),
            fixed => Self::Fixed(fixed.clone()),
        })
    }

    fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Text(template) => vec![template],
            Self::List(items) => items.iter().flat_map(Self::templates).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, member)| member.templates()).collect(),
        }
    }

    fn fill(&self, values: &Values<'_>) -> Value {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(template) => Value::String(template.fill(values, str::to_owned)),
            Self::List(items) => items.iter().map(|item| item.fill(values)).collect(),
            Self::Object(members) => {
                members.iter().map(|(name, member)| (name.clone(), member.fill(values))).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: Values<'static> = Values {
        number: "+34600123456",
        digits: "34600123456",
        text: "a\",\"to\":\"+1900\\ & To=+1900\n\u{2028}€🚤{number}",
        id: "ntf_1",
        sender: "P&Q",
    };

    #[test]
    fn no_text_leaves_its_string_in_json() {
        let document = serde_json::json!({"to": ["{number}"], "body": {"text": "<{text}>"}, "flash": false});
        let (kind, body) = Body::parse(&GatewayBody::Json(document)).unwrap().fill(&HOSTILE).unwrap();
        assert_eq!(kind, "application/json");
        let read: Value = serde_json::from_str(&body).unwrap();
        let expect = serde_json::json!({
            "to": ["+34600123456"], "body": {"text": format!("<{}>", HOSTILE.text)}, "flash": false
        });
        assert_eq!(read, expect);
    }

    #[test]
    fn no_text_leaves_its_value_in_a_form() {
        let fields = [("To", "{number}"), ("Body", "{text}"), ("From", "{sender}")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (_, body) = Body::parse(&GatewayBody::Form(fields.into())).unwrap().fill(&HOSTILE).unwrap();
        let read: Vec<(String, String)> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let expect = [("Body", HOSTILE.text), ("From", "P&Q"), ("To", "+34600123456")];
        assert_eq!(read, expect.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
