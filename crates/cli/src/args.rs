//! The command line: every subcommand and what it takes.

mod remote;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;
use perigee_core::id::AccountId;
use perigee_core::phone::PhoneNumber;
use perigee_core::retention::RETENTION_DAYS_MAX;
use perigee_core::text::Email;
use perigee_core::zone::Zone;
use perigee_gateways::PROTOCOLS;

pub(crate) use remote::{Export, FileFormat, Import, Remote, Simulate, Speedup};

/// Satellite tracking anyone can host.
#[derive(Debug, Parser)]
#[command(name = "perigee", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What every subcommand takes.
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What every subcommand takes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Common {
    /// Read settings from this file.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Common options")]
    pub(crate) config: Option<PathBuf>,
    /// Keep the embedded store and the files of the service in this folder.
    #[arg(long, global = true, value_name = "FOLDER", help_heading = "Common options")]
    pub(crate) data: Option<PathBuf>,
    /// Use the store at `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    #[arg(long, global = true, value_name = "URL", help_heading = "Common options")]
    pub(crate) database: Option<String>,
    /// Answer with one JSON object.
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) json: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the service.
    Serve(Serve),
    /// Show the service with a simulated fleet, on a temporary store, until Ctrl-C.
    Demo(Demo),
    /// Make, change and list accounts.
    #[command(subcommand)]
    Account(AccountCommand),
    /// Let users in, and make them operators.
    #[command(subcommand)]
    User(UserCommand),
    /// Issue and revoke API keys, and rotate the key that signs tokens.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Bring the store to the form this version needs.
    Migrate(Migrate),
    /// Check the whole store for damage; ends with 1 when some is found.
    Verify,
    /// Set aside what is damaged in the store, and say what was lost and for whom; ends with 1 when some is left.
    Repair,
    /// Copy the embedded store into a file while the service runs.
    Backup(Backup),
    /// Put a copy in the place of the embedded store, while no service runs.
    Restore(Restore),
    /// Send the locations of files to a running server.
    Import(Import),
    /// Write a device's locations, as a running server has them, to a file.
    Export(Export),
    /// Show what frames of trackers say, one JSON object a line.
    Decode(Decode),
    /// Run a simulated fleet that reports to a server.
    Simulate(Simulate),
    /// Try out how messages to people are sent.
    #[command(subcommand)]
    Notify(NotifyCommand),
    /// Look at the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the OpenAPI document of the API.
    Openapi(Openapi),
    /// Print a script that completes commands in a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Options of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Listen on this port of this machine; a free one when left out.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// How many devices there are.
    #[arg(long, value_name = "COUNT", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) devices: u32,
    /// Days that they have reported already.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=30))]
    pub(crate) days: u8,
    /// The seed everything follows from.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Listen on this address; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The address clients use, with a path prefix if there is one.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// `account ...`
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Make an account and its owner, and print the owner's password.
    Create {
        /// The account's name.
        #[arg(long)]
        name: String,
        /// Devices that may be active at once.
        #[arg(long)]
        licenses: u32,
        /// The owner's e-mail address, with which they sign in.
        #[arg(long, value_name = "EMAIL")]
        owner_email: Email,
        /// The zone whose midnight starts the account's day, such as Europe/Madrid.
        #[arg(long, value_name = "ZONE", default_value = "UTC")]
        time_zone: Zone,
    },
    /// Set an account's number of licences or its retention, or repair what a wrong clock did.
    #[command(group = ArgGroup::new("account change").required(true).multiple(true))]
    Set {
        /// The account's id.
        #[arg(long, value_name = "ID")]
        account: AccountId,
        /// Devices that may be active at once; not fewer than are.
        #[arg(long, group = "account change")]
        licenses: Option<u32>,
        /// Days that locations are kept unless their device says otherwise, or `forever`.
        #[arg(long, group = "account change", value_name = "DAYS", value_parser = retention)]
        retention_days: Option<Retention>,
        /// Decide licences at the present again, after a clock that was far ahead was set right.
        #[arg(long, group = "account change")]
        reset_clock: bool,
    },
    /// List the accounts.
    List,
}

/// How many days locations are kept; none is for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retention(pub(crate) Option<u32>);

fn retention(text: &str) -> Result<Retention, String> {
    let days = text.parse().ok().filter(|days| (1..=RETENTION_DAYS_MAX).contains(days));
    match (text, days) {
        ("forever", _) => Ok(Retention(None)),
        (_, Some(days)) => Ok(Retention(Some(days))),
        _ => Err(format!("must be a number of days from 1 to {RETENTION_DAYS_MAX}, or forever")),
    }
}

