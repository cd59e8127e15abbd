//! `perigee openapi` and `perigee completions`.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use perigee_server::http::router::api_document;

use crate::args::{Cli, Common, Openapi};
use crate::output::print_text;
use crate::settings;

/// Prints the description of the API.
pub(crate) fn openapi(common: &Common, options: Openapi) -> Result<()> {
    let base_url = options.base_url.map(|url| ("server", "base_url", url));
    let config = settings::load(common, base_url.into_iter().collect())?;
    let base_url = config.server.base_url_at(config.server.listen)?;
    print_text(&serde_json::to_string_pretty(&api_document(&base_url.to_string()))?)
}

/// Prints a shell's completions.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "perigee", &mut script);
    print_text(&String::from_utf8_lossy(&script))
}
