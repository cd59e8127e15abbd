//! Content codings of requests and answers.

pub mod compress;
pub mod compressed_file;
pub mod content_encoding;
