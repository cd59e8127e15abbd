//! Loads settings: the embedded defaults, then a file, then the environment, then flags. Unknown keys are errors.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use perigee_server::config::Config;
use toml::{Table, Value};

use crate::args::Common;

/// Defaults and reference documentation of all settings.
const DEFAULTS: &str = include_str!("../../../config.default.toml");
/// The section whose keys are the names of channels.
const CHANNELS: &str = "channels";
const ENV_PREFIX: &str = "PERIGEE_";
/// Optional settings without a default, by section and key. TOML has no null, so `config.default.toml` cannot list
/// them.
const WITHOUT_DEFAULT: [(&str, &str); 2] = [("server", "tls_certificate"), ("server", "tls_key")];

/// A setting given by a command-line flag: section, key and value.
pub(crate) type Flag = (&'static str, &'static str, String);

/// Loads and validates the settings for a command with these flags.
pub(crate) fn load(common: &Common, flags: Vec<Flag>) -> Result<Config> {
    let mut settings = Settings::defaults()?;
    if let Some(path) = &common.config {
        settings.add_file(path)?;
    }
    settings.add_environment(std::env::vars_os().filter_map(|(name, value)| {
        Some((name.to_str()?.to_owned(), value.to_string_lossy().into_owned()))
    }))?;
    let data = common.data.as_ref().map(|path| ("store", "data", path.display().to_string()));
    let database = common.database.clone().map(|url| ("store", "database", url));
    settings.add_flags(data.into_iter().chain(database).chain(flags));
    settings.finish()
}

/// The defaults alone, without file, environment or flags.
pub(crate) fn defaults() -> Result<Config> {
    Settings::defaults()?.finish()
}

/// Settings while their sources are merged.
struct Settings {
    /// The sections and keys that exist, with their types.
    defaults: Table,
    /// The defaults, overwritten by the sources added so far.
    merged: Table,
}

impl Settings {
    fn defaults() -> Result<Self> {
        let defaults: Table = DEFAULTS.parse().context("the embedded defaults cannot be read")?;
        Ok(Self { merged: defaults.clone(), defaults })
    }

    fn add_file(&mut self, path: &Path) -> Result<()> {
        let shown = path.display();
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read the settings in {shown}"))?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            anyhow!("{shown}, line {line}: {}", error.message())
        })?;
        for (section, value) in table {
            let Value::Table(keys) = value else {
                bail!("{shown}: \"{section}\" is not in a section; put it under one of {}", self.sections());
            };
            for (key, value) in keys {
                self.set(&section, &key, value).with_context(|| shown.to_string())?;
            }
        }
        // Parsed after each source, so that the error of a wrong type names the source.
        self.parse().map(drop).with_context(|| shown.to_string())
    }

    /// Applies variables such as `PERIGEE_SERVER__LISTEN`. Variables without a double underscore are not settings.
    fn add_environment(&mut self, variables: impl Iterator<Item = (String, String)>) -> Result<()> {
        for (name, text) in variables {
            let Some((section, key)) = name.strip_prefix(ENV_PREFIX).and_then(|rest| rest.split_once("__"))
            else {
                continue;
            };
            let (section, key) = (section.to_ascii_lowercase(), key.to_ascii_lowercase());
            let value = self.to_default_type(&section, &key, text);
            let in_variable = || format!("the environment variable {name}");
            self.set(&section, &key, value).with_context(in_variable)?;
            self.parse().map(drop).with_context(in_variable)?;
        }
        Ok(())
    }

    /// Applies flags. Their sections and keys are constants of this program and always exist; `finish` checks the
    /// values.
    fn add_flags(&mut self, flags: impl Iterator<Item = Flag>) {
        for (section, key, text) in flags {
            if let Some(keys) = self.merged.get_mut(section).and_then(Value::as_table_mut) {
                keys.insert(key.to_owned(), Value::String(text));
            }
        }
    }

    fn finish(self) -> Result<Config> {
        let config = self.parse()?;
        config.validate()?;
        Ok(config)
    }

    fn parse(&self) -> Result<Config> {
        self.merged.clone().try_into().map_err(|error: toml::de::Error| {
            // The library puts the position on a line of its own; errors of this program have one line.
            let text = error.to_string();
            anyhow!(
                "{}",
                text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
            )
        })
    }

    /// Overwrites one setting; fails if there is no such section or key.
    fn set(&mut self, section: &str, key: &str, value: Value) -> Result<()> {
        let Some(known) = self.defaults.get(section).and_then(Value::as_table) else {
            bail!("unknown section \"{section}\"; the sections are {}", self.sections());
        };
        // Channels that are set up; which there are is checked when they are read.
        let has_no_default = section == CHANNELS || WITHOUT_DEFAULT.contains(&(section, key));
        if !known.contains_key(key) && !has_no_default {
            let keys: Vec<&str> = known.keys().map(String::as_str).collect();
            bail!("unknown setting \"{section}.{key}\"; the settings of {section} are {}", keys.join(", "));
        }
        if let Some(keys) = self.merged.get_mut(section).and_then(Value::as_table_mut) {
            keys.insert(key.to_owned(), value);
        }
        Ok(())
    }

    /// Converts the text of a variable to the type of the default; lists are separated by commas. Text that does not
    /// fit stays text, and parsing reports it.
    fn to_default_type(&self, section: &str, key: &str, text: String) -> Value {
        if section == CHANNELS {
            return channel_settings(&text).map_or(Value::String(text), Value::Table);
        }
        match self.defaults.get(section).and_then(|keys| keys.get(key)) {
            Some(Value::Integer(_)) => text.trim().parse().map_or(Value::String(text), Value::Integer),
            Some(Value::Boolean(_)) => text.trim().parse().map_or(Value::String(text), Value::Boolean),
            Some(Value::Array(_)) => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
            }
            // `gt06=0.0.0.0:5023,any=0.0.0.0:5000`. Any other text stays a string, which parsing refuses.
            Some(Value::Table(_)) => {
                let pair = |item: &str| {
                    let (name, value) = item.split_once('=')?;
                    Some((name.trim().to_owned(), Value::String(value.trim().to_owned())))
                };
                text.split(',').map(pair).collect::<Option<_>>().map_or(Value::String(text), Value::Table)
            }
            _ => Value::String(text),
        }
    }

    /// Lists the sections for error messages.
    fn sections(&self) -> String {
        self.defaults.keys().map(|section| format!("[{section}]")).collect::<Vec<_>>().join(", ")
    }
}

