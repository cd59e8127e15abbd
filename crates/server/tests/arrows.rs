//! Which folder may import which, inside `server` and `store`. Cargo enforces the same between crates.
//!
//! The check reads paths that begin with `crate::` or `super::`. Modules of tests are not checked.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A folder (or file) directly under `src`, and the others it may import.
type Row = (&'static str, &'static [&'static str]);

/// Each row may name earlier rows only, so that there is no cycle.
const SERVER: &[Row] = &[
    ("cache", &[]),
    ("compaction_status", &[]),
    ("event_format", &[]),
    ("readiness", &[]),
    ("recorder", &[]),
    ("serve", &[]),
    ("config", &["serve"]),
    ("budget", &["config"]),
    ("disk", &["config"]),
    ("tiles", &["config"]),
    ("bundled_map", &["config", "tiles"]),
    ("map_layers", &["budget", "config", "tiles"]),
    ("auth", &["budget", "cache"]),
    ("access", &["auth", "budget", "cache", "config"]),
    ("live", &["budget", "cache", "config", "event_format"]),
    ("ingest", &["access", "budget", "cache"]),
    ("listen", &["budget", "cache", "config", "ingest", "serve"]),
    ("webhook", &["config", "event_format", "serve"]),
    ("map_picture", &["cache", "tiles"]),
    ("map_fetch", &["config", "disk", "map_layers", "tiles", "webhook"]),
    ("downlink", &["config", "webhook"]),
    ("senders", &["cache", "config", "webhook"]),
    ("poll", &["budget", "cache", "config", "ingest", "webhook"]),
    ("reports", &["budget"]),
    (
        "app",
        &[
            "access",
            "auth",
            "budget",
            "bundled_map",
            "compaction_status",
            "config",
            "disk",
            "downlink",
            "event_format",
            "ingest",
            "live",
            "map_fetch",
            "map_layers",
            "map_picture",
            "poll",
            "readiness",
            "serve",
            "tiles",
            "webhook",
        ],
    ),
    ("background", &["app", "budget", "cache", "disk", "recorder", "reports", "senders", "webhook"]),
    (
        "http",
        &[
            "access",
            "app",
            "auth",
            "budget",
            "bundled_map",
            "config",
            "disk",
            "event_format",
            "ingest",
            "live",
            "map_fetch",
            "map_layers",
            "map_picture",
            "poll",
            "recorder",
            "reports",
            "serve",
            "tiles",
            "webhook",
        ],
    ),
    ("run", &["app", "auth", "background", "config", "http", "listen", "recorder", "senders", "serve"]),
];

/// Imports that folders of `store` must not have. `codec` and `sql` are portable: differences between the engines are
/// in `sqlite` and `postgres`, behind the trait `LocationLog`.
const STORE: &[(&str, &[&str])] = &[
    ("codec", &["backup", "database", "postgres", "sql", "sqlite", "tx", "verify"]),
    ("sql", &["backup", "postgres", "sqlite", "verify"]),
    ("sqlite", &["backup", "postgres", "verify"]),
    ("postgres", &["backup", "sqlite", "verify"]),
    ("verify", &["backup"]),
];

/// Inside `http` only these import the routes.
const IMPORT_ROUTES: [&str; 3] = ["http/router.rs", "http/document/", "http/routes/"];

/// The code that may build a scope or an actor without an authenticated user. Any other use does not compile: `Scope`
/// and `Actor` are `non_exhaustive`.
const EXCEPTIONS: [(&str, &[&str]); 7] = [
    ("Scope::for_background_job", &["background/", "live/", "map_fetch/", "senders/", "webhook/"]),
    ("Scope::for_share_link", &["http/routes/shares/shares_public.rs"]),
    ("Actor::for_operator", &["http/routes/accounts/operator/"]),
    ("Actor::for_gateway", &["ingest/"]),
    ("Scope::for_gateway", &["ingest/networks.rs", "ingest/turns.rs"]),
    ("Scope::for_operator", &[]),
    ("Scope::for_store_check", &[]),
];

/// The code that may create, read and decode untrusted bytes. Bytes from outside have a type that is read only by work
/// with a permit; code that is not in this list cannot parse what it receives.
const UNTRUSTED: [(&str, &[&str]); 7] = [
    ("UntrustedBytes::new", &["http/extract/receive.rs", "ingest/feed_body.rs", "poll/poller.rs"]),
    (".read_here(", &["http/extract/", "ingest/feed_body.rs"]),
    ("DecodeBudget::", &["ingest/feed_body.rs"]),
    ("FeedRequest {", &["ingest/feed_body.rs", "ingest/stored/stored_request.rs"]),
    ("FeedRequest::of_body", &[]),
    ("feed.decode)(", &["ingest/feed_body.rs"]),
    // Bodies of requests are received in one module; the others write answers.
    (
        "BodyExt",
        &[
            "http/extract/receive.rs",
            "http/middleware/",
            "http/encoding/compressed_file.rs",
            "http/shared_body.rs",
        ],
    ),
];

/// Reads of untrusted bytes in a file of the server that are not allowed.
fn untrusted_reads(file: &str, source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let is_wrong = |(name, files): &(&str, &[&str])| {
        code.contains(name) && !files.iter().any(|start| file.starts_with(start))
    };
    let wrong = UNTRUSTED.iter().filter(|row| is_wrong(row));
    wrong.map(|(name, files)| format!("{file} has {name}, which only {files:?} may")).collect()
}

/// The constructors that only `Caller` calls, once it has authenticated the user.
const FROM_CALLER: [&str; 2] = ["Scope::of_user", "Actor::of_user"];

/// Scopes and actors that a file of the server builds without permission.
fn unnamed_rights(file: &str, source: &str) -> Vec<String> {
    let from_caller = FROM_CALLER.iter().map(|name| (*name, &["http/extract/caller.rs"][..]));
    let mut found = Vec::new();
    for (name, files) in EXCEPTIONS.into_iter().chain(from_caller) {
        if source.contains(name) && !files.iter().any(|start| file.starts_with(start)) {
            found.push(format!("{file} calls {name}, which only {files:?} may"));
        }
    }
    if source.contains(".reach = ") {
        found.push(format!("{file} changes the reach of a scope"));
    }
    found
}

/// The paths of the source of a module, each as its segments from the root of the crate.
fn imports(module: &[String], source: &str) -> Vec<Vec<String>> {
    let code: String =
        source.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$')) {
                continue;
            }
            let mut rest = &code[at..];
            let mut base = Vec::new();
            if let Some(after) = rest.strip_prefix("crate::") {
                rest = after;
            } else {
                base = module.to_vec();
                while let Some(after) = rest.strip_prefix("super::") {
                    rest = after;
                    base.pop();
                }
            }
            read_tree(rest, &base, &mut found);
        }
    }
    found
}

