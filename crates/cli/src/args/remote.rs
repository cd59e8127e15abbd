//! Options of the commands that work through the API of a running server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use perigee_core::time::Timestamp;
use secrecy::SecretString;
use url::Url;

/// Which server, and as whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct Remote {
    /// The address of the server, with its path prefix if it has one.
    #[arg(long, env = "PERIGEE_URL", default_value = "http://127.0.0.1:8080", help_heading = "Server")]
    pub(crate) url: Url,
    /// The user's e-mail address.
    #[arg(long, env = "PERIGEE_USER_NAME", value_name = "EMAIL", help_heading = "Server")]
    pub(crate) user_name: Option<String>,
    /// The user's API key; better given by the environment, since others can see command lines.
    #[arg(
        long,
        env = "PERIGEE_API_KEY",
        value_name = "KEY",
        hide_env_values = true,
        requires = "user_name",
        help_heading = "Server"
    )]
    pub(crate) api_key: Option<SecretString>,
    /// A token instead of a user name and an API key.
    #[arg(
        long,
        env = "PERIGEE_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true,
        help_heading = "Server"
    )]
    pub(crate) token: Option<SecretString>,
    /// Trust the certificates in this PEM file instead of the public ones.
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub(crate) ca: Option<PathBuf>,
}

/// The files locations come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// A JSON document: locations, or GeoJSON when importing.
    Json,
    /// A JSON object a line.
    Ndjson,
    /// GeoJSON.
    Geojson,
    /// A table with headings.
    Csv,
    /// GPX 1.1.
    Gpx,
    /// KML 2.2.
    Kml,
}

impl FileFormat {
    /// As the API calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Geojson => "geojson",
            Self::Csv => "csv",
            Self::Gpx => "gpx",
            Self::Kml => "kml",
        }
    }
}

/// Options of `import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The files, one after the other.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The device whose locations they are, by id or identifier.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: String,
    /// What the files are, when their names do not tell.
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    /// Locations sent at once.
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) batch: u16,
    /// Read from the beginning although an earlier run got further.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Which server, and as whom.
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Options of `export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The device, by id or identifier.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: String,
    /// The first instant, such as 2026-05-01T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Timestamp>,
    /// The last instant.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Timestamp>,
    /// What to write; when left out, what the file's name tells, else ndjson.
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    /// Write to this file, which appears only when it is whole; standard output when left out.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Which server, and as whom.
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// How fast time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Speedup {
    /// So many times faster than it does.
    Times(f64),
    /// As fast as the server takes it.
    Unlimited,
}

impl std::str::FromStr for Speedup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Unlimited);
        }
        let times = text.parse::<f64>().ok().filter(|times| (0.001..=1e6).contains(times));
        times.map(Self::Times).ok_or_else(|| "must be a number such as 1 or 60, or max".to_owned())
    }
}

/// Options of `simulate`.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Report for this one device, by id or identifier, every three seconds until Ctrl-C or `--seconds` are over.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["devices", "create_devices", "speedup", "rate", "start", "dry_run"])]
    pub(crate) device: Option<String>,
    /// How many devices report.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) devices: u32,
    /// Seconds of the fleet's life.
    #[arg(long, default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..=315_360_000))]
    pub(crate) seconds: u32,
    /// How many times faster than real the fleet lives; `max` for as fast as the server takes it.
    #[arg(long, value_name = "TIMES|max", default_value = "1")]
    pub(crate) speedup: Speedup,
    /// Locations a second at the most.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// The seed everything follows from.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// When the fleet's life begins; now, or with `--speedup max` so that it ends now.
    #[arg(long, value_name = "TIME")]
    pub(crate) start: Option<Timestamp>,
    /// Make the devices that do not exist.
    #[arg(long)]
    pub(crate) create_devices: bool,
    /// Locations of a device sent at once, when so many are due.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) batch: u16,
    /// Requests under way at once.
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) connections: u16,
    /// Print what would be sent, one line each, and send nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Which server, and as whom.
    #[command(flatten)]
    pub(crate) remote: Remote,
}
