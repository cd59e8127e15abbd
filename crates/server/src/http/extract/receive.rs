//! Receives a body; memory is reserved before bytes are buffered.

use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use bytes::Bytes;
use http_body_util::BodyExt as _;

use crate::budget::{Payer, Pool, UntrustedBytes};
use crate::http::error::{ApiError, ApiResult};
use crate::http::error_code::ErrorCode;
use crate::serve::SlowBody;

/// Memory is reserved in steps of at least this many bytes while a body arrives.
const LEAST_GROWTH: usize = 16 * 1024;
/// Memory of a request besides its body while the body is incomplete: buffers of its connection, headers, and its task.
const REQUEST_BYTES: usize = 32 * 1024;

/// Receives a body of at most `limit` bytes, as it was sent: still compressed.
pub async fn read_body(
    mut body: Body,
    limit: usize,
    pool: &Arc<Pool>,
    payer: Payer,
) -> ApiResult<UntrustedBytes> {
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(too_large(limit));
    }
    let Some(first) = next_piece(&mut body).await? else {
        return Ok(UntrustedBytes::new(Bytes::new(), pool.empty(payer)));
    };
    if first.len() > limit {
        return Err(too_large(limit));
    }
    if body.is_end_stream() {
        let permit = pool.try_acquire_whole(payer, first.len())?;
        return Ok(UntrustedBytes::new(first, permit));
    }
    let announced = body.size_hint().upper().and_then(|rest| usize::try_from(rest).ok());
    let most = announced.map_or(limit, |rest| rest.saturating_add(first.len()).min(limit));
    let mut permit = pool.empty(payer);
    // A client that does not finish a body also holds its connection and request.
    permit.grow(REQUEST_BYTES)?;
    let mut received = Vec::new();
    let mut next = Some(first);
    while let Some(piece) = next {
        let total = received.len() + piece.len();
        if total > limit {
            return Err(too_large(limit));
        }
        if total + REQUEST_BYTES > permit.bytes() {
            // Doubles like a vector, so that copying stays cheap, but not beyond the possible size of the body.
            let held = permit.bytes() - REQUEST_BYTES;
            let growth = received.len().max(LEAST_GROWTH).min(most.saturating_sub(held));
            permit.grow(growth.max(total - held))?;
            received.reserve_exact(permit.bytes() - REQUEST_BYTES - received.len());
        }
        // Copied: a chunk may be a small slice of a large connection buffer, which it would keep alive.
        received.extend_from_slice(&piece);
        drop(piece);
        next = next_piece(&mut body).await?;
    }
    permit.give_back(REQUEST_BYTES);
    Ok(UntrustedBytes::new(received.into(), permit))
}

/// The next chunk; None at the end.
async fn next_piece(body: &mut Body) -> ApiResult<Option<Bytes>> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Some(Err(error)) if caused_by::<SlowBody>(&error) => {
                return Err(ApiError::new(
                    ErrorCode::RequestTimeout,
                    "The body was not received in time. Send it again over a faster connection, or in parts.",
                ));
            }
            Some(Err(error)) => {
                return Err(ApiError::new(
                    ErrorCode::MalformedJson,
                    "The body is incomplete, and nothing was stored. Send the request again.",
                )
                .with_cause(error));
            }
        }
    }
}

/// The error for a body that is too large.
pub(super) fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        ErrorCode::BodyTooLarge,
        format!("The body is larger than {limit} bytes, the maximum here. Send it in parts."),
    )
}

fn caused_by<E: std::error::Error + 'static>(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<E>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    const KIB: usize = 1024;

    fn pool() -> Arc<Pool> {
        Pool::new("test", 400 * KIB, 100 * KIB, 100 * KIB)
    }

    fn payer() -> Payer {
        Payer::client([192, 0, 2, 1].into(), None)
    }

    /// A body in pieces that comes without its length.
    fn pieces(count: usize, size: usize) -> Body {
        let frames = (0..count).map(move |_| Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'x'; size]))));
        Body::new(StreamBody::new(stream::iter(frames)))
    }

    #[tokio::test]
    async fn memory_is_accounted_for_until_the_body_is_dropped() {
        let pool = pool();
        let received = read_body(pieces(10, 5 * KIB), 64 * KIB, &pool, payer()).await.unwrap();
        assert_eq!(received.len(), 50 * KIB);
        assert!(pool.used() >= 50 * KIB && pool.used() < 70 * KIB, "{}", pool.used());
        drop(received);
        assert_eq!(pool.used(), 0);
        let whole = read_body(Body::from("small"), 64 * KIB, &pool, payer()).await.unwrap();
        assert_eq!(whole.read_here(<[u8]>::to_vec), b"small");
        assert_eq!(pool.used(), 5);
    }

    #[tokio::test]
    async fn an_endless_body_is_refused_at_the_limit_of_its_address() {
        let pool = pool();
        let refused = read_body(pieces(1_000_000, KIB), usize::MAX, &pool, payer()).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::RateLimited);
        assert_eq!(pool.used(), 0);
        let refused = read_body(pieces(100, KIB), 64 * KIB, &pool, payer()).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::BodyTooLarge);
        let declared = Body::from(vec![0; 65 * KIB]);
        assert_eq!(
            read_body(declared, 64 * KIB, &pool, payer()).await.unwrap_err().code,
            ErrorCode::BodyTooLarge
        );
    }
}
