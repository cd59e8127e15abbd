//! Checks and renders templates within a budget.

use std::sync::Arc;

use minijinja::machinery::{CodeGenerator, eval, make_string_output};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value, escape_formatter};

use super::facts::Facts;
use super::filter::add_filters;
use super::format::Reader;
use super::guard::check_template;
use super::instrument::{CHARGE, CHARGE_LEVEL, instrument};
use super::kind::TemplateKind;
use super::meter::{Limits, Meter};

/// Instructions that a template may run, including those that charge for bytes: many times the need of the longest
/// built-in template.
const FUEL: u64 = 22_000;
/// Maximum nesting depth while rendering.
const DEPTH_MAX: usize = 100;

/// An error in a template, and its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct TemplateError {
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The problem, for the author of the template.
    pub problem: String,
}

impl From<Error> for TemplateError {
    fn from(error: Error) -> Self {
        let quoted = error.range().and_then(|range| error.template_source()?.get(range)).map(str::trim);
        let quoted = quoted.filter(|text| !text.is_empty() && text.len() <= 80);
        let detail = error.detail().unwrap_or_default();
        let problem = match (error.kind(), quoted) {
            (ErrorKind::UndefinedError, Some(text)) => format!("{text} is not defined"),
            (ErrorKind::UndefinedError, None) => "a value is not defined".to_owned(),
            (ErrorKind::OutOfFuel, _) => "rendering takes too many steps".to_owned(),
            (kind, _) if detail.is_empty() => kind.to_string(),
            (_, Some(text)) => format!("{detail}, near {text}"),
            (_, None) => detail.to_owned(),
        };
        Self { line: error.line(), problem }
    }
}

/// Checks a user's template as far as possible without data.
pub fn check(source: &str) -> Result<(), TemplateError> {
    check_length(source)?;
    check_template(source).map(drop)
}

fn check_length(source: &str) -> Result<(), TemplateError> {
    if source.chars().count() > TemplateKind::SOURCE_MAX {
        let problem = format!("the source is longer than {} characters", TemplateKind::SOURCE_MAX);
        return Err(TemplateError { line: None, problem });
    }
    Ok(())
}

/// Renders a template within [`Limits::DEFAULT`].
///
/// Uses the CPU for up to some tens of milliseconds: do not run it on a thread that serves connections.
pub fn render(kind: TemplateKind, source: &str, facts: &Facts) -> Result<String, TemplateError> {
    render_within(kind, source, facts, Limits::DEFAULT)
}

/// Renders a template unless it exceeds the limits.
pub fn render_within(
    kind: TemplateKind,
    source: &str,
    facts: &Facts,
    limits: Limits,
) -> Result<String, TemplateError> {
    check_length(source)?;
    let template = check_template(source)?;
    let values = Value::from(Serde(facts));
    let meter = Arc::new(Meter::new(limits, &values, kind.output_max()));
    let environment = environment(kind, facts, &meter);
    let mut generator = CodeGenerator::new(kind.name(), source);
    generator.compile_stmt(&instrument(&template)?);
    let (instructions, blocks) = generator.finish();
    let escape = if kind.is_html() { AutoEscape::Html } else { AutoEscape::None };
    let mut text = String::new();
    eval(&environment, &instructions, values, &blocks, &mut make_string_output(&mut text), escape)?;
    // The meter measures texts before escaping.
    if text.len() > kind.output_max() {
        return Err(TemplateError { line: None, problem: meter.too_long() });
    }
    Ok(text)
}

fn environment(kind: TemplateKind, facts: &Facts, meter: &Arc<Meter>) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH_MAX);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(
        move |_name| if kind.is_html() { AutoEscape::Html } else { AutoEscape::None },
    );
    let output = Arc::clone(meter);
    environment.set_formatter(move |out, state, value| {
        // Unknown values print as nothing, so that a template need not test each one.
        if value.is_none() {
            return Ok(());
        }
        output.charge_output(value)?;
        escape_formatter(out, state, value)
    });
    let (whole, level) = (Arc::clone(meter), Arc::clone(meter));
    environment.add_filter(CHARGE, move |value: Value| whole.charge(&value).map(|()| value));
    environment.add_filter(CHARGE_LEVEL, move |value: Value| level.charge_level(&value).map(|()| value));
    environment.set_debug(true);
    add_filters(&mut environment, Reader::new(facts.units, facts.zone.clone(), facts.language()));
    environment
}
