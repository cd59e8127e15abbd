//! Options of the commands that work through the API of a running server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use perigee_core::time::Timestamp;
use secrecy::SecretString;
use url::Url;

/// Which server to call, and the credentials for it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Remote {
    /// URL of the server, with its path prefix if it has one.
    #[arg(long, env = "PERIGEE_URL", default_value = "http://127.0.0.1:8080", help_heading = "Server")]
    pub(crate) url: Url,
    /// E-mail address of the user to sign in as.
    #[arg(long, env = "PERIGEE_USER_NAME", value_name = "EMAIL", help_heading = "Server")]
    pub(crate) user_name: Option<String>,
    /// API key of the user. Prefer the environment variable: other users can see command lines.
    #[arg(
        long,
        env = "PERIGEE_API_KEY",
        value_name = "KEY",
        hide_env_values = true,
        requires = "user_name",
        help_heading = "Server"
    )]
    pub(crate) api_key: Option<SecretString>,
    /// API token, instead of a user name and an API key.
    #[arg(
        long,
        env = "PERIGEE_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true,
        help_heading = "Server"
    )]
    pub(crate) token: Option<SecretString>,
    /// PEM file with certificate authorities to trust instead of the public ones.
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub(crate) ca: Option<PathBuf>,
}

/// File formats of locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// A JSON document: locations, or GeoJSON when importing.
    Json,
    /// One JSON object per line.
    Ndjson,
    /// GeoJSON features with points or lines.
    Geojson,
    /// A table with a header line.
    Csv,
    /// GPX 1.1 tracks, routes and waypoints.
    Gpx,
    /// KML 2.2 placemarks and tracks.
    Kml,
}

impl FileFormat {
    /// The name of the format in the API and on the command line.
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
    /// Files to import, one after the other.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Device that the locations belong to, by ID or identifier.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: String,
    /// Format of the files [default: by the extension of the file name].
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    /// Locations per request.
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) batch: u16,
    /// Start from the beginning, even if an earlier run was interrupted and could be continued.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Which server to call, and the credentials for it.
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Options of `import-devices`.
#[derive(Debug, Args)]
pub(crate) struct ImportDevices {
    /// Files with devices: `.csv`, `.tsv`, `.ndjson`, `.jsonl` or `.json`.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Only report what would happen.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Which server to call, and the credentials for it.
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Options of `reprocess`.
#[derive(Debug, Args)]
pub(crate) struct Reprocess {
    /// IDs of the raw messages to decode again [default: all that match the options below].
    #[arg(value_name = "MESSAGE")]
    pub(crate) messages: Vec<String>,
    /// Only raw messages of this device, by ID, identifier or name.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<String>,
    /// Only raw messages of this protocol or feed, such as garmin.
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Only raw messages with this result, such as unparsable or unknownDevice.
    #[arg(long, value_name = "RESULT")]
    pub(crate) result: Option<String>,
    /// Only raw messages received at this time or later, such as 2026-05-01T00:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Timestamp>,
    /// Decode every stored raw message again; required if no other option selects messages.
    #[arg(long, conflicts_with_all = ["device", "source", "result", "from", "messages"])]
    pub(crate) all: bool,
    /// Which server to call, and the credentials for it.
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Options of `export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Device whose locations are exported, by ID or identifier.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: String,
    /// Fix time of the first location to export, such as 2026-05-01T00:00:00Z [default: from the beginning].
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<Timestamp>,
    /// Fix time of the last location to export [default: up to the newest].
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Timestamp>,
    /// Format to write [default: by the extension of the file name, otherwise ndjson].
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    /// Also write the place of each location in words, in the language and units of the user's preferences.
    #[arg(long)]
    pub(crate) place: bool,
    /// File to write, which appears only when it is complete [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Which server to call, and the credentials for it.
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Speed of simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Speedup {
    /// This many times as fast as real time.
    Times(f64),
    /// As fast as the server accepts locations.
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
    /// Report for this existing device, by ID or identifier, every three seconds until Ctrl-C or for `--seconds`.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["devices", "create_devices", "speedup", "rate", "start", "dry_run"])]
    pub(crate) device: Option<String>,
    /// Simulate one tracker of this protocol, over a real socket: gt06, teltonika, queclink, jt808, h02, gps103, tk103,
    /// suntech, meitrack, ruptela, wialon-ips or calamp.
    #[arg(long, value_name = "PROTOCOL", requires = "to", conflicts_with_all = ["device", "feed"])]
    pub(crate) protocol: Option<String>,
    /// Simulate the provider of this feed, with its retries, duplicates and delays: garmin, directip, cloudloop,
    /// globalstar, spot, zoleo, osmand or owntracks.
    #[arg(long, value_name = "FEED", requires = "to", conflicts_with = "device")]
    pub(crate) feed: Option<String>,
    /// Simulate the interface by which the provider of this feed takes messages to devices, with its checks and errors:
    /// garmin, rockblock, cloudloop or directip. Needs `--listen`.
    #[arg(long, value_name = "FEED", requires = "listen", conflicts_with_all = ["device", "feed", "protocol"])]
    pub(crate) downlink: Option<String>,
    /// Address on which `--downlink` accepts requests, as HOST:PORT.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Key (garmin), password (rockblock) or token (cloudloop) that `--downlink` accepts.
    #[arg(long, value_name = "KEY", default_value = "secret")]
    pub(crate) key: String,
    /// Faults of `--downlink` for the first requests, in order: busy, broken, silent, or the number of an error.
    #[arg(long, value_name = "FAULTS", value_delimiter = ',')]
    pub(crate) faults: Vec<String>,
    /// Address to send to: HOST:PORT for `--protocol` and for the feed directip, the gateway's URL for other feeds.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) to: Option<String>,
    /// Identifier of the tracker of `--protocol` or `--feed`, in decimal digits. The server must have a device with
    /// this identifier, or the gateway of the feed must name a device.
    #[arg(long, value_name = "DIGITS", default_value = "356938035643809")]
    pub(crate) identifier: String,
    /// Seconds between two records of `--protocol` or `--feed`.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) every: u32,
    /// Seconds for which the tracker of `--protocol` is disconnected after every tenth record.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub(crate) outage: u32,
    /// Number of simulated devices.
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) devices: u32,
    /// Length of the simulation, in seconds of simulated time.
    #[arg(long, default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..=315_360_000))]
    pub(crate) seconds: u32,
    /// Speed relative to real time; `max` sends as fast as the server accepts.
    #[arg(long, value_name = "TIMES|max", default_value = "1")]
    pub(crate) speedup: Speedup,
    /// Largest number of locations per second [default: no limit].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Start of simulated time [default: now, or with `--speedup max` such that the simulation ends now].
    #[arg(long, value_name = "TIME")]
    pub(crate) start: Option<Timestamp>,
    /// Create the devices that do not exist.
    #[arg(long)]
    pub(crate) create_devices: bool,
    /// Largest number of locations per request.
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) batch: u16,
    /// Number of requests sent at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) connections: u16,
    /// Print the locations that would be sent, one per line, and send nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Which server to call, and the credentials for it.
    #[command(flatten)]
    pub(crate) remote: Remote,
}
