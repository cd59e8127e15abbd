//! Templates with few instructions that each read a long text: they must be refused or cheap.

use anyhow::Result;
use serde_json::json;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const CALLS: usize = 40;
const AT_ONCE: usize = 8;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let long = "Lorem ipsum dolor ".repeat(950);
    let source = format!(
        "{{% for a in label.why %}}{{% for b in label.why %}}{{% if '{long}'|upper|lower|title == '' %}}x{{% endif %}}\
         {{% endfor %}}{{% endfor %}}"
    );
    let preview = json!({"kind": "alert-email-html", "source": source}).to_string();
    let save = json!({"source": source}).to_string();
    let mut statuses = Vec::new();
    for _ in 0..CALLS / AT_ONCE {
        let mut calls = JoinSet::new();
        for number in 0..AT_ONCE {
            let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
            let (line, body) = match number % 2 {
                0 => ("POST /api/templates/preview", preview.clone()),
                _ => ("PUT /api/templates/alert-email-html", save.clone()),
            };
            calls.spawn(
                async move { anyhow::Ok(connection.call(line, &token, body.as_bytes()).await?.status) },
            );
        }
        while let Some(done) = calls.join_next().await {
            statuses.push(done??);
        }
    }
    Ok(format!("{CALLS} templates of 17 KB: {}", count_by_status(statuses, &[400, 422, 429])?))
}
