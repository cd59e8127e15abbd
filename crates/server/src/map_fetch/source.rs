//! Finds the file of a source, and reads what describes it.

use perigee_core::time::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::error::{FetchError, Result, not_tiles};
use super::header::Header;
use super::remote::{Patience, Remote};
use crate::webhook::Client;

/// Stands for the date of a build in the URL, as in 20260501.
const DATE: &str = "{date}";
/// The oldest build that is looked for, in days. Protomaps keeps builds for about a week.
const BUILD_DAYS: i64 = 10;
/// Maximum size of the metadata, in bytes.
const METADATA_MAX: u64 = 8 * 1024 * 1024;
/// Maximum number of characters of an attribution.
const ATTRIBUTION_MAX: usize = 300;
const DAY_S: i64 = 86_400;

/// An open source.
pub(super) struct Source {
    pub(super) remote: Remote,
    pub(super) header: Header,
    /// The root directory as it is in the file.
    pub(super) root: Vec<u8>,
    /// The JSON document of the source, unpacked.
    pub(super) metadata: Vec<u8>,
    /// From the metadata, as plain text.
    pub(super) attribution: String,
}

/// Opens the file at a URL; if it contains `{date}`, that of the newest build.
pub(super) async fn open(
    client: &Client,
    address: &str,
    patience: Patience,
    now: Timestamp,
    stop: &CancellationToken,
) -> Result<Source> {
    for age in 0..BUILD_DAYS {
        let date: String = now.plus_seconds(-age * DAY_S).to_string().chars().take(10).collect();
        let text = address.replace(DATE, &date.replace('-', ""));
        let url = Url::parse(&text);
        let url = url.map_err(|_not_url| {
            FetchError::Address("must be a URL such as https://example.com/world.pmtiles".to_owned())
        })?;
        if let Some((remote, beginning)) = Remote::open(client, url, patience, stop).await? {
            return describe(remote, &beginning).await;
        }
        if !address.contains(DATE) {
            break;
        }
    }
    Err(FetchError::Unreachable("there is no file at the address of the source".to_owned()))
}

async fn describe(remote: Remote, beginning: &[u8]) -> Result<Source> {
    let header = Header::read(beginning, remote.version().size)?;
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let root = beginning
        .get(place(header.root.offset)..place(header.root.offset).saturating_add(place(header.root.length)))
        .ok_or_else(|| not_tiles("has no root directory in its first 16 KiB"))?
        .to_vec();
    let metadata = if header.metadata.length == 0 {
        b"{}".to_vec()
    } else {
        header.internal.unpack(&remote.read(header.metadata).await?, METADATA_MAX)?
    };
    let document: Value =
        serde_json::from_slice(&metadata).map_err(|_not_json| not_tiles("has metadata that are not JSON"))?;
    let attribution = plain_text(document["attribution"].as_str().unwrap_or_default());
    Ok(Source { remote, header, root, metadata, attribution })
}

/// Text without HTML: attributions often contain links.
fn plain_text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        rest = after.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let text = text.replace("&copy;", "©").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ").replace("&amp;", "&");
    line.chars().filter(|sign| !sign.is_control()).take(ATTRIBUTION_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributions_become_plain_text() {
        let linked =
            "<a href=\"https://www.openstreetmap.org/copyright\">&copy; OpenStreetMap</a>\n | A &amp; B";
        assert_eq!(plain_text(linked), "© OpenStreetMap | A & B");
        assert_eq!(plain_text("<script"), "");
        assert_eq!(plain_text(&"x".repeat(1_000)).len(), 300);
    }
}
