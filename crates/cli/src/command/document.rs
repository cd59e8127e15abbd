//! `perigee openapi` and `perigee completions`: commands that print a generated document.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use perigee_server::http::router::api_document;

use crate::args::{Cli, Common, Openapi};
use crate::output::print_text;
use crate::settings;

/// Prints the OpenAPI document of the server with these settings.
pub(crate) fn openapi(common: &Common, options: Openapi) -> Result<()> {
    let flag = options.base_url.map(|url| ("server", "base_url", url));
    let config = settings::load(common, flag.into_iter().collect())?;
    let base_url = config.server.base_url_at(config.server.listen)?;
    print_text(&serde_json::to_string_pretty(&api_document(&base_url.to_string()))?)
}

/// Prints the completion script for a shell.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "perigee", &mut script);
    print_text(&String::from_utf8_lossy(&script))
}
