//! The command line: every subcommand and its options. The comments are the texts of `--help`.

mod remote;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;
use perigee_core::accounts::country::Country;
use perigee_core::accounts::retention::RETENTION_DAYS_MAX;
use perigee_core::id::AccountId;
use perigee_core::notifications::phone::PhoneNumber;
use perigee_core::notifications::routing::Destination;
use perigee_core::text::Email;
use perigee_core::zone::Zone;
use perigee_gateways::PROTOCOLS;
use perigee_server::map_layers::PRESETS;

pub(crate) use remote::{Export, FileFormat, Import, ImportDevices, Remote, Reprocess, Simulate, Speedup};

/// A satellite tracking service that you host yourself.
#[derive(Debug, Parser)]
#[command(name = "perigee", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// The subcommand to run.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Options of every subcommand.
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of every subcommand.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Common {
    /// File with settings.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Common options")]
    pub(crate) config: Option<PathBuf>,
    /// Folder of the embedded database and of other files of the service.
    #[arg(long, global = true, value_name = "FOLDER", help_heading = "Common options")]
    pub(crate) data: Option<PathBuf>,
    /// Database to use: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`.
    #[arg(long, global = true, value_name = "URL", help_heading = "Common options")]
    pub(crate) database: Option<String>,
    /// Print the result as a JSON object.
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) json: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the service.
    Serve(Serve),
    /// Run the service with a simulated fleet on a temporary database, until Ctrl-C.
    Demo(Demo),
    /// Create, change and list accounts.
    #[command(subcommand)]
    Account(AccountCommand),
    /// Print links to set a password, and change a user's operator status or second factor.
    #[command(subcommand)]
    User(UserCommand),
    /// Issue and revoke API keys, and rotate the key that signs tokens.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Add, fetch, list and remove maps and overlays of the console.
    #[command(subcommand)]
    Map(MapCommand),
    /// Migrate the database to this version.
    Migrate(Migrate),
    /// Check the whole database for damage; exit with 1 if there is any.
    Verify,
    /// Move damaged rows to quarantine and list what was lost, by account and device; exit with 1 if damage is left.
    Repair,
    /// Copy the embedded database to a file while the service runs.
    Backup(Backup),
    /// Replace the embedded database with a copy, while the service is stopped.
    Restore(Restore),
    /// Import locations from files into a running server.
    Import(Import),
    /// Create the devices of files on a running server, after checking all of them.
    ImportDevices(ImportDevices),
    /// Export a device's locations from a running server to a file.
    Export(Export),
    /// Decode frames of trackers and print one JSON object per frame.
    Decode(Decode),
    /// Decode stored raw messages again, after a device was added or a decoder, template or mapping was corrected.
    Reprocess(Reprocess),
    /// Simulate a fleet, a tracker or a provider that reports to a running server.
    Simulate(Simulate),
    /// Send test messages to people.
    #[command(subcommand)]
    Notify(NotifyCommand),
    /// Check and print the effective settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the OpenAPI document of the API.
    Openapi(Openapi),
    /// Print a completion script for a shell.
    Completions {
        /// Shell to print the script for.
        shell: Shell,
    },
}

/// Options of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Port to listen on, on loopback only [default: any free port].
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Number of simulated devices.
    #[arg(long, value_name = "COUNT", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) devices: u32,
    /// Days of history that the devices start with.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=30))]
    pub(crate) days: u8,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on; port 0 means any free port.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// URL that clients use, with its path prefix if it has one.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// `account ...`
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account and its owner, and print the owner's password.
    Create {
        /// Name of the account.
        #[arg(long)]
        name: String,
        /// Number of devices that may be active at the same time.
        #[arg(long)]
        licenses: u32,
        /// E-mail address of the owner, used to sign in.
        #[arg(long, value_name = "EMAIL")]
        owner_email: Email,
        /// Time zone in which the days of the account begin, such as Europe/Madrid.
        #[arg(long, value_name = "ZONE", default_value = "UTC")]
        time_zone: Zone,
        /// Country of the owner: an ISO 3166-1 code or an English name [default: not known].
        #[arg(long, value_name = "COUNTRY")]
        owner_country: Option<Country>,
    },
    /// Set the licences or the retention of an account, or reset its licence clock.
    #[command(group = ArgGroup::new("account change").required(true).multiple(true))]
    Set {
        /// ID of the account (acc_...).
        #[arg(long, value_name = "ID")]
        account: AccountId,
        /// Number of devices that may be active at the same time; at least as many as are active now.
        #[arg(long, group = "account change")]
        licenses: Option<u32>,
        /// Days for which locations are kept, or `forever`; a device can set its own number of days.
        #[arg(long, group = "account change", value_name = "DAYS", value_parser = retention)]
        retention_days: Option<Retention>,
        /// Use the current time for licence checks again, after a clock that was far ahead was corrected.
        #[arg(long, group = "account change")]
        reset_clock: bool,
    },
    /// List all accounts.
    List,
}

