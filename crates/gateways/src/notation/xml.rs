//! A small XML reader for messages of providers: elements, attributes and text. No document type, hence no entities beyond
//! the five of XML itself, and caps on depth and size.

use crate::decode_budget::DecodeBudget;
use crate::decoded::DecodeError;

/// The deepest nesting of elements.
const MAX_DEPTH: usize = 32;
/// Elements of a document.
const MAX_ELEMENTS: usize = 100_000;
/// Memory of an element in a list that doubles, with the allocation of its name.
const ELEMENT_BYTES: usize = 2 * size_of::<Element>() + 32;
/// Memory of an attribute in the same way.
const ATTRIBUTE_BYTES: usize = 2 * size_of::<(String, String)>() + 32;
/// Bytes of an attribute of the root that is echoed; the ids of providers are shorter.
const ROOT_ATTRIBUTE_MAX: usize = 1_000;
/// Attributes of an element.
const MAX_ATTRIBUTES: usize = 64;

/// An element with what is in it. Names are without their namespace prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// The tag's name with its letter case, such as `stuMessage`.
    pub name: String,
    /// Names and values, in the order of the document.
    pub attributes: Vec<(String, String)>,
    /// Elements directly in it, in order.
    pub children: Vec<Element>,
    /// All text directly in it.
    pub text: String,
}

const MALFORMED: DecodeError = DecodeError::Malformed("the body is not well-formed XML");

impl Element {
    /// The first element of this name directly in this one.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All elements of this name directly in this one.
    pub fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the first element of this name, without blanks around it; none when it is empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.trim()).filter(|text| !text.is_empty())
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All elements of this name at any depth, in order.
    pub fn descendants<'a>(&'a self, name: &'a str) -> Vec<&'a Self> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(element) = open.pop() {
            if element.name == name {
                found.push(element);
            }
            open.extend(element.children.iter().rev());
        }
        found
    }

    /// Reads the first tag of a document: its root without what is in it, and without its long attributes.
    pub fn parse_root(body: &[u8]) -> Result<Self, DecodeError> {
        let budget = DecodeBudget::for_body(0);
        let text = text_of(body)?;
        let mut rest = text.trim_start();
        while rest.starts_with("<?") || rest.starts_with("<!--") {
            let end = if rest.starts_with("<?") { "?>" } else { "-->" };
            rest = rest.split_once(end).ok_or(MALFORMED)?.1.trim_start();
        }
        let (mut root, ..) = read_tag(rest.strip_prefix('<').ok_or(MALFORMED)?, &budget)?;
        root.attributes.retain(|(_, value)| value.len() <= ROOT_ATTRIBUTE_MAX);
        Ok(root)
    }

    /// Reads a document and gives its root. Its memory is taken from the budget.
    pub fn parse(body: &[u8], budget: &DecodeBudget) -> Result<Self, DecodeError> {
        let text = text_of(body)?;
        // Every text is copied once.
        budget.take(text.len())?;
        let mut open: Vec<Self> = Vec::new();
        let mut root = None;
        let mut count = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let Some(at) = rest.find('<') else {
                add_text(open.last_mut(), rest)?;
                break;
            };
            let (before, tag) = rest.split_at_checked(at).ok_or(MALFORMED)?;
            add_text(open.last_mut(), before)?;
            rest = if let Some(after) = tag.strip_prefix("<?") {
                after.split_once("?>").ok_or(MALFORMED)?.1
            } else if let Some(after) = tag.strip_prefix("<!--") {
                after.split_once("-->").ok_or(MALFORMED)?.1
            } else if let Some(after) = tag.strip_prefix("<![CDATA[") {
                let (text, after) = after.split_once("]]>").ok_or(MALFORMED)?;
                open.last_mut().ok_or(MALFORMED)?.text.push_str(text);
                after
            } else if tag.starts_with("<!") {
                return Err(DecodeError::Malformed("XML with a document type is not accepted"));
            } else if let Some(after) = tag.strip_prefix("</") {
                let (name, after) = after.split_once('>').ok_or(MALFORMED)?;
                let done = open.pop().filter(|done| done.name == local(name.trim_end())).ok_or(MALFORMED)?;
                place(&mut open, &mut root, done)?;
                after
            } else {
                count += 1;
                let (element, is_empty, after) = read_tag(tag.get(1..).ok_or(MALFORMED)?, budget)?;
                if open.len() >= MAX_DEPTH || count > MAX_ELEMENTS {
                    return Err(DecodeError::Malformed("the XML is too deep or has too many elements"));
                }
                if is_empty {
                    place(&mut open, &mut root, element)?;
                } else {
                    open.push(element);
                }
                after
            };
        }
        root.filter(|_| open.is_empty()).ok_or(MALFORMED)
    }
}

