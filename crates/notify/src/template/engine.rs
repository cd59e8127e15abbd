//! Templates checked and made into texts, within bounds.

use std::io;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value, escape_formatter};

use super::facts::Facts;
use super::filter::add_filters;
use super::format::Reader;
use super::guard::guard;
use super::kind::TemplateKind;

/// Steps a template may make: many times what the longest built-in one needs.
const FUEL: u64 = 20_000;
/// Templates whose parts stand deeper in each other than this are nobody's wish.
const DEPTH_MAX: usize = 100;

/// What is wrong with a template, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// What is wrong, for whoever wrote it.
    pub problem: String,
}

impl From<Error> for TemplateError {
    fn from(error: Error) -> Self {
        let quoted = error.range().and_then(|range| error.template_source()?.get(range)).map(str::trim);
        let quoted = quoted.filter(|text| !text.is_empty() && text.len() <= 80);
        let detail = error.detail().unwrap_or_default();
        let problem = match (error.kind(), quoted) {
            (ErrorKind::UndefinedError, Some(text)) => format!("{text} is not known here"),
            (ErrorKind::UndefinedError, None) => "something here is not known".to_owned(),
            (ErrorKind::OutOfFuel, _) => "it takes too many steps".to_owned(),
            (kind, _) if detail.is_empty() => kind.to_string(),
            (_, Some(text)) => format!("{detail}, near {text}"),
            (_, None) => detail.to_owned(),
        };
        Self { line: error.line(), problem }
    }
}

/// Checks a template of somebody's making as far as can be done without facts.
pub fn check(source: &str) -> Result<(), TemplateError> {
    if source.chars().count() > TemplateKind::SOURCE_MAX {
        let problem = format!("it is longer than {} characters", TemplateKind::SOURCE_MAX);
        return Err(TemplateError { line: None, problem });
    }
    guard(source)
}

/// The text a template makes of these facts.
pub fn render(kind: TemplateKind, source: &str, facts: &Facts) -> Result<String, TemplateError> {
    check(source)?;
    let environment = environment(kind, facts);
    let template = environment.template_from_named_str(kind.name(), source)?;
    let mut text = Bounded { bytes: Vec::new(), most: kind.output_max(), overflown: false };
    let rendered = template.render_captured_to(Value::from(Serde(facts)), &mut text).map(drop);
    if text.overflown {
        let problem = format!("what it makes is longer than {} bytes", kind.output_max());
        return Err(TemplateError { line: None, problem });
    }
    rendered?;
    Ok(String::from_utf8_lossy(&text.bytes).into_owned())
}

fn environment(kind: TemplateKind, facts: &Facts) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH_MAX);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(
        move |_name| if kind.is_html() { AutoEscape::Html } else { AutoEscape::None },
    );
    environment.set_formatter(|out, state, value| {
        // What is not known prints as nothing, so that a template need not ask for each value.
        if value.is_none() { Ok(()) } else { escape_formatter(out, state, value) }
    });
    environment.set_debug(true);
    add_filters(&mut environment, Reader::new(facts.units, facts.zone.clone(), facts.language()));
    environment
}

/// A text that grows to its bound and no further.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
    overflown: bool,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            self.overflown = true;
            return Err(io::Error::other("the text is too long"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
