//! Bodies that are images.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use perigee_core::devices::device_file::MediaType;
use perigee_core::devices::device_photo::NewPhoto;
use perigee_core::devices::image::{ImageError, PIXELS_MAX, SIDE_MAX};

use super::body::{expect_media_type, expect_no_coding, payer};
use super::receive::read_body;
use crate::app::App;
use crate::budget::{Payer, Permit};
use crate::http::error::{ApiError, ApiResult};
use crate::http::error_code::ErrorCode;

/// An image that is not received yet: the handler checks privileges first.
#[derive(Debug)]
pub struct ImageBody {
    body: Body,
    payer: Payer,
}

impl FromRequest<App> for ImageBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _app: &App) -> ApiResult<Self> {
        let [jpeg, png, webp] = NewPhoto::MEDIA_TYPES.map(MediaType::name);
        expect_media_type(request.headers(), &[jpeg, png, webp, "application/octet-stream"])?;
        expect_no_coding(request.headers())?;
        let payer = payer(request.extensions())?;
        Ok(Self { body: request.into_body(), payer })
    }
}

impl ImageBody {
    /// Receives a photo. The permit is held until the photo is stored.
    pub async fn receive(self, app: &App) -> ApiResult<(NewPhoto, Permit)> {
        let limit = NewPhoto::BYTES_MAX;
        let mut received =
            read_body(self.body, limit, &app.budget.bodies, self.payer).await.map_err(smaller)?;
        // Accounts for the copy that the store gets.
        received.hold(received.len())?;
        let photo = received.read_here(NewPhoto::of).map_err(refusal)?;
        Ok((photo, received.into_permit()))
    }
}

fn refusal(error: ImageError) -> ApiError {
    match error {
        ImageError::Unreadable => ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "The body is not a complete JPEG, PNG or WebP image, or it is an animation. \
             Send a photo in one of these formats.",
        ),
        ImageError::TooLarge(width, height) => ApiError::new(
            ErrorCode::BodyTooLarge,
            format!(
                "The photo has {width} x {height} pixels; at most {SIDE_MAX} per side and {} million in total are \
                 accepted. Scale it down and send it again.",
                PIXELS_MAX / 1_000_000
            ),
        ),
    }
}

/// Replaces the advice to send a large body in parts: a photo can only be scaled down.
fn smaller(error: ApiError) -> ApiError {
    match error.code {
        ErrorCode::BodyTooLarge => ApiError::new(
            ErrorCode::BodyTooLarge,
            format!(
                "The photo is larger than {} bytes. Scale it down and send it again.",
                NewPhoto::BYTES_MAX
            ),
        ),
        _ => error,
    }
}
