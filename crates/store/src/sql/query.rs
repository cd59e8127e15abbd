//! Building statements from conditions, and statements over many rows or ids.

use perigee_core::store::Result;

use crate::{Row, Tx, Value};

/// A statement under construction: its text and its parameters.
pub(crate) struct Query {
    text: String,
    values: Vec<Value>,
}

impl Query {
    /// Starts with this text and the values of its placeholders.
    pub(crate) fn new(text: impl Into<String>, values: &[Value]) -> Self {
        Self { text: text.into(), values: values.to_vec() }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends text, in which `{}` stands for the value.
    pub(crate) fn push_with(&mut self, text: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        let placeholder = format!("?{}", self.values.len());
        self.text.push_str(&text.replace("{}", &placeholder));
    }

    /// Appends a condition on a client's text; one with a NUL, which no column can hold, matches nothing.
    pub(crate) fn push_if_storable(&mut self, text: &str, value: &str) {
        if value.contains('\0') {
            self.push(" AND FALSE");
        } else {
            self.push_with(text, value);
        }
    }

    /// All rows of the result.
    pub(crate) async fn rows(&self, tx: &Tx) -> Result<Vec<Row>> {
        Ok(tx.query(&self.text, &self.values).await?)
    }

    /// Runs it; returns how many rows it changed.
    pub(crate) async fn execute(&self, tx: &Tx) -> Result<u64> {
        Ok(tx.execute(&self.text, &self.values).await?)
    }

    /// The row of the result, if there is one.
    pub(crate) async fn row(&self, tx: &Tx) -> Result<Option<Row>> {
        Ok(tx.query_opt(&self.text, &self.values).await?)
    }
}

/// Rows that one statement inserts. Few sizes, so that few statements are prepared and cached.
const INSERT_SIZES: [usize; 4] = [200, 20, 5, 1];

/// Inserts rows of equal length by few statements: `head` is the text before VALUES, `tail` the text after the values.
pub(crate) async fn insert_many(tx: &Tx, head: &str, rows: &[Vec<Value>], tail: &str) -> Result<Vec<Row>> {
    let mut answer = Vec::new();
    let mut rest = rows;
    while let Some(width) = rest.first().map(Vec::len) {
        let size = INSERT_SIZES.into_iter().find(|size| *size <= rest.len()).unwrap_or(1);
        let (now, later) = rest.split_at(size);
        let tuple = |row: usize| format!("({})", placeholders(row * width, width));
        let tuples: Vec<String> = (0..size).map(tuple).collect();
        let sql = format!("{head} VALUES {} {tail}", tuples.join(", "));
        answer.extend(tx.query(&sql, &now.concat()).await?);
        rest = later;
    }
    Ok(answer)
}

/// Ids that one statement lists; a shorter list is padded with its last id.
const ID_LISTS: [usize; 3] = [1, 16, 256];

/// Runs a statement for many ids or other numbers; `{ids}` stands for a list of them, `?1`.. for the values.
pub(crate) async fn for_ids(tx: &Tx, sql: &str, values: &[Value], ids: &[i64]) -> Result<Vec<Row>> {
    let mut answer = Vec::new();
    for chunk in ids.chunks(ID_LISTS[ID_LISTS.len() - 1]) {
        let size = ID_LISTS.into_iter().find(|size| *size >= chunk.len()).unwrap_or(chunk.len());
        let last = chunk.last().copied().unwrap_or_default();
        let filled = chunk.iter().copied().chain(std::iter::repeat(last)).take(size).map(Value::Int);
        let bound: Vec<Value> = values.iter().cloned().chain(filled).collect();
        let sql = sql.replace("{ids}", &placeholders(values.len(), size));
        answer.extend(tx.query(&sql, &bound).await?);
    }
    Ok(answer)
}

/// Texts that one statement lists.
const TEXTS: usize = 200;

/// Runs a query for many texts; `{texts}` stands for a list of them. Texts with a NUL are left out.
pub(crate) async fn for_texts(tx: &Tx, query: &Query, tail: &str, texts: &[String]) -> Result<Vec<Row>> {
    let storable: Vec<Value> =
        texts.iter().filter(|text| !text.contains('\0')).map(|text| Value::Text(text.clone())).collect();
    let mut answer = Vec::new();
    for chunk in storable.chunks(TEXTS) {
        let bound = [query.values.as_slice(), chunk].concat();
        let sql = format!("{}{tail}", query.text);
        let sql = sql.replace("{texts}", &placeholders(query.values.len(), chunk.len()));
        answer.extend(tx.query(&sql, &bound).await?);
    }
    Ok(answer)
}

/// `count` placeholders after the first `before`.
fn placeholders(before: usize, count: usize) -> String {
    let names: Vec<String> = (before + 1..=before + count).map(|number| format!("?{number}")).collect();
    names.join(", ")
}

/// The definition of `waiting (id)`, which comes after WITH RECURSIVE: the accounts with rows that meet the
/// condition. Each account is found by one seek in an index that begins with the account (a loose index scan),
/// however many rows it has. Citus does not support recursion over shards.
pub(crate) fn waiting_accounts(table: &str, condition: &str) -> String {
    format!(
        "waiting (id) AS ( \
            SELECT MIN(account_id) FROM {table} WHERE {condition} \
            UNION ALL \
            SELECT (SELECT MIN(account_id) FROM {table} WHERE {condition} AND account_id > waiting.id) \
            FROM waiting WHERE waiting.id IS NOT NULL)"
    )
}
