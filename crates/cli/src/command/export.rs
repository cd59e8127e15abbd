//! `perigee export`: a device's locations, streamed from a running server.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use reqwest::{Method, Response};
use serde::Serialize;
use tempfile::NamedTempFile;
use url::Url;

use crate::api::Api;
use crate::args::{Common, Export, FileFormat};
use crate::output::{Answer, print};
use crate::progress;
use crate::transfer::format_of;

pub(crate) async fn run(common: &Common, options: Export) -> Result<()> {
    let api = Api::new(&options.remote)?;
    let named = options.output.as_deref().and_then(format_of);
    let format = options.format.or(named).unwrap_or(FileFormat::Ndjson);
    let source = Source { api: &api, url: address(&api, &options)?, format, bar: progress::bar("bytes") };
    let Some(path) = options.output else {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = match source.write(&mut out).await {
            Err(error) if is_broken_pipe(&error) => return Ok(()),
            written => written,
        };
        written?;
        return Ok(out.flush()?);
    };
    let bytes = write_file(&source, &path).await?;
    print(&Written { device: options.device, file: path, format: format.name(), bytes }, common.json)
}

#[derive(Serialize)]
struct Written {
    device: String,
    file: PathBuf,
    format: &'static str,
    bytes: u64,
}

impl Answer for Written {
    fn in_words(&self) -> String {
        format!("wrote the locations of {} to {}, {} bytes", self.device, self.file.display(), self.bytes)
    }
}

fn address(api: &Api, options: &Export) -> Result<Url> {
    let mut url = api.url(&["api", "devices", &options.device, "locations"])?;
    for (name, instant) in [("from", options.from), ("to", options.to)] {
        if let Some(instant) = instant {
            url.query_pairs_mut().append_pair(name, &instant.to_string());
        }
    }
    if options.place {
        url.query_pairs_mut().append_pair("place", "true");
    }
    Ok(url)
}

/// Writes a temporary file and renames it at the end, so that an incomplete file never has the final name.
async fn write_file(source: &Source<'_>, path: &Path) -> Result<u64> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let draft = NamedTempFile::new_in(folder).with_context(cannot)?;
    let mut out = BufWriter::new(draft);
    let bytes = source.write(&mut out).await?;
    let draft = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(cannot)?;
    draft.as_file().sync_all().with_context(cannot)?;
    draft.persist(path).map_err(|error| error.error).with_context(cannot)?;
    File::open(folder).and_then(|folder| folder.sync_all()).with_context(cannot)?;
    Ok(bytes)
}

/// The locations, streamed from the server.
struct Source<'a> {
    api: &'a Api,
    url: Url,
    format: FileFormat,
    bar: ProgressBar,
}

impl Source<'_> {
    /// Writes all locations. Returns the number of bytes.
    async fn write(&self, out: &mut impl Write) -> Result<u64> {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair("format", self.format.name());
        let answer = self.api.call(Method::GET, url, |request| request).await?;
        self.write_stream(answer, out).await
    }

    async fn write_stream(&self, mut answer: Response, out: &mut impl Write) -> Result<u64> {
        let mut bytes = 0;
        while let Some(part) = answer.chunk().await.context("the server's answer ended too early")? {
            out.write_all(&part)?;
            bytes += part.len() as u64;
            self.bar.set_position(bytes);
        }
        Ok(bytes)
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
