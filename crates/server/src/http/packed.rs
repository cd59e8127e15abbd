//! Embedded files with their compressed forms, each made once for the whole process and kept.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use rust_embed::RustEmbed;
use tokio::sync::OnceCell;

use super::coding::Coding;
use super::embedded::{EmbeddedFile, Keep};
use super::extract::Preconditions;

/// Below this, headers are the larger part of an answer.
const LEAST_BYTES: usize = 1024;
/// Within a tenth of the best in a fiftieth of the time: the first one who asks waits for it.
const BROTLI_QUALITY: u32 = 5;
/// The largest window of the format, in bits.
const BROTLI_WINDOW: u32 = 22;

/// A file and its compressed forms.
#[derive(Debug)]
pub struct PackedFile {
    plain: EmbeddedFile,
    brotli: OnceCell<Option<EmbeddedFile>>,
    gzip: OnceCell<Option<EmbeddedFile>>,
}

/// The files of a folder by name.
pub type PackedFiles = HashMap<String, Arc<PackedFile>>;

/// Every file of a folder; how long each may be kept follows from its name.
pub fn packed_files<E: RustEmbed>(keep: fn(&str) -> Keep) -> PackedFiles {
    let read = |name: std::borrow::Cow<'static, str>| {
        let file = E::get(&name)?;
        let plain = EmbeddedFile::new(&name, file.data, file.metadata.sha256_hash(), keep(&name));
        Some((name.into_owned(), Arc::new(PackedFile::new(plain))))
    };
    E::iter().filter_map(read).collect()
}

impl PackedFile {
    /// This file; nothing is compressed yet.
    pub fn new(plain: EmbeddedFile) -> Self {
        Self { plain, brotli: OnceCell::new(), gzip: OnceCell::new() }
    }

    /// The file in the form the client likes best, or 304 when the client has that.
    pub async fn answer(&self, headers: &HeaderMap, known: &Preconditions) -> Response {
        self.answer_by(headers, known, compress).await
    }

    async fn answer_by(
        &self,
        headers: &HeaderMap,
        known: &Preconditions,
        compress: fn(Coding, &[u8]) -> Option<Vec<u8>>,
    ) -> Response {
        if self.plain.len() < LEAST_BYTES {
            return self.plain.answer(known);
        }
        for coding in Coding::taken(headers) {
            let form = match coding {
                Coding::Brotli => self.form(coding, &self.brotli, compress).await,
                Coding::Gzip => self.form(coding, &self.gzip, compress).await,
                Coding::Plain => break,
            };
            if let Some(form) = form {
                return form.answer(known);
            }
        }
        self.plain.clone().coded(Coding::Plain).answer(known)
    }

    /// The compressed form, made off the threads that serve connections. None when it could not be made.
    async fn form<'a>(
        &self,
        coding: Coding,
        kept: &'a OnceCell<Option<EmbeddedFile>>,
        compress: fn(Coding, &[u8]) -> Option<Vec<u8>>,
    ) -> Option<&'a EmbeddedFile> {
        let make = || async move {
            let content = self.plain.content();
            let made = tokio::task::spawn_blocking(move || compress(coding, &content)).await;
            made.ok().flatten().map(|content| self.plain.clone().with_content(content.into()).coded(coding))
        };
        kept.get_or_init(make).await.as_ref()
    }
}

fn compress(coding: Coding, content: &[u8]) -> Option<Vec<u8>> {
    match coding {
        Coding::Brotli => {
            let buffer_bytes = 64 * 1024;
            let mut writer =
                brotli::CompressorWriter::new(Vec::new(), buffer_bytes, BROTLI_QUALITY, BROTLI_WINDOW);
            writer.write_all(content).ok()?;
            Some(writer.into_inner())
        }
        Coding::Gzip => {
            let mut writer = GzEncoder::new(Vec::new(), Compression::default());
            writer.write_all(content).ok()?;
            writer.finish().ok()
        }
        Coding::Plain => None,
    }
}

/// What content is kept as: cheap to clone for each answer.
pub(super) fn kept(content: std::borrow::Cow<'static, [u8]>) -> Bytes {
    match content {
        std::borrow::Cow::Borrowed(content) => Bytes::from_static(content),
        std::borrow::Cow::Owned(content) => Bytes::from(content),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use http::header;
    use http_body_util::BodyExt as _;

    use super::*;

    fn file() -> PackedFile {
        let content = "hello, world; ".repeat(1_000).into_bytes();
        PackedFile::new(EmbeddedFile::new("a.js", content.into(), [7; 32], Keep::Long))
    }

    fn accepting(coding: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, coding.parse().unwrap())])
    }

    #[tokio::test]
    async fn each_form_is_made_once() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        fn counting(coding: Coding, content: &[u8]) -> Option<Vec<u8>> {
            MADE.fetch_add(1, Ordering::SeqCst);
            compress(coding, content)
        }
        let (file, none) = (file(), Preconditions::default());
        for coding in ["br", "gzip"] {
            let headers = accepting(coding);
            let answers = join_all((0..20).map(|_| file.answer_by(&headers, &none, counting))).await;
            assert!(answers.iter().all(|answer| answer.headers()[header::CONTENT_ENCODING] == coding));
        }
        assert_eq!(MADE.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn forms_are_the_file() {
        let (file, none) = (file(), Preconditions::default());
        let read = async |coding: &str| {
            let answer = file.answer(&accepting(coding), &none).await;
            answer.into_body().collect().await.unwrap().to_bytes().to_vec()
        };
        let plain = read("identity").await;
        let (mut brotli, mut gzip) = (Vec::new(), Vec::new());
        brotli::Decompressor::new(&*read("br").await, 4_096).read_to_end(&mut brotli).unwrap();
        flate2::read::GzDecoder::new(&*read("gzip").await).read_to_end(&mut gzip).unwrap();
        assert!(plain == brotli && plain == gzip && plain.len() == 14_000);
    }
}
