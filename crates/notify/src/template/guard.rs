//! Restricts the constructs that templates may contain.
//!
//! Fuel limits how many instructions a template runs, but one instruction can double a text, and forty of them fill
//! the memory. So variables can only come from loops over the data, strings cannot be joined or multiplied, and only
//! filters that do not lengthen a text much are allowed. No value is then larger than the data or the template.
//! `meter` limits the cost of reading values repeatedly.

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt};
use minijinja::machinery::{Span, Token, parse, tokenize};
use minijinja::syntax::SyntaxConfig;

use super::engine::TemplateError;

/// Maximum number of tokens in an expression or tag. Each may open another level, and parsing a level uses the stack.
const TOKENS_MAX: usize = 120;
/// Maximum nesting depth of `if` and `for`; each `elif` is a level more.
const LEVELS_MAX: usize = 30;
/// Maximum nesting depth of loops.
const LOOPS_MAX: usize = 2;

/// The filters that a template may use.
const FILTERS: &[&str] = &[
    "abs",
    "altitude",
    "capitalize",
    "coordinates",
    "count",
    "cut",
    "d",
    "date",
    "default",
    "distance",
    "e",
    "escape",
    "first",
    "float",
    "int",
    "items",
    "last",
    "length",
    "lower",
    "number",
    "round",
    "short_time",
    "speed",
    "string",
    "temperature",
    "time",
    "title",
    "trim",
    "upper",
];

/// Parses a template and refuses forbidden constructs.
pub(super) fn check_template(source: &str) -> Result<Stmt<'_>, TemplateError> {
    check_nesting(source)?;
    let template = parse(source, "template", SyntaxConfig::default()).map_err(TemplateError::from)?;
    check_statement(&template, 0)?;
    Ok(template)
}

/// Refuses templates nested so deeply that parsing could overflow the stack. Scans tokens without recursion.
fn check_nesting(source: &str) -> Result<(), TemplateError> {
    let mut tokens = 0;
    let mut opened = false;
    let mut levels: Vec<usize> = Vec::new();
    for token in tokenize(source, false, SyntaxConfig::default()) {
        let (token, span) = token.map_err(TemplateError::from)?;
        tokens += 1;
        match token {
            Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => tokens = 0,
            Token::Ident("if" | "for") if opened => levels.push(1),
            Token::Ident("elif") if opened => levels.last_mut().into_iter().for_each(|level| *level += 1),
            Token::Ident("endif" | "endfor") if opened => drop(levels.pop()),
            _ => {}
        }
        opened = matches!(token, Token::BlockStart);
        if tokens > TOKENS_MAX {
            return Err(refuse(span, format!("an expression or tag has more than {TOKENS_MAX} tokens")));
        }
        if levels.iter().sum::<usize>() > LEVELS_MAX {
            return Err(refuse(span, format!("if and for are nested more than {LEVELS_MAX} levels deep")));
        }
    }
    Ok(())
}

fn refuse(span: Span, problem: impl Into<String>) -> TemplateError {
    TemplateError { line: Some(usize::from(span.start_line)), problem: problem.into() }
}

