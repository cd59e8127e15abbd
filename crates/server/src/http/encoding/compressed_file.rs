//! Embedded files with their compressed forms, each compressed once per process on first use.

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

use crate::http::embedded::{EmbeddedFile, Keep};
use crate::http::encoding::content_encoding::ContentEncoding;
use crate::http::extract::Preconditions;

/// Smaller files are not compressed: headers are the larger part of such answers.
const LEAST_BYTES: usize = 1024;
/// Compresses to within 10 % of the best level in a fiftieth of its time; the first client waits for it.
const BROTLI_QUALITY: u32 = 5;
/// The largest window of the format, in bits.
const BROTLI_WINDOW: u32 = 22;

/// A file and its compressed forms.
#[derive(Debug)]
pub struct CompressedFile {
    plain: EmbeddedFile,
    brotli: OnceCell<Option<EmbeddedFile>>,
    gzip: OnceCell<Option<EmbeddedFile>>,
}

/// Files by their path in the folder.
pub type CompressedFiles = HashMap<String, Arc<CompressedFile>>;

/// The files of a folder. `keep` decides by the name of a file how long clients may cache it.
pub fn compressed_files<E: RustEmbed>(keep: fn(&str) -> Keep) -> CompressedFiles {
    let read = |name: std::borrow::Cow<'static, str>| {
        let file = E::get(&name)?;
        let plain = EmbeddedFile::new(&name, file.data, file.metadata.sha256_hash(), keep(&name));
        Some((name.into_owned(), Arc::new(CompressedFile::new(plain))))
    };
    E::iter().filter_map(read).collect()
}

impl CompressedFile {
    /// A file whose compressed forms are not made yet.
    pub fn new(plain: EmbeddedFile) -> Self {
        Self { plain, brotli: OnceCell::new(), gzip: OnceCell::new() }
    }

    /// The file in the encoding the client prefers, or 304 if the client has it.
    pub async fn answer(&self, headers: &HeaderMap, known: &Preconditions) -> Response {
        self.answer_by(headers, known, compress).await
    }

    async fn answer_by(
        &self,
        headers: &HeaderMap,
        known: &Preconditions,
        compress: fn(ContentEncoding, &[u8]) -> Option<Vec<u8>>,
    ) -> Response {
        if self.plain.len() < LEAST_BYTES {
            return self.plain.answer(known);
        }
        for encoding in ContentEncoding::accepted(headers) {
            let form = match encoding {
                ContentEncoding::Brotli => self.form(encoding, &self.brotli, compress).await,
                ContentEncoding::Gzip => self.form(encoding, &self.gzip, compress).await,
                ContentEncoding::Plain => break,
            };
            if let Some(form) = form {
                return form.answer(known);
            }
        }
        self.plain.clone().encoded(ContentEncoding::Plain).answer(known)
    }

    /// The compressed form, made on a blocking thread. None if it could not be made.
    async fn form<'a>(
        &self,
        encoding: ContentEncoding,
        cell: &'a OnceCell<Option<EmbeddedFile>>,
        compress: fn(ContentEncoding, &[u8]) -> Option<Vec<u8>>,
    ) -> Option<&'a EmbeddedFile> {
        let make = || async move {
            let content = self.plain.content();
            let made = tokio::task::spawn_blocking(move || compress(encoding, &content)).await;
            made.ok()
                .flatten()
                .map(|content| self.plain.clone().with_content(content.into()).encoded(encoding))
        };
        cell.get_or_init(make).await.as_ref()
    }
}

fn compress(encoding: ContentEncoding, content: &[u8]) -> Option<Vec<u8>> {
    match encoding {
        ContentEncoding::Brotli => {
            let buffer_bytes = 64 * 1024;
            let mut writer =
                brotli::CompressorWriter::new(Vec::new(), buffer_bytes, BROTLI_QUALITY, BROTLI_WINDOW);
            writer.write_all(content).ok()?;
            Some(writer.into_inner())
        }
        ContentEncoding::Gzip => {
            let mut writer = GzEncoder::new(Vec::new(), Compression::default());
            writer.write_all(content).ok()?;
            writer.finish().ok()
        }
        ContentEncoding::Plain => None,
    }
}

/// Content as `Bytes`, which are cheap to clone for each answer.
pub(in crate::http) fn into_bytes(content: std::borrow::Cow<'static, [u8]>) -> Bytes {
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

    fn file() -> CompressedFile {
        let content = "hello, world; ".repeat(1_000).into_bytes();
        CompressedFile::new(EmbeddedFile::new("a.js", content.into(), [7; 32], Keep::Long))
    }

    fn accepting(encoding: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, encoding.parse().unwrap())])
    }

    #[tokio::test]
    async fn each_form_is_made_once() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        fn counting(encoding: ContentEncoding, content: &[u8]) -> Option<Vec<u8>> {
            MADE.fetch_add(1, Ordering::SeqCst);
            compress(encoding, content)
        }
        let (file, none) = (file(), Preconditions::default());
        for encoding in ["br", "gzip"] {
            let headers = accepting(encoding);
            let answers = join_all((0..20).map(|_| file.answer_by(&headers, &none, counting))).await;
            assert!(answers.iter().all(|answer| answer.headers()[header::CONTENT_ENCODING] == encoding));
        }
        assert_eq!(MADE.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn forms_are_the_file() {
        let (file, none) = (file(), Preconditions::default());
        let read = async |encoding: &str| {
            let answer = file.answer(&accepting(encoding), &none).await;
            answer.into_body().collect().await.unwrap().to_bytes().to_vec()
        };
        let plain = read("identity").await;
        let (mut brotli, mut gzip) = (Vec::new(), Vec::new());
        brotli::Decompressor::new(&*read("br").await, 4_096).read_to_end(&mut brotli).unwrap();
        flate2::read::GzDecoder::new(&*read("gzip").await).read_to_end(&mut gzip).unwrap();
        assert!(plain == brotli && plain == gzip && plain.len() == 14_000);
    }
}