/// Reads a path or a tree of paths, such as `a::{b, c::d}`, and gives what follows it.
fn read_tree<'c>(code: &'c str, base: &[String], found: &mut Vec<Vec<String>>) -> &'c str {
    let code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                return after;
            }
            let after = read_tree(rest, base, found);
            // The text after a path up to the next comma or brace is a rename.
            let end = after.find([',', '}']).unwrap_or(after.len());
            rest = after[end..].strip_prefix(',').unwrap_or(&after[end..]);
            if after.is_empty() {
                return after;
            }
        }
    }
    let end = code.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(code.len());
    let (name, rest) = code.split_at(end);
    let mut path = base.to_vec();
    if !name.is_empty() {
        path.push(name.to_owned());
    }
    if let Some(after) = rest.strip_prefix("::") {
        return read_tree(after, &path, found);
    }
    found.push(path);
    rest
}

/// The segments of the module in a file, such as `live/batch.rs`.
fn module_of(file: &str) -> Vec<String> {
    let mut segments: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if segments.last().is_some_and(|last| last == "mod") {
        segments.pop();
    }
    segments
}

/// The imports of a file that the table forbids.
fn violations(table: &[Row], file: &str, source: &str) -> Vec<String> {
    let module = module_of(file);
    let folder = &module[0];
    let Some((_, allowed)) = table.iter().find(|(name, _)| name == folder) else {
        return vec![format!("{file}: {folder} is missing in the table of folders")];
    };
    let mut found = BTreeSet::new();
    for path in imports(&module, source) {
        let Some(target) = path.first().filter(|first| table.iter().any(|(name, _)| name == first)) else {
            continue;
        };
        if target != folder && !allowed.contains(&target.as_str()) {
            found.insert(format!("{file} imports {}: {folder} may import {allowed:?}", path.join("::")));
        }
        let is_route = path.iter().take(2).eq(["http", "routes"]);
        if is_route && !IMPORT_ROUTES.iter().any(|start| file.starts_with(start)) {
            found.insert(format!("{file} imports {}: only {IMPORT_ROUTES:?} may", path.join("::")));
        }
    }
    found.into_iter().collect()
}

/// The forbidden imports of a file of the store.
fn store_violations(file: &str, source: &str) -> Vec<String> {
    let module = module_of(file);
    let Some((_, forbidden)) = STORE.iter().find(|(name, _)| *name == module[0]) else { return Vec::new() };
    let paths = imports(&module, source).into_iter();
    let wrong = paths.filter(|path| path.first().is_some_and(|first| forbidden.contains(&first.as_str())));
    wrong.map(|path| format!("{file} imports {}", path.join("::"))).collect()
}