/// Days for which locations are kept; `None` is forever.
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
    /// Print a single-use link to set a new password.
    ResetPassword(Link),
    /// Print a single-use link for a new user to set the first password.
    Invite(Link),
    /// Make a user an operator of this server, or remove the second factor.
    #[command(group = ArgGroup::new("change").required(true).multiple(true))]
    Set {
        /// E-mail address of the user.
        #[arg(long)]
        email: Email,
        /// Whether the user is an operator of this server; `--operator=false` revokes the operator status.
        #[arg(long, group = "change", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        operator: Option<bool>,
        /// `--totp=false` removes the second factor of a user who lost it.
        #[arg(long, group = "change", value_name = "false", require_equals = true, value_parser = ["false"])]
        totp: Option<String>,
    },
}

/// Options of the commands that print links.
#[derive(Debug, Args)]
pub(crate) struct Link {
    /// E-mail address of the user.
    #[arg(long)]
    pub(crate) email: Email,
    /// URL that clients use, if it is not in the settings.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// `map ...`
#[derive(Debug, Subcommand)]
pub(crate) enum MapCommand {
    /// Add a map: a PMTiles file, or the URL of a tile server or of a PMTiles file.
    Add(MapAdd),
    /// List the maps in the settings and those that were added.
    List,
    /// Copy an area of a map with streets from a PMTiles file on another server, resume or update a copy.
    Fetch(MapFetch),
    /// Remove a map that was added or fetched. The file of a fetched map is deleted, other files of tiles are not.
    Remove {
        /// Name of the map.
        name: String,
    },
}

/// Options of `map add`.
#[derive(Debug, Args)]
pub(crate) struct MapAdd {
    /// Path or URL of a PMTiles file, or URL of a tile server with {z}, {x} and {y}.
    #[arg(value_name = "FILE|URL", required_unless_present = "preset")]
    pub(crate) source: Option<String>,
    /// Name under which users choose the map. A preset has one of its own.
    #[arg(long, required_unless_present = "preset")]
    pub(crate) name: Option<String>,
    /// Add a map of a provider: sea marks, or satellite imagery with a key of yours.
    #[arg(long, conflicts_with_all = ["source", "attribution", "overlay", "vector", "min_zoom", "max_zoom"],
        value_parser = PossibleValuesParser::new(PRESETS.iter().map(|preset| preset.id)))]
    pub(crate) preset: Option<String>,
    /// Key that the provider of a preset gave you.
    #[arg(long, requires = "preset")]
    pub(crate) key: Option<String>,
    /// Attribution that the licence of the map requires; shown on the map.
    #[arg(long, default_value = "")]
    pub(crate) attribution: String,
    /// Draw the map over any other map, for example sea marks.
    #[arg(long)]
    pub(crate) overlay: bool,
    /// The tile server has vector tiles in the Protomaps schema, not raster tiles.
    #[arg(long)]
    pub(crate) vector: bool,
    /// Lowest zoom level of the tile server.
    #[arg(long, default_value_t = 0, value_name = "ZOOM")]
    pub(crate) min_zoom: u8,
    /// Highest zoom level of the tile server.
    #[arg(long, default_value_t = 19, value_name = "ZOOM")]
    pub(crate) max_zoom: u8,
    /// Let browsers fetch tiles from the tile server; otherwise this server fetches and caches them.
    #[arg(long)]
    pub(crate) direct: bool,
}

