//! The language of the API reference: words that it does not use, and the form of summaries and descriptions.

use perigee_server::http::error_code::ErrorCode;
use perigee_server::http::router::api_document;
use serde_json::{Value, json};

/// Words and phrases that the reference does not use, in lower case, and what to write instead.
const FORBIDDEN: &[(&str, &str)] = &[
    ("told", "notified, reported or returned"),
    ("tell", "notify, report or return"),
    ("tells", "notifies, reports or returns"),
    ("in sight", "visible to the caller"),
    ("out of sight", "not visible to the caller"),
    ("is gone", "was deleted, was revoked or has expired"),
    ("are gone", "were deleted, were revoked or have expired"),
    ("made by us", "assigned by the server"),
    ("what became", "the result or the delivery state"),
    ("thing", "the name of the resource"),
    ("things", "the name of the resources"),
    ("any more", "no longer"),
    ("so much", "the quantity"),
    ("rhythm", "interval"),
];

/// The verbs that a summary may begin with. Extend the list when an operation needs another one.
const VERBS: &[&str] = &[
    "Acknowledge",
    "Assign",
    "Begin",
    "Cancel",
    "Change",
    "Check",
    "Confirm",
    "Copy",
    "Create",
    "Decode",
    "Delete",
    "Describe",
    "Dismiss",
    "Download",
    "End",
    "Extend",
    "Fetch",
    "List",
    "Mail",
    "Mark",
    "Merge",
    "Open",
    "Pause",
    "Preview",
    "Prove",
    "Receive",
    "Record",
    "Remove",
    "Renew",
    "Replace",
    "Reprocess",
    "Request",
    "Resend",
    "Restore",
    "Resume",
    "Retrieve",
    "Retry",
    "Revoke",
    "Rotate",
    "Run",
    "Send",
    "Set",
    "Sign",
    "Split",
    "Start",
    "Stop",
    "Stream",
    "Submit",
    "Suspend",
    "Test",
    "Update",
];

/// The least number of words in a description.
const DESCRIPTION_WORDS_MIN: usize = 3;

/// The table of error codes for users, which has a sentence for each code.
const ERRORS_BOOK: &str = include_str!("../../../../../docs/api/errors.md");

/// The table of error codes in the code, where the sentence of a code is the comment above it.
const ERRORS_SOURCE: &str = include_str!("../../../src/http/error_code.rs");

#[test]
fn the_reference_uses_the_words_of_the_field() {
    let problems = document_problems(&api_document("http://perigee.test"));
    assert!(problems.is_empty(), "{} texts:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_parameter_has_an_example() {
    let document = api_document("http://perigee.test");
    let missing = parameters_without_example(&document);
    assert!(missing.is_empty(), "{} parameters:\n{}", missing.len(), missing.join("\n"));
    let bare = json!({ "paths": { "/api/devices": { "get": { "parameters": [
        { "name": "q", "in": "query", "schema": { "type": "string" } },
        { "name": "limit", "in": "query", "schema": { "type": "integer" }, "example": 100 },
    ] } } } });
    assert_eq!(parameters_without_example(&bare), ["get /api/devices: q"]);
}

/// The parameters of operations that have no example, as method, path and name.
fn parameters_without_example(document: &Value) -> Vec<String> {
    let mut missing = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let has_one =
                    parameter.get("example").is_some() || parameter["schema"].get("example").is_some();
                if !has_one {
                    missing
                        .push(format!("{method} {path}: {}", parameter["name"].as_str().unwrap_or_default()));
                }
            }
        }
    }
    missing
}

#[test]
fn error_codes_use_the_words_of_the_field() {
    let titles = ErrorCode::ALL.iter().map(|code| (code.name(), code.title()));
    let problems: Vec<String> = titles
        .chain(book_sentences())
        .flat_map(|(code, text)| {
            forbidden(text).into_iter().map(move |word| format!("{code}: {word}: {text}"))
        })
        .collect();
    assert!(problems.is_empty(), "{} texts:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn the_book_has_the_sentences_of_the_code() {
    let lines: Vec<&str> = ERRORS_SOURCE.lines().map(str::trim).collect();
    let in_source: Vec<(&str, &str)> = lines
        .iter()
        .zip(lines.iter().skip(1))
        .filter_map(|(comment, code)| {
            let (_, rest) = code.split_once(" = \"")?;
            Some((rest.split_once('"')?.0, comment.strip_prefix("/// ")?))
        })
        .collect();
    assert_eq!(in_source.len(), ErrorCode::ALL.len(), "every code has a comment of one line");
    assert_eq!(book_sentences(), in_source);
}

/// Each code of the book's table, with its sentence.
fn book_sentences() -> Vec<(&'static str, &'static str)> {
    let rows = ERRORS_BOOK.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").skip(1);
        Some((cells.next()?.strip_prefix('`')?.strip_suffix('`')?, cells.next()?))
    });
    rows.collect()
}