fn text_of(body: &[u8]) -> Result<&str, DecodeError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    std::str::from_utf8(body).map_err(|_detail| DecodeError::Malformed("the XML is not UTF-8"))
}

fn add_text(parent: Option<&mut Element>, text: &str) -> Result<(), DecodeError> {
    match parent {
        Some(parent) => parent.text.push_str(&unescape(text)?),
        None if text.trim().is_empty() => {}
        None => return Err(MALFORMED),
    }
    Ok(())
}

fn place(open: &mut [Element], root: &mut Option<Element>, element: Element) -> Result<(), DecodeError> {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None if root.is_none() => *root = Some(element),
        None => return Err(MALFORMED),
    }
    Ok(())
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Reads a start tag after its `<`: the element, whether it is empty, and what follows.
fn read_tag<'a>(text: &'a str, budget: &DecodeBudget) -> Result<(Element, bool, &'a str), DecodeError> {
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).ok_or(MALFORMED)?;
    let (name, mut rest) = text.split_at_checked(end).ok_or(MALFORMED)?;
    if name.is_empty() {
        return Err(MALFORMED);
    }
    budget.take_values(1, ELEMENT_BYTES)?;
    let mut element = Element { name: local(name).to_owned(), ..Element::default() };
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('>') {
            return Ok((element, false, after));
        }
        if let Some(after) = rest.strip_prefix("/>") {
            return Ok((element, true, after));
        }
        let (name, value) = rest.split_once('=').ok_or(MALFORMED)?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'')).ok_or(MALFORMED)?;
        let (value, after) = value.get(1..).and_then(|value| value.split_once(quote)).ok_or(MALFORMED)?;
        let name = name.trim();
        if name.is_empty() || name.contains(['<', '>', '"']) || element.attributes.len() >= MAX_ATTRIBUTES {
            return Err(MALFORMED);
        }
        budget.take_values(1, ATTRIBUTE_BYTES)?;
        element.attributes.push((local(name).to_owned(), unescape(value)?));
        rest = after;
    }
}

/// A text with its references replaced.
fn unescape(text: &str) -> Result<String, DecodeError> {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, after) = part.split_once(';').ok_or(MALFORMED)?;
        let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        let letter = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => match name.strip_prefix('#').map(|digits| (digits, digits.strip_prefix('x'))) {
                Some((_, Some(digits))) => number(digits, 16),
                Some((digits, None)) => number(digits, 10),
                None => None,
            },
        };
        out.push(letter.ok_or(DecodeError::Malformed("XML with entities is not accepted"))?);
        out.push_str(after);
    }
    Ok(out)
}

/// A text that may stand in an attribute or between tags.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Element, DecodeError> {
        Element::parse(text.as_bytes(), &DecodeBudget::for_body(text.len()))
    }

    #[test]
    fn the_root_is_read_alone() {
        let long = "x".repeat(2_000);
        let text = format!("<?xml version='1.0'?> <!-- > --><a:list n='1' long='{long}'><b");
        let root = Element::parse_root(text.as_bytes()).unwrap();
        assert_eq!(
            (root.name.as_str(), root.attribute("n"), root.attribute("long")),
            ("list", Some("1"), None)
        );
        assert!(Element::parse_root(b"").is_err() && Element::parse_root(b"<!DOCTYPE a>").is_err());
    }

    #[test]
    fn elements_are_read() {
        let text = "\u{feff}<?xml version=\"1.0\"?><!-- x --><a:list n='1 &lt; 2'><b/><c x:y=\"z\"> t&#233;<![CDATA[<&]]></c><c/></a:list>\n";
        let root = parse(text).unwrap();
        assert_eq!(
            (root.name.as_str(), root.attribute("n"), root.children.len()),
            ("list", Some("1 < 2"), 3)
        );
        assert_eq!(root.value("c"), Some("té<&"));
        assert_eq!(root.child("c").unwrap().attribute("y"), Some("z"));
        assert_eq!((root.list("c").count(), root.descendants("c").len()), (2, 2));
    }

    #[test]
    fn what_is_unsafe_or_broken_is_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
        assert_eq!(parse(bomb), Err(DecodeError::Malformed("XML with a document type is not accepted")));
        let deep = "<a>".repeat(100);
        for text in [
            "",
            "<",
            "<a",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "x<a/>",
            "<a>&b;</a>",
            "<a b></a>",
            "<a b=c/>",
            "<!",
            "<a b='",
            "</a>",
            &deep,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
