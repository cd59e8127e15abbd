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

// mimalloc version 2, without huge pages: version 3 keeps freed memory for a second, and with huge pages an import took
// three times the memory. With the feature `override`, SQLite and zstd use it as well: the allocator of the C library
// returned memory to the kernel with every commit, and every other core was interrupted for it.
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