/// The settings of a channel from `token=x,daily=50`. Another text stays a string, which parsing refuses.
fn channel_settings(text: &str) -> Option<Table> {
    let pair = |item: &str| {
        let (name, value) = item.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let number = if matches!(name, "daily" | "monthly") { value.parse().ok() } else { None };
        Some((name.to_owned(), number.map_or_else(|| Value::String(value.to_owned()), Value::Integer)))
    };
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn with_file(text: &str) -> Result<Config> {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(text.as_bytes())?;
        let mut settings = Settings::defaults()?;
        settings.add_file(file.path())?;
        settings.finish()
    }

    fn with_variable(name: &str, value: &str) -> Result<Config> {
        let mut settings = Settings::defaults()?;
        settings.add_environment([(name.to_owned(), value.to_owned())].into_iter())?;
        settings.finish()
    }

    #[test]
    fn defaults_are_valid() {
        let config = Settings::defaults().unwrap().finish().unwrap();
        assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(
            (config.first_start.owner_email.as_str(), config.first_start.licenses),
            ("owner@localhost", 100)
        );
    }

    #[test]
    fn later_sources_win() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"[limits]\nburst = 5\nrequests_per_second = 6\n[store]\ndata = \"file\"\n").unwrap();
        let mut settings = Settings::defaults().unwrap();
        settings.add_file(file.path()).unwrap();
        let variables =
            [("PERIGEE_LIMITS__BURST", "7"), ("PERIGEE_STORE__DATA", "environment"), ("PERIGEE_BIN", "x")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        settings.add_environment(variables.into_iter()).unwrap();
        settings.add_flags([("store", "data", "flag".to_owned())].into_iter());
        let config = settings.finish().unwrap();
        assert_eq!((config.limits.burst, config.limits.requests_per_second), (7, 6));
        assert_eq!(config.store.data, Path::new("flag"));
        assert_eq!(config.store.connections, 8);
        let config = with_variable("PERIGEE_GATEWAYS__LISTEN", "gt06=127.0.0.1:1, any=127.0.0.1:2").unwrap();
        let names: Vec<&str> = config.gateways.listen.keys().map(String::as_str).collect();
        assert_eq!(names, ["any", "gt06"]);
    }

    #[test]
    fn refusals_name_the_setting() {
        let check = |config: Result<Config>, expect: &str| {
            let error = crate::output::one_line(&config.unwrap_err());
            assert!(error.contains(expect), "{error}");
            assert!(!error.contains('\n'), "{error}");
        };
        check(with_file("[server]\nlisen = \"x\"\n"), "unknown setting \"server.lisen\"");
        check(with_file("[sever]\nlisten = \"x\"\n"), "unknown section \"sever\"");
        check(with_file("listen = \"x\"\n"), "\"listen\" is not in a section");
        check(with_file("[server]\nlisten = \n"), "line 2");
        check(with_file("[limits]\nburst = \"many\"\n"), "burst");
        check(with_file("[limits.accounts]\nacc_0123456789abc = { burst = 5 }\n"), "requests_per_second");
        check(with_file("[server]\ntls_key = \"key.pem\"\n"), "server.tls_key");
        check(with_file("[gateways.tls]\nteltonika = \"127.0.0.1:0\"\n"), "server.tls_certificate");
        check(with_file("[gateways.tls]\ngt06 = \"127.0.0.1:0\"\n"), "choose one of teltonika, any");
        check(with_file("[server]\ntrusted_proxies = [\"10.0.0.0/40\"]\n"), "server.trusted_proxies");
        check(with_file("[store]\ndatabase = \"mysql://x\"\n"), "store.database");
        check(with_file("[email]\nhost = \"mx\"\n"), "email.from");
        let mail = "[email]\nhost = \"mx\"\nfrom = \"a@b.example\"\n";
        check(with_file(&format!("{mail}user_name = \"a\"\n")), "email.user_name");
        check(with_file(&format!("{mail}final_timeout_seconds = 100\n")), "email.final_timeout_seconds");
        check(with_file(&format!("{mail}password_file = \"/nowhere\"\n")), "email.password_file");
        let in_the_clear = "user_name = \"a\"\npassword = \"b\"\nsecurity = \"none\"\n";
        check(with_file(&format!("{mail}{in_the_clear}")), "email.security");
        check(with_file("[sms]\ngateway = \"pigeon\"\n"), "pigeon");
        check(with_file("[sms]\ngateway = \"http\"\n"), "sms.http_url");
        check(with_file("[sms]\ngateway = \"smpp\"\n"), "sms.gateway: smpp");
        check(with_file("[sms]\ncountries = [\"Narnia\"]\n"), "sms.countries");
        check(with_variable("PERIGEE_SERVER__LISEN", "x"), "PERIGEE_SERVER__LISEN");
        check(with_variable("PERIGEE_LIMITS__BURST", "many"), "PERIGEE_LIMITS__BURST");
        check(with_variable("PERIGEE_METRICS__SECRET", "short"), "metrics.secret");
    }

    #[test]
    fn a_gateway_is_described_in_a_file() {
        let config = with_file(
            "[sms]\ngateway = \"http\"\nhttp_url = \"https://sms.example.com/send\"\nhttp_token = \"s3cret\"\n\
             http_form = { to = \"{number}\", text = \"{text}\" }\n",
        );
        let config = config.unwrap();
        assert_eq!(config.sms.http_form["to"], "{number}");
        let shown = toml::to_string(&config).unwrap();
        assert!(!shown.contains("s3cret") && shown.contains("http_token = \"(set)\""), "{shown}");
    }

    #[test]
    fn no_form_of_the_settings_shows_a_secret() {
        let config = with_file(
            "[store]\ndatabase = \"postgres://ana:s3cret@one:5432,two:5432/perigee?sslmode=disable\"\n\
             [sms]\ngateway = \"http\"\nhttp_url = \"https://sms.example.com/s3cret/send?key=s3cret&to={number}\"\n\
             http_headers = { Authorization = \"Bearer s3cret\", X-Id = \"{id}\" }\n\
             http_form = { to = \"{number}\", text = \"{text}\", api_key = \"s3cret\" }\n\
             [map]\ntile_url = \"https://tiles.example.com/{z}/{x}/{y}.png?key=s3cret\"\n\
             [gateways.options.gt06]\npassword = \"s3cret\"\n",
        );
        let config = config.unwrap();
        for shown in [toml::to_string(&config).unwrap(), serde_json::to_string(&config).unwrap()] {
            assert!(!shown.contains("s3cret"), "{shown}");
            for kept in
                ["one:5432,two:5432", "sms.example.com", "Authorization", "{number}", "tiles.example.com"]
            {
                assert!(shown.contains(kept), "{kept} in {shown}");
            }
        }
        let config = with_file(
            "[sms]\ngateway = \"http\"\nhttp_url = \"https://sms.example.com/send\"\n\
             http_json = '{\"to\": \"{number}\", \"text\": \"{text}\", \"pin\": \"s3cret\"}'\n",
        );
        let shown = toml::to_string(&config.unwrap()).unwrap();
        assert!(!shown.contains("s3cret") && shown.contains("pin"), "{shown}");
    }

    #[test]
    fn variables_take_the_type_of_the_default() {
        let config = with_variable("PERIGEE_SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1").unwrap();
        assert_eq!(config.server.trusted_proxies, ["10.0.0.0/8", "::1"]);
        let config = with_variable("PERIGEE_FIRST_START__ACCOUNT_NAME", "7").unwrap();
        assert_eq!(config.first_start.account_name, "7");
    }
}
