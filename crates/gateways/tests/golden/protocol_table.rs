//! The table of protocols in the documentation is that of the code, and each page names the protocol's usual port.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use perigee_gateways::{PROTOCOLS, Protocol, Transport};

const HEAD: &str = "| protocol | makers | usual port | by |\n|---|---|---|---|\n";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trackers")
}

/// The page of a protocol, relative to the folder of trackers.
fn page_of(protocol: &Protocol) -> String {
    match protocol.name {
        "iridium" => "../feeds/iridium.md".to_owned(),
        name => format!("{name}.md"),
    }
}

fn table() -> String {
    let mut table = HEAD.to_owned();
    for protocol in PROTOCOLS {
        let transports: Vec<&str> = protocol
            .transports
            .iter()
            .map(|transport| match transport {
                Transport::Tcp => "TCP",
                Transport::Udp => "UDP",
                Transport::Tls => "TLS",
            })
            .collect();
        let (page, transports) = (page_of(protocol), transports.join(", "));
        let Protocol { name, makers, port, .. } = protocol;
        writeln!(table, "| [`{name}`]({page}) | {makers} | {port} | {transports} |").unwrap();
    }
    table
}

#[test]
fn protocol_table_is_current() {
    let page = folder().join("README.md");
    let stored = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = stored.split_once(HEAD).unwrap();
    let (_rows, after) = rest.split_once("\n\n").unwrap();
    let expect = format!("{before}{}\n{after}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, &expect).unwrap();
    } else {
        assert!(
            stored == expect,
            "the table in docs/trackers/README.md is not that of PROTOCOLS; the page says how to make it"
        );
    }
}

#[test]
fn pages_of_protocols_name_their_listener() {
    for protocol in PROTOCOLS {
        let page = folder().join(page_of(protocol));
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        let listener = format!("{} = \"0.0.0.0:{}\"", protocol.name, protocol.port);
        assert!(text.contains(&listener), "{} does not contain {listener}", page.display());
    }
}
