//! `perigee`: the service and its operator's commands.

mod api;
mod args;
mod command;
mod logging;
mod output;
mod progress;
mod settings;
mod transfer;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match command::run(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("perigee: {}", output::one_line(&error));
            ExitCode::FAILURE
        }
    }
}