/// The check itself must find each kind of bad text, and nothing else.
#[test]
fn bad_texts_are_found() {
    let document = json!({
        "paths": { "/api/devices": { "get": {
            "summary": "The devices in sight.",
            "description": "Lists the devices that the caller may see.",
            "responses": { "200": { "description": "Devices." } },
        } } },
        "components": { "schemas": { "Device": {
            "description": "A device of the account.",
            "properties": {
                "summary": { "type": "string", "description": "Users are told of it by e-mail." },
                "description": { "type": "string", "description": "Note about the device.", "example": "Told" },
                "example": { "description": "Untold stories are fine." },
            },
            "example": { "description": "Night shift" },
        } } },
    });
    let found = document_problems(&document);
    let expect = [
        "/components/schemas/Device/properties/summary/description: \"told\" (write notified, reported or returned)",
        "/paths//api/devices/get/responses/200/description: fewer than 3 words",
        "/paths//api/devices/get/summary: \"in sight\" (write visible to the caller)",
        "/paths//api/devices/get/summary: does not begin with a verb of the list",
        "/paths//api/devices/get/summary: ends with a full stop",
    ];
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.starts_with(expect), "{found} is not {expect}");
    }
    assert_eq!(found.len(), expect.len(), "{found:#?}");
}

/// Every problem of the document's texts, each with its pointer, sorted.
fn document_problems(document: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    check_texts(document, "", false, &mut problems);
    problems.sort();
    problems
}

/// Checks the texts in a value. The members of `properties` have names that clients chose: one that is called
/// `description` has a schema as its value, not a text.
fn check_texts(value: &Value, pointer: &str, are_names: bool, problems: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let here = format!("{pointer}/{name}");
                match (name.as_str(), member) {
                    ("example" | "examples" | "default" | "const" | "enum", _) if !are_names => {}
                    ("summary", Value::String(text)) if !are_names => {
                        note(&here, text, summary_problems(text), problems);
                    }
                    ("description", Value::String(text)) if !are_names => {
                        note(&here, text, description_problems(text), problems);
                    }
                    _ => check_texts(member, &here, !are_names && name == "properties", problems),
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_texts(item, &format!("{pointer}/{index}"), false, problems);
            }
        }
        _ => {}
    }
}

fn note(pointer: &str, text: &str, found: Vec<String>, problems: &mut Vec<String>) {
    problems.extend(found.into_iter().map(|problem| format!("{pointer}: {problem}: {text}")));
}

fn summary_problems(text: &str) -> Vec<String> {
    let mut problems = forbidden(text);
    if text.ends_with('.') {
        problems.push("ends with a full stop".to_owned());
    }
    if !text.split_whitespace().next().is_some_and(|first| VERBS.contains(&first)) {
        problems.push("does not begin with a verb of the list".to_owned());
    }
    problems
}

fn description_problems(text: &str) -> Vec<String> {
    let mut problems = forbidden(text);
    if text.split_whitespace().count() < DESCRIPTION_WORDS_MIN {
        problems.push(format!("fewer than {DESCRIPTION_WORDS_MIN} words"));
    }
    problems
}

/// The forbidden words and phrases in a text, as whole words and in any letter case.
fn forbidden(text: &str) -> Vec<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '\'';
    let words: Vec<String> = text
        .split(|letter: char| !is_word(letter))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let padded = format!(" {} ", words.join(" "));
    FORBIDDEN
        .iter()
        .filter(|(phrase, _)| padded.contains(&format!(" {phrase} ")))
        .map(|(phrase, instead)| format!("\"{phrase}\" (write {instead})"))
        .collect()
}
