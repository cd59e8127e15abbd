//! `perigee config`: prints the effective settings.

use anyhow::{Context, Result};

use crate::args::{Common, ConfigCommand};
use crate::output::print_text;
use crate::settings;

/// Checks the settings and prints them without secrets.
pub(crate) fn run(common: &Common, command: &ConfigCommand) -> Result<()> {
    let ConfigCommand::Check = command;
    let config = settings::load(common, Vec::new())?;
    let text = if common.json {
        serde_json::to_string(&config)?
    } else {
        let mut text = toml::to_string(&config).context("cannot print the settings")?;
        for remark in config.remarks() {
            text.push_str("\n# Remark: ");
            text.push_str(remark);
            text.push('\n');
        }
        text
    };
    print_text(&text)
}
