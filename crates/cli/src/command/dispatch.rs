//! Runs the subcommand of a command line, on the runtime that it needs.

use std::process::ExitCode;

use anyhow::{Context, Result};
use tokio::runtime::{Builder, Runtime};

use super::{
    account, backup, config, decode, demo, document, export, import, import_devices, key, map, migrate,
    notify, repair, reprocess, restore, serve, simulate, user, verify,
};
use crate::args::{Cli, Command};
use crate::logging;

/// Runs the subcommand that the arguments name.
pub(crate) fn run(cli: Cli) -> Result<ExitCode> {
    let common = &cli.common;
    if let Command::Serve(options) = cli.command {
        return runtime(&mut Builder::new_multi_thread())?.block_on(serve::serve(common, options));
    }
    if let Command::Demo(options) = cli.command {
        return runtime(&mut Builder::new_multi_thread())?.block_on(demo::demo(common, options));
    }
    logging::start_quiet();
    let runtime = runtime(&mut Builder::new_current_thread())?;
    let done = match cli.command {
        Command::Serve(_) | Command::Demo(_) => Ok(()),
        Command::Account(command) => runtime.block_on(account::run(common, command)),
        Command::User(command) => runtime.block_on(user::run(common, command)),
        Command::Map(command) => runtime.block_on(map::run(common, command)),
        Command::Key(command) => runtime.block_on(key::run(common, command)),
        Command::Migrate(options) => return runtime.block_on(migrate::run(common, &options)),
        Command::Verify => return runtime.block_on(verify::run(common)),
        Command::Repair => return runtime.block_on(repair::run(common)),
        Command::Backup(options) => backup::run(common, &options),
        Command::Restore(options) => restore::run(common, &options),
        Command::Import(options) => return runtime.block_on(import::run(common, options)),
        Command::ImportDevices(options) => return runtime.block_on(import_devices::run(common, options)),
        Command::Export(options) => runtime.block_on(export::run(common, options)),
        Command::Decode(options) => decode::run(&options),
        Command::Reprocess(options) => runtime.block_on(reprocess::run(common, options)),
        Command::Simulate(options) => runtime.block_on(simulate::run(common, options)),
        Command::Notify(command) => return runtime.block_on(notify::run(common, command)),
        Command::Config(command) => config::run(common, &command),
        Command::Openapi(options) => document::openapi(common, options),
        Command::Completions { shell } => document::completions(shell),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn runtime(builder: &mut Builder) -> Result<Runtime> {
    builder.enable_all().build().context("cannot start the runtime")
}
