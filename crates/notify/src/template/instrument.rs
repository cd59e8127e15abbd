//! Rewrites a checked template so that every operand whose size matters is charged to the meter before it is used.
//!
//! The engine has no hook for `==`, `<` and `in`, nor for literal text. So operands are wrapped in a filter that
//! returns its input unchanged, and literal text becomes a constant that is written like a value.

use minijinja::Value;
use minijinja::machinery::ast::{
    BinOp, BinOpKind, CallArg, Compare, CompareOp, Const, EmitExpr, Expr, Filter, ForLoop, GetAttr, GetItem,
    IfCond, IfExpr, List, Spanned, Stmt, Template, Test, Tuple, UnaryOp, UnaryOpKind, Var,
};

use super::engine::TemplateError;

/// The filter that charges for a value with everything in it. Templates cannot use it, because `guard` refuses it.
pub(super) const CHARGE: &str = "__charge";
/// The filter that charges for the outermost level of a value.
pub(super) const CHARGE_LEVEL: &str = "__charge_level";
/// Constants up to this many bytes are charged as instructions only.
const SMALL: usize = 64;

type Rewritten<T> = Result<T, TemplateError>;

/// The template with charges; refuses what `guard` should have refused.
pub(super) fn instrument<'a>(stmt: &Stmt<'a>) -> Rewritten<Stmt<'a>> {
    Ok(match stmt {
        Stmt::Template(it) => {
            Stmt::Template(Spanned::new(Template { children: statements(&it.children)? }, it.span()))
        }
        Stmt::EmitRaw(it) => {
            let text = Const { value: Value::from_safe_string(it.raw.to_owned()) };
            let expr = Expr::Const(Spanned::new(text, it.span()));
            Stmt::EmitExpr(Spanned::new(EmitExpr { expr }, it.span()))
        }
        Stmt::EmitExpr(it) => {
            Stmt::EmitExpr(Spanned::new(EmitExpr { expr: expression(&it.expr)? }, it.span()))
        }
        Stmt::IfCond(it) => {
            let condition = IfCond {
                expr: expression(&it.expr)?,
                true_body: statements(&it.true_body)?,
                false_body: statements(&it.false_body)?,
            };
            Stmt::IfCond(Spanned::new(condition, it.span()))
        }
        Stmt::ForLoop(it) => {
            let repeated = ForLoop {
                target: expression(&it.target)?,
                iter: charged(&it.iter, CHARGE_LEVEL)?,
                filter_expr: it.filter_expr.as_ref().map(expression).transpose()?,
                recursive: it.recursive,
                body: statements(&it.body)?,
                else_body: statements(&it.else_body)?,
            };
            Stmt::ForLoop(Spanned::new(repeated, it.span()))
        }
        _ => return Err(unknown("this block")),
    })
}

fn statements<'a>(list: &[Stmt<'a>]) -> Rewritten<Vec<Stmt<'a>>> {
    list.iter().map(instrument).collect()
}

fn expressions<'a>(list: &[Expr<'a>]) -> Rewritten<Vec<Expr<'a>>> {
    list.iter().map(expression).collect()
}

fn expression<'a>(expr: &Expr<'a>) -> Rewritten<Expr<'a>> {
    Ok(match expr {
        Expr::Var(it) => Expr::Var(Spanned::new(Var { id: it.id }, it.span())),
        Expr::Const(it) => Expr::Const(Spanned::new(Const { value: it.value.clone() }, it.span())),
        Expr::UnaryOp(it) => {
            // `UnaryOpKind` is neither `Copy` nor `Clone`.
            let op = if matches!(it.op, UnaryOpKind::Not) { UnaryOpKind::Not } else { UnaryOpKind::Neg };
            Expr::UnaryOp(Spanned::new(UnaryOp { op, expr: expression(&it.expr)? }, it.span()))
        }
        Expr::BinOp(it) => {
            // `and` and `or` only test whether a value is empty.
            let reads = !matches!(it.op, BinOpKind::ScAnd | BinOpKind::ScOr);
            let operand = |expr| if reads { charged(expr, CHARGE) } else { expression(expr) };
            let binary = BinOp { op: it.op, left: operand(&it.left)?, right: operand(&it.right)? };
            Expr::BinOp(Spanned::new(binary, it.span()))
        }
        Expr::Compare(it) => {
            let operation =
                |one: &CompareOp<'a>| Ok(CompareOp { op: one.op, expr: charged(&one.expr, CHARGE)? });
            let ops = it.ops.iter().map(operation).collect::<Rewritten<_>>()?;
            Expr::Compare(Spanned::new(Compare { expr: charged(&it.expr, CHARGE)?, ops }, it.span()))
        }
        Expr::IfExpr(it) => {
            let chosen = IfExpr {
                test_expr: expression(&it.test_expr)?,
                true_expr: expression(&it.true_expr)?,
                false_expr: it.false_expr.as_ref().map(expression).transpose()?,
            };
            Expr::IfExpr(Spanned::new(chosen, it.span()))
        }
        Expr::Filter(it) => {
            let expr = it.expr.as_ref().map(|expr| charged(expr, CHARGE)).transpose()?;
            Expr::Filter(Spanned::new(Filter { name: it.name, expr, args: arguments(&it.args)? }, it.span()))
        }
        Expr::Test(it) => {
            let test = Test { name: it.name, expr: charged(&it.expr, CHARGE)?, args: arguments(&it.args)? };
            Expr::Test(Spanned::new(test, it.span()))
        }
        Expr::GetAttr(it) => {
            Expr::GetAttr(Spanned::new(GetAttr { expr: expression(&it.expr)?, name: it.name }, it.span()))
        }
        Expr::GetItem(it) => {
            let item = GetItem {
                expr: charged(&it.expr, CHARGE_LEVEL)?,
                subscript_expr: charged(&it.subscript_expr, CHARGE)?,
            };
            Expr::GetItem(Spanned::new(item, it.span()))
        }
        Expr::List(it) => Expr::List(Spanned::new(List { items: expressions(&it.items)? }, it.span())),
        Expr::Tuple(it) => Expr::Tuple(Spanned::new(Tuple { items: expressions(&it.items)? }, it.span())),
        _ => return Err(unknown("this expression")),
    })
}

fn arguments<'a>(list: &[CallArg<'a>]) -> Rewritten<Vec<CallArg<'a>>> {
    let one = |argument: &CallArg<'a>| match argument {
        CallArg::Pos(expr) => Ok(CallArg::Pos(charged(expr, CHARGE)?)),
        CallArg::Kwarg(name, expr) => Ok(CallArg::Kwarg(name, charged(expr, CHARGE)?)),
        CallArg::PosSplat(_) | CallArg::KwargSplat(_) => Err(unknown("* and **")),
    };
    list.iter().map(one).collect()
}

/// An operand that is charged each time it is used.
fn charged<'a>(expr: &Expr<'a>, filter: &'static str) -> Rewritten<Expr<'a>> {
    let inner = expression(expr)?;
    let is_small = |value: &Value| value.as_str().is_none_or(|text| text.len() <= SMALL);
    if matches!(&inner, Expr::Const(it) if is_small(&it.value)) {
        return Ok(inner);
    }
    let span = inner.span();
    Ok(Expr::Filter(Spanned::new(Filter { name: filter, expr: Some(inner), args: Vec::new() }, span)))
}

fn unknown(what: &str) -> TemplateError {
    TemplateError { line: None, problem: format!("{what} cannot be used here") }
}
