//! The kinds of reports and their columns.

use perigee_reports::{Grouping, ReportKind};

use super::input::KindName;
use crate::http::place::{read_reader, reader_of};
use crate::http::prelude::*;

/// A column of a report.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportColumn)]
pub struct ColumnView {
    /// Name of the column in `columns` and in rows.
    #[schema(example = "distance")]
    id: &'static str,
    /// Title of the column.
    #[schema(example = "Distance")]
    title: &'static str,
    /// Type of its values. `text`: text. `dateTime`: a time. `date`: a date. `duration`: seconds. `distance` and `speed`: a
    /// number in `unit`. `number`: a number. `count`: a whole number.
    #[serde(rename = "type")]
    #[schema(example = "distance", pattern = "^(text|dateTime|date|duration|distance|speed|number|count)$")]
    kind: &'static str,
    /// Unit of its numbers. Null if they have none.
    #[schema(example = "km")]
    unit: Option<&'static str>,
    /// Whether reports have the column unless `columns` is given.
    #[schema(example = true)]
    is_default: bool,
}

/// A kind of report.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportKindDescription)]
pub struct KindView {
    /// The kind, as in a report.
    #[schema(value_type = KindName, example = "trips")]
    kind: &'static str,
    /// Name of the kind.
    #[schema(example = "Trips")]
    title: &'static str,
    /// Whether rows are totals, so that `groupBy` is supported.
    #[schema(example = false)]
    is_totals: bool,
    /// Columns that a report may have.
    columns: Vec<ColumnView>,
}

/// Kinds of reports.
#[derive(Serialize, ToSchema)]
#[schema(as = ReportKindList)]
pub struct KindList {
    /// Kinds, in a fixed order.
    kinds: Vec<KindView>,
}

/// List kinds of reports
///
/// Returns the kinds of reports with the columns that each may have, in the language and units of the reader. Any user may
/// call this operation.
#[utoipa::path(get, path = "/api/reports/kinds", tag = "reports", params(
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of titles: `en` or `es`. Titles in any other language are in English. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances and speeds. Default: the units of the caller's preferences."),
), responses((status = 200, description = "Kinds of reports.", body = KindList)))]
pub async fn list_report_kinds(Call(app, caller): Call, mut params: Params) -> ApiReply<KindList> {
    let given = read_reader(&mut params);
    params.finish()?;
    let reader = reader_of(&app, &caller, given).await?;
    let view = |kind: ReportKind| {
        let usual = kind.usual_columns(Grouping::Device);
        let columns = kind.columns().iter().map(|column| ColumnView {
            id: column.name(),
            title: column.title(reader.language),
            kind: column.kind().name(),
            unit: column.unit(reader.units),
            is_default: usual.contains(column),
        });
        KindView {
            kind: kind.name(),
            title: kind.title(reader.language),
            is_totals: kind.is_totals(),
            columns: columns.collect(),
        }
    };
    Ok(caller.reply(KindList { kinds: ReportKind::ALL.map(view).into() }))
}