/// `user ...`
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Print a link with which the user sets a new password, once.
    ResetPassword(Link),
    /// Print a link with which the user sets their first password, once.
    Invite(Link),
    /// Change what only an operator can.
    #[command(group = ArgGroup::new("change").required(true).multiple(true))]
    Set {
        /// The user's e-mail address.
        #[arg(long)]
        email: Email,
        /// Make the user an operator of this server; `--operator=false` takes it back.
        #[arg(long, group = "change", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        operator: Option<bool>,
        /// `--totp=false` takes the user's second factor away, when they cannot use it any more.
        #[arg(long, group = "change", value_name = "false", require_equals = true, value_parser = ["false"])]
        totp: Option<String>,
    },
}

/// Whose link, and where it leads.
#[derive(Debug, Args)]
pub(crate) struct Link {
    /// The user's e-mail address.
    #[arg(long)]
    pub(crate) email: Email,
    /// The address clients use, if the settings do not say it.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// `key ...`
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Give the user a new API key and print it; an earlier one and its tokens end.
    Issue {
        /// The user's e-mail address.
        #[arg(long)]
        email: Email,
    },
    /// Make a new key that signs tokens. Running servers use it within five seconds; tokens signed before stay good.
    RotateSigning {
        /// Drop the old keys at once: every token issued so far ends within five seconds.
        #[arg(long)]
        at_once: bool,
    },
    /// Take the user's API key away; its tokens end.
    Revoke {
        /// The user's e-mail address.
        #[arg(long)]
        email: Email,
    },
}

/// `notify ...`
#[derive(Debug, Subcommand)]
pub(crate) enum NotifyCommand {
    /// Send a test message with the settings that hold, and say what became of it; ends with 1 when it was not sent.
    #[command(group = ArgGroup::new("way").required(true))]
    Test {
        /// Send an e-mail to this address.
        #[arg(long, group = "way", value_name = "ADDRESS")]
        email: Option<Email>,
        /// Send an SMS to this number, such as +34600123456.
        #[arg(long, group = "way", value_name = "NUMBER")]
        sms: Option<PhoneNumber>,
        /// Send this text instead of one that says that it is a test.
        #[arg(long)]
        text: Option<String>,
        /// Wait so long for the receipt of an SMS, where a message centre sends one.
        #[arg(long, value_name = "SECONDS", requires = "sms")]
        wait_for_receipt: Option<u64>,
    },
}

/// Options of `migrate`.
#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// Only say what would be done; ends with 1 when there is something to do.
    #[arg(long)]
    pub(crate) check: bool,
}

/// Options of `backup`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file to make; it must not be there, and appears only when it is whole.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Make the copy even if rows of the store are damaged; they are listed.
    #[arg(long)]
    pub(crate) allow_damaged: bool,
}

/// Options of `restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// A file that `backup` made.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Restore the copy even if rows of it are damaged; they are listed.
    #[arg(long)]
    pub(crate) allow_damaged: bool,
}

/// Options of `decode`.
#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// Read lines from this file; from standard input when left out or `-`.
    ///
    /// A line is a frame: hexadecimal digits, or a JSON object with `hex` or `text` and, where they matter, `protocol`,
    /// `model`, `options`, `known` (whether the connection has named its device, true when left out) and `datagram`.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The protocol of lines that do not name one; guessed from the bytes when left out.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(PROTOCOLS.iter().map(|protocol| protocol.name)))]
    pub(crate) protocol: Option<String>,
    /// The model of the device, where the same bytes mean different things on different models.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Take the lines as one connection: a login names the device for the lines after it.
    #[arg(long)]
    pub(crate) session: bool,
}

/// `config ...`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the settings and print what holds, without secrets.
    Check,
}

/// Options of `openapi`.
#[derive(Debug, Args)]
pub(crate) struct Openapi {
    /// The address clients use, if the settings do not say it.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn common_options_stand_after_every_subcommand() {
        let lines = [
            "serve",
            "account create --name A --licenses 1 --owner-email a@b",
            "account set --account acc_0123456789abc --licenses 2",
            "account set --account acc_0123456789abc --reset-clock",
            "account list",
            "user reset-password --email a@b",
            "user invite --email a@b",
            "user set --email a@b --operator",
            "user set --email a@b --totp=false",
            "key issue --email a@b",
            "key revoke --email a@b",
            "key rotate-signing",
            "key rotate-signing --at-once",
            "migrate --check",
            "verify",
            "repair",
            "backup copy.db --allow-damaged",
            "restore copy.db --allow-damaged",
            "import track.gpx other.csv --device d --user-name a@b --api-key k",
            "export --device d --from 2026-05-01T00:00:00Z --format gpx -o track.gpx --token t",
            "simulate --devices 5 --speedup max --seed 7 --dry-run",
            "decode frames.txt --protocol gt06 --model VL103 --session",
            "config check",
            "openapi",
            "completions bash",
        ];
        for line in lines {
            let whole = format!("perigee {line} --database sqlite:x --data d --config c --json");
            let cli = Cli::try_parse_from(whole.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(cli.common.database.as_deref(), Some("sqlite:x"), "{line}");
            assert!(cli.common.json && cli.common.data.is_some() && cli.common.config.is_some(), "{line}");
        }
    }
}
