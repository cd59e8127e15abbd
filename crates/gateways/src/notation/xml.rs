//! Parses XML of providers: elements, attributes and text. A document type is refused, so that only the five predefined
//! entities exist, and depth and size are limited.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::decode_budget::DecodeBudget;
use crate::decoded::DecodeError;

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 32;
/// Maximum number of elements of a document.
const MAX_ELEMENTS: usize = 100_000;
/// Memory of an element in a growing list, with the allocation of its name.
const ELEMENT_BYTES: usize = 2 * size_of::<Element>() + 32;
/// Memory of an attribute, computed in the same way.
const ATTRIBUTE_BYTES: usize = 2 * size_of::<(String, String)>() + 32;
/// Maximum size of an attribute of the root that is echoed, in bytes; the IDs of providers are shorter.
const ROOT_ATTRIBUTE_MAX: usize = 1_000;
/// Maximum number of attributes of an element.
const MAX_ATTRIBUTES: usize = 64;

/// An element with its content. Names have no namespace prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// The tag's name with its letter case, such as `stuMessage`.
    pub name: String,
    /// Names and values, in the order of the document.
    pub attributes: Vec<(String, String)>,
    /// Child elements, in order.
    pub children: Vec<Element>,
    /// The text of the element, without that of its children.
    pub text: String,
}

const MALFORMED: DecodeError = DecodeError::Malformed("the body is not well-formed XML");

impl Element {
    /// The first child element with this name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All child elements with this name.
    pub fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The trimmed text of the first child element with this name; none if it is empty.
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

    /// Parses the first tag of a document: the root without its content and without long attributes.
    pub fn parse_root(body: &[u8]) -> Result<Self, DecodeError> {
        let budget = DecodeBudget::for_body(0);
        let mut reader = Reader::from_str(text_of(body)?);
        loop {
            match reader.read_event().map_err(malformed)? {
                Event::Start(tag) | Event::Empty(tag) => {
                    let mut root = read_tag(&tag, &budget)?;
                    root.attributes.retain(|(_, value)| value.len() <= ROOT_ATTRIBUTE_MAX);
                    return Ok(root);
                }
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
                Event::Text(text) if text.trim().is_empty() => {}
                _ => return Err(MALFORMED),
            }
        }
    }

    /// Parses a document and returns its root. Its memory is charged to the budget.
    pub fn parse(body: &[u8], budget: &DecodeBudget) -> Result<Self, DecodeError> {
        let text = text_of(body)?;
        // Every text is copied once.
        budget.take(text.len())?;
        let mut reader = Reader::from_str(text);
        let mut open: Vec<Self> = Vec::new();
        let mut root = None;
        let mut count = 0;
        loop {
            match reader.read_event().map_err(malformed)? {
                event @ (Event::Start(_) | Event::Empty(_)) => {
                    count += 1;
                    if open.len() >= MAX_DEPTH || count > MAX_ELEMENTS {
                        return Err(DecodeError::Malformed("the XML is too deep or has too many elements"));
                    }
                    match event {
                        Event::Start(tag) => open.push(read_tag(&tag, budget)?),
                        Event::Empty(tag) => attach(&mut open, &mut root, read_tag(&tag, budget)?)?,
                        _ => {}
                    }
                }
                Event::End(_) => {
                    let done = open.pop().ok_or(MALFORMED)?;
                    attach(&mut open, &mut root, done)?;
                }
                Event::Text(text) => match open.last_mut() {
                    Some(parent) => parent.text.push_str(&text),
                    None if text.trim().is_empty() => {}
                    None => return Err(MALFORMED),
                },
                Event::CData(text) => open.last_mut().ok_or(MALFORMED)?.text.push_str(&text),
                Event::GeneralRef(name) => {
                    open.last_mut().ok_or(MALFORMED)?.text.push_str(&unescape(&format!("&{};", &*name))?);
                }
                Event::DocType(_) => {
                    return Err(DecodeError::Malformed("XML with a document type is not accepted"));
                }
                Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
                Event::Eof => return root.filter(|_| open.is_empty()).ok_or(MALFORMED),
            }
        }
    }
}

fn malformed<E>(_detail: E) -> DecodeError {
    MALFORMED
}

fn text_of(body: &[u8]) -> Result<&str, DecodeError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    std::str::from_utf8(body).map_err(|_detail| DecodeError::Malformed("the XML is not UTF-8"))
}

fn attach(open: &mut [Element], root: &mut Option<Element>, element: Element) -> Result<(), DecodeError> {
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None if root.is_none() => *root = Some(element),
        None => return Err(MALFORMED),
    }
    Ok(())
}

/// The element of a start tag, without its content.
fn read_tag(tag: &BytesStart<'_>, budget: &DecodeBudget) -> Result<Element, DecodeError> {
    budget.take_values(1, ELEMENT_BYTES)?;
    let name = tag.local_name();
    if name.as_ref().is_empty() {
        return Err(MALFORMED);
    }
    let mut element = Element { name: name.as_ref().to_owned(), ..Element::default() };
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(malformed)?;
        if element.attributes.len() >= MAX_ATTRIBUTES {
            return Err(MALFORMED);
        }
        budget.take_values(1, ATTRIBUTE_BYTES)?;
        let name = attribute.key.local_name().as_ref().to_owned();
        element.attributes.push((name, unescape(&attribute.value)?));
    }
    Ok(element)
}

/// A text with its entity references resolved.
fn unescape(text: &str) -> Result<String, DecodeError> {
    let text = quick_xml::escape::unescape(text);
    Ok(text.map_err(|_detail| DecodeError::Malformed("XML with entities is not accepted"))?.into_owned())
}

/// A text that is allowed in an attribute or between tags, without control characters.
pub fn escape(text: &str) -> String {
    quick_xml::escape::escape(text.replace(char::is_control, "")).into_owned()
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
    fn unsafe_or_malformed_xml_is_refused() {
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
            "< b='c'/>",
            "<a b='1' b='2'/>",
            "<a>b & c</a>",
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
