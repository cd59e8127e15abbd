//! Quotes values of a client in error messages, and suggests the nearest accepted word.

/// The text in quotes, shortened, with anything unprintable escaped.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((cut, _)) => format!("\"{}…\"", text[..cut].escape_debug()),
    }
}

/// The known word with the smallest edit distance, if it is close enough.
pub(super) fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const LONGEST: usize = 40;
    if given.chars().nth(LONGEST).is_some() {
        return None;
    }
    let given: Vec<char> = given.to_lowercase().chars().collect();
    let tolerance = given.len().div_ceil(3).min(3);
    known
        .into_iter()
        .map(|word| (distance(&given, &word.to_lowercase().chars().collect::<Vec<_>>()), word))
        .filter(|(distance, word)| *distance <= tolerance && *distance < word.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours.
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut earlier = vec![0; width];
    let mut above: Vec<usize> = (0..width).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1; width];
        for (column, other) in right.iter().enumerate() {
            let substituted = above[column] + usize::from(letter != other);
            let mut least = substituted.min(above[column + 1] + 1).min(current[column] + 1);
            let swapped = row > 0 && column > 0 && *letter == right[column - 1] && left[row - 1] == *other;
            if swapped {
                least = least.min(earlier[column - 1] + 1);
            }
            current[column + 1] = least;
        }
        earlier = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_what_was_meant() {
        let known = ["name", "description", "timeZone", "tags", "id"];
        for (given, expect) in [
            ("nmae", Some("name")),
            ("Name", Some("name")),
            ("TIMEZONE", Some("timeZone")),
            ("time_zone", Some("timeZone")),
            ("desciption", Some("description")),
            ("tag", Some("tags")),
            ("colour", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(given, known), expect, "{given}");
        }
        assert_eq!(nearest(&"n".repeat(1_000_000), known), None);
    }

    #[test]
    fn quotes_short_and_printable() {
        assert_eq!(quote("naïve"), "\"naïve\"");
        assert_eq!(quote("a\"b\n"), "\"a\\\"b\\n\"");
        assert_eq!(quote(&"é".repeat(61)), format!("\"{}…\"", "é".repeat(60)));
    }
}