/// The files under a folder, by their path from it, with their text.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(folder).expect("it is inside").to_string_lossy().into_owned();
                files.push((name, fs::read_to_string(&path).expect("the file can be read")));
            }
        }
    }
    files
}

/// Checks every file of a crate that is not a test.
fn check(krate: &str, violations: impl Fn(&str, &str) -> Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src");
    let is_test = |file: &str| file.ends_with("tests.rs") || file.contains("/tests/");
    let wrong: Vec<String> = sources(&folder)
        .into_iter()
        .filter(|(file, _)| file != "lib.rs" && !is_test(file))
        .flat_map(|(file, source)| violations(&file, &source))
        .collect();
    assert!(wrong.is_empty(), "imports against the direction:\n{}", wrong.join("\n"));
}

#[test]
fn folders_of_the_server_import_in_one_direction() {
    for (index, (folder, allowed)) in SERVER.iter().enumerate() {
        for name in *allowed {
            let is_earlier = SERVER[..index].iter().any(|(earlier, _)| earlier == name);
            assert!(is_earlier, "{folder} may not import {name}, which stands after it");
        }
    }
    check("server", |file, source| violations(SERVER, file, source));
}

#[test]
fn portable_sql_knows_no_engine() {
    check("store", store_violations);
    assert_eq!(store_violations("sql/devices/new.rs", "use crate::sqlite::locations::Memory;").len(), 1);
    assert_eq!(store_violations("codec/chunk/mod.rs", "use super::super::sql::query;").len(), 1);
    assert_eq!(store_violations("sqlite/locations/log.rs", "use crate::sql::locations::Log;").len(), 0);
}

#[test]
fn a_reversed_import_is_caught() {
    let caught = |file: &str, source: &str| violations(SERVER, file, source).len();
    assert_eq!(caught("live/batch.rs", "use crate::http::error::ApiError;"), 1);
    assert_eq!(
        caught(
            "live/batch.rs",
            "use crate::{config::Events, http::{error_code::ErrorCode, error::ApiError}};"
        ),
        2
    );
    assert_eq!(caught("live/batch.rs", "use super::super::app::App;"), 1);
    assert_eq!(caught("live/mod.rs", "use super::app::App;"), 1);
    assert_eq!(caught("access/rates.rs", "fn wait() -> crate::http::error::ApiResult<()> { Ok(()) }"), 1);
    assert_eq!(caught("http/extract/caller.rs", "use crate::http::routes::users::UserView;"), 1);
    assert_eq!(caught("news.rs", "use crate::config::Config;"), 1, "a new folder needs a row");
}

#[test]
fn an_import_in_the_right_direction_is_not() {
    let caught = |file: &str, source: &str| violations(SERVER, file, source).len();
    assert_eq!(caught("http/routes/users.rs", "use crate::app::App;\nuse crate::http::routes::groups;"), 0);
    assert_eq!(caught("live/batch.rs", "use super::channel::Channel;\n// not crate::http::error"), 0);
    assert_eq!(caught("live/batch.rs", "#[cfg(test)]\nmod tests {\n    use crate::app::App;\n}"), 0);
}

#[test]
fn a_scope_comes_from_a_caller_or_a_named_exception() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let wrong: Vec<String> =
        sources(&folder).iter().flat_map(|(file, source)| unnamed_rights(file, source)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let caught = |file: &str, source: &str| unnamed_rights(file, source).len();
    assert_eq!(caught("http/routes/devices/read.rs", "let scope = Scope::for_background_job(account);"), 1);
    assert_eq!(caught("http/routes/devices/read.rs", "let scope = Scope::of_user(&identity);"), 1);
    assert_eq!(caught("http/routes/users.rs", "scope.reach = Reach::Account;"), 1);
    assert_eq!(caught("webhook/follow.rs", "let scope = Scope::for_background_job(account);"), 0);
}

#[test]
fn bytes_of_strangers_are_read_where_a_permit_was_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let is_budget = |file: &str| file.starts_with("budget/");
    let wrong: Vec<String> = sources(&folder)
        .iter()
        .filter(|(file, _)| !is_budget(file))
        .flat_map(|(file, source)| untrusted_reads(file, source))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let caught = |file: &str, source: &str| untrusted_reads(file, source).len();
    assert_eq!(caught("http/routes/decode.rs", "let body = UntrustedBytes::new(bytes, permit);"), 1);
    assert_eq!(
        caught("http/routes/decode.rs", "let said = (feed.decode)(&FeedRequest::of_body(body), &context);"),
        2
    );
    assert_eq!(caught("listen/session.rs", "body.read_here(|bytes| parse(bytes))"), 1);
    assert_eq!(caught("ingest/feed_body.rs", "let budget = DecodeBudget::for_body(length);"), 0);
}
