//! `perigee`: the service and its operator's commands.

mod api;
mod args;
mod command;
mod demo;
mod logging;
mod output;
mod progress;
mod settings;
mod transfer;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;

// In its second version, without huge pages: the third holds on to freed memory for a second, and both together made an
// import take three times as much.
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