/// Options of `map fetch`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("area").multiple(false))]
pub(crate) struct MapFetch {
    /// Name under which users choose the map. Without an area, the map with this name is resumed or updated.
    #[arg(long, default_value = "Streets")]
    pub(crate) name: String,
    /// Copy a country, with 10 km around it: two-letter code or English name.
    #[arg(long, group = "area")]
    pub(crate) country: Option<Country>,
    /// Copy a box: west, south, east and north, in degrees.
    #[arg(
        long,
        group = "area",
        value_name = "W,S,E,N",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    pub(crate) bbox: Vec<f64>,
    /// Copy the polygons of a GeoJSON file.
    #[arg(long, group = "area", value_name = "FILE")]
    pub(crate) polygon: Option<PathBuf>,
    /// Copy the surroundings of the positions that devices reported in the last 90 days, or in this many.
    #[arg(long, group = "area", value_name = "DAYS", num_args = 0..=1, default_missing_value = "90")]
    pub(crate) devices: Option<u16>,
    /// Only devices of this account.
    #[arg(long, value_name = "ID", requires = "devices")]
    pub(crate) account: Option<AccountId>,
    /// URL of the PMTiles file to copy from, if it is not that in the settings; {date} stands for the newest build.
    #[arg(long, value_name = "URL")]
    pub(crate) source: Option<String>,
    /// Highest zoom level to copy; each further level about doubles the size.
    #[arg(long, value_name = "ZOOM", default_value_t = 14, value_parser = clap::value_parser!(u8).range(0..=18))]
    pub(crate) max_zoom: u8,
    /// Attribution to show on the map, if it is not that of the source.
    #[arg(long)]
    pub(crate) attribution: Option<String>,
    /// Only print the size and the number of tiles of each zoom level.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// `key ...`
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Issue a new API key for a user and print it; the old key and its tokens stop working.
    Issue {
        /// E-mail address of the user.
        #[arg(long)]
        email: Email,
    },
    /// Create a new key that signs tokens. Running servers use it within five seconds. Tokens signed before stay valid
    /// until they expire.
    RotateSigning {
        /// Delete the old keys at once: every token issued so far stops working within five seconds.
        #[arg(long)]
        at_once: bool,
    },
    /// Create a new key for notifications in browsers. Browsers that were subscribed before are notified for another 60 days;
    /// each subscribes with the new key when its user next opens the console.
    RotatePush {
        /// Delete the old keys at once: browsers are not notified until their users open the console.
        #[arg(long)]
        at_once: bool,
    },
    /// Revoke the user's API key; its tokens stop working within five seconds.
    Revoke {
        /// E-mail address of the user.
        #[arg(long)]
        email: Email,
    },
}

/// `notify ...`
#[derive(Debug, Subcommand)]
pub(crate) enum NotifyCommand {
    /// Send a test message with the current settings and print the result; exit with 1 if it was not sent.
    #[command(group = ArgGroup::new("way").required(true))]
    Test {
        /// E-mail address to send to.
        #[arg(long, group = "way", value_name = "ADDRESS")]
        email: Option<Email>,
        /// Telephone number to send an SMS to, such as +34600123456.
        #[arg(long, group = "way", value_name = "NUMBER")]
        sms: Option<PhoneNumber>,
        /// Channel and address to send to, such as telegram:-1001234567890.
        #[arg(long, group = "way", value_name = "CHANNEL:ADDRESS")]
        to: Option<Destination>,
        /// Text to send instead of the built-in one.
        #[arg(long)]
        text: Option<String>,
        /// Seconds to wait for the delivery receipt of an SMS (SMPP only).
        #[arg(long, value_name = "SECONDS", requires = "sms")]
        wait_for_receipt: Option<u64>,
    },
}

/// Options of `migrate`.
#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// Print the pending migrations and change nothing; exit with 1 if there are any.
    #[arg(long)]
    pub(crate) check: bool,
    /// After the migration, distribute the tables by account over the servers of a Citus cluster. Stop all nodes first.
    #[arg(long, conflicts_with = "check")]
    pub(crate) distribute: bool,
}

/// Options of `backup`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// File to create. It must not exist, and appears only when it is complete.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Copy the database even if rows are damaged; they are listed.
    #[arg(long)]
    pub(crate) allow_damaged: bool,
}

/// Options of `restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// File created by `perigee backup`.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Restore the copy even if rows are damaged; they are listed.
    #[arg(long)]
    pub(crate) allow_damaged: bool,
}

/// Options of `decode`.
#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// File to read lines from [default: standard input, as with `-`].
    ///
    /// A line is a frame: hexadecimal digits, or a JSON object with `hex` or `text` and, if needed, `protocol`,
    /// `model`, `options`, `known` (whether the connection has named its device; default true) and `datagram`.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Protocol of lines that do not name one [default: recognised by the first bytes].
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(PROTOCOLS.iter().map(|protocol| protocol.name)))]
    pub(crate) protocol: Option<String>,
    /// Model of the device, for protocols that differ between models.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Treat the lines as one connection: a login names the device for the following lines.
    #[arg(long)]
    pub(crate) session: bool,
}

/// `config ...`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the settings and print the effective values, without secrets.
    Check,
}

/// Options of `openapi`.
#[derive(Debug, Args)]
pub(crate) struct Openapi {
    /// URL that clients use, if it is not in the settings.
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
