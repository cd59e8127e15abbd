//! Names and values of a query or of a form body.

/// The most pairs that are read; what follows is not looked at.
const MAX_PAIRS: usize = 1000;

/// The pairs of a text in `application/x-www-form-urlencoded`, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// The pairs of a query or body. Bytes that are no UTF-8 are replaced.
    pub fn parse(text: &[u8]) -> Self {
        let pairs = text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()).take(MAX_PAIRS);
        Self(
            pairs
                .map(|pair| {
                    let mut sides = pair.splitn(2, |byte| *byte == b'=');
                    (unescape(sides.next().unwrap_or_default()), unescape(sides.next().unwrap_or_default()))
                })
                .collect(),
        )
    }

    /// The value of the first pair of this name, if it is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// All pairs, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Adds the pairs of another form after these.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Whether there are no pairs.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A text without percent escapes; a plus is a blank. What only looks like an escape stays.
pub fn unescape(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match (first, escaped) {
            (_, Some((high, low))) => {
                bytes.push(high << 4 | low);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', None) => bytes.push(b' '),
            (other, None) => bytes.push(*other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const fn hex(digit: u8) -> Option<u8> {
    Some(match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_pairs() {
        let form = Form::parse(b"id=1&&t=2023-03-14T09%3A00%3A14Z&x&y=a+b%2&y=c&%ff=%C3%A9");
        assert_eq!(form.get("t"), Some("2023-03-14T09:00:14Z"));
        assert_eq!(form.get("x"), None);
        assert_eq!(form.get("y"), Some("a b%2"));
        assert_eq!(form.pairs().last(), Some(("\u{fffd}", "é")));
    }
}
