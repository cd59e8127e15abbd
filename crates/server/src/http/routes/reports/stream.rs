//! Sends a report while it is made, or a finished file.

use std::fs::File;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt};
use perigee_core::error::Cause;
use tokio::io::AsyncReadExt as _;

use crate::budget::Permit;
use crate::http::error::chain;
use crate::reports::{Report, ReportError};

/// The usual size of a part of a report that is sent while it is made.
pub(super) const PART_BYTES: usize = 512 * 1024;
/// The size of a part of a file.
const FILE_PART: usize = 64 * 1024;

struct Sending {
    report: Report,
    request: String,
    /// Accounts for the memory of the part that the client has not read yet.
    permit: Permit,
}

/// A body of the first part, and the parts that follow.
pub(super) fn sent(first: Vec<u8>, report: Report, request: String, permit: Permit) -> Body {
    let opening = stream::once(async { Ok::<_, Cause>(Bytes::from(first)) });
    let sending = Sending { report, request, permit };
    Body::from_stream(opening.chain(stream::try_unfold(Some(sending), next)))
}

/// Makes the next part. A failure aborts the connection, so that no client takes an incomplete report for a complete one.
async fn next(sending: Option<Sending>) -> Result<Option<(Bytes, Option<Sending>)>, Cause> {
    let Some(Sending { report, request, permit }) = sending else { return Ok(None) };
    match part(report).await {
        Ok((report, bytes)) => {
            let rest = report.map(|report| Sending { report, request, permit });
            Ok(Some((bytes.into(), rest)))
        }
        Err(error) => {
            // The status was sent already, so the cause can only be logged.
            tracing::error!(request, cause = chain(&error), "report broke off");
            Err(error.into())
        }
    }
}

/// Runs a report until it has a part to send, or ends.
pub(super) async fn part(mut report: Report) -> Result<(Option<Report>, Vec<u8>), ReportError> {
    let mut bytes = Vec::new();
    loop {
        let (rest, more) = report.step().await?;
        bytes.extend(more);
        match rest {
            Some(rest) if bytes.len() < PART_BYTES => report = rest,
            rest => return Ok((rest, bytes)),
        }
    }
}

/// A body of the content of a file.
pub(super) fn of_file(file: File) -> Body {
    let file = tokio::fs::File::from_std(file);
    Body::from_stream(stream::try_unfold(file, |mut file| async move {
        let mut part = BytesMut::with_capacity(FILE_PART);
        let count = file.read_buf(&mut part).await?;
        Ok::<_, std::io::Error>((count > 0).then(|| (part.freeze(), file)))
    }))
}