fn check_statements(list: &[Stmt<'_>], loops: usize) -> Result<(), TemplateError> {
    list.iter().try_for_each(|stmt| check_statement(stmt, loops))
}

fn check_statement(stmt: &Stmt<'_>, loops: usize) -> Result<(), TemplateError> {
    match stmt {
        Stmt::Template(template) => check_statements(&template.children, loops),
        Stmt::EmitRaw(_) => Ok(()),
        Stmt::EmitExpr(emitted) => check_expression(&emitted.expr),
        Stmt::IfCond(condition) => {
            check_expression(&condition.expr)?;
            check_statements(&condition.true_body, loops)?;
            check_statements(&condition.false_body, loops)
        }
        Stmt::ForLoop(repeated) => {
            let span = repeated.span();
            if loops >= LOOPS_MAX {
                return Err(refuse(span, "loops are nested more than two levels deep"));
            }
            if repeated.recursive || !is_unchanged_value(&repeated.iter) {
                return Err(refuse(
                    span,
                    "a loop must be over an unchanged value, such as alert.attributes|items",
                ));
            }
            repeated.filter_expr.as_ref().map_or(Ok(()), check_expression)?;
            check_statements(&repeated.body, loops + 1)?;
            check_statements(&repeated.else_body, loops + 1)
        }
        Stmt::Set(tag) => Err(forbidden_tag(tag.span(), "set")),
        Stmt::SetBlock(tag) => Err(forbidden_tag(tag.span(), "set")),
        Stmt::WithBlock(tag) => Err(forbidden_tag(tag.span(), "with")),
        Stmt::AutoEscape(tag) => Err(forbidden_tag(tag.span(), "autoescape")),
        Stmt::FilterBlock(tag) => Err(forbidden_tag(tag.span(), "filter")),
        Stmt::Do(tag) => Err(forbidden_tag(tag.span(), "do")),
    }
}

fn forbidden_tag(span: Span, tag: &str) -> TemplateError {
    refuse(span, format!("{{% {tag} %}} cannot be used here; use if, for and raw"))
}

/// Whether an expression is a name, a field of one or the items of a map, and so does not create a new value.
fn is_unchanged_value(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Var(_) => true,
        Expr::GetAttr(member) => is_unchanged_value(&member.expr),
        Expr::Filter(filter) => {
            filter.name == "items"
                && filter.expr.as_ref().is_some_and(is_unchanged_value)
                && filter.args.is_empty()
        }
        _ => false,
    }
}

fn check_expression(expr: &Expr<'_>) -> Result<(), TemplateError> {
    match expr {
        Expr::Var(_) | Expr::Const(_) => Ok(()),
        Expr::UnaryOp(unary) => check_expression(&unary.expr),
        Expr::BinOp(binary) => {
            let grows = [BinOpKind::Add, BinOpKind::Mul, BinOpKind::Pow, BinOpKind::Concat];
            if grows.iter().any(|op| std::mem::discriminant(op) == std::mem::discriminant(&binary.op)) {
                return Err(refuse(
                    binary.span(),
                    "+, *, ** and ~ cannot be used here; write values one after another",
                ));
            }
            check_expression(&binary.left)?;
            check_expression(&binary.right)
        }
        Expr::Compare(compared) => {
            check_expression(&compared.expr)?;
            compared.ops.iter().try_for_each(|operation| check_expression(&operation.expr))
        }
        Expr::IfExpr(chosen) => {
            check_expression(&chosen.test_expr)?;
            check_expression(&chosen.true_expr)?;
            chosen.false_expr.as_ref().map_or(Ok(()), check_expression)
        }
        Expr::Filter(filter) => {
            if !FILTERS.contains(&filter.name) {
                let known = FILTERS.join(", ");
                return Err(refuse(
                    filter.span(),
                    format!("{} is not a filter; the filters are {known}", filter.name),
                ));
            }
            filter.expr.as_ref().map_or(Ok(()), check_expression)?;
            filter.args.iter().try_for_each(check_argument)
        }
        Expr::Test(test) => {
            check_expression(&test.expr)?;
            test.args.iter().try_for_each(check_argument)
        }
        Expr::GetAttr(member) => check_expression(&member.expr),
        Expr::GetItem(item) => {
            check_expression(&item.expr)?;
            check_expression(&item.subscript_expr)
        }
        Expr::List(list) => list.items.iter().try_for_each(check_expression),
        Expr::Tuple(tuple) => tuple.items.iter().try_for_each(check_expression),
        Expr::Slice(slice) => Err(refuse(slice.span(), "slices cannot be used here; use the filter cut")),
        Expr::Call(call) => Err(refuse(call.span(), "functions cannot be called here")),
        Expr::Map(map) => Err(refuse(map.span(), "maps cannot be written here")),
    }
}

fn check_argument(argument: &CallArg<'_>) -> Result<(), TemplateError> {
    match argument {
        CallArg::Pos(expr) | CallArg::Kwarg(_, expr) => check_expression(expr),
        CallArg::PosSplat(expr) | CallArg::KwargSplat(expr) => {
            Err(refuse(expr.span(), "* and ** cannot be used here"))
        }
    }
}
