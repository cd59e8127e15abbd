//! Bodies that are images.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use perigee_core::accounts::branding::Logo;
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
        self.read(app, &PHOTO, NewPhoto::of).await
    }

    /// Receives the logo of an account, like a photo.
    pub async fn receive_logo(self, app: &App) -> ApiResult<(Logo, Permit)> {
        self.read(app, &LOGO, Logo::of).await
    }

    async fn read<T>(
        self,
        app: &App,
        of: &Picture,
        read: fn(&[u8]) -> Result<T, ImageError>,
    ) -> ApiResult<(T, Permit)> {
        let received = read_body(self.body, of.bytes_max, &app.budget.bodies, self.payer).await;
        let mut received = received.map_err(|error| smaller(error, of))?;
        // Accounts for the copy that the store gets.
        received.hold(received.len())?;
        let picture = received.read_here(read).map_err(|error| refusal(error, of))?;
        Ok((picture, received.into_permit()))
    }
}

/// A kind of picture and its limits.
struct Picture {
    word: &'static str,
    formats: &'static str,
    bytes_max: usize,
    side_max: u32,
}

const PHOTO: Picture = Picture {
    word: "photo",
    formats: "JPEG, PNG or WebP",
    bytes_max: NewPhoto::BYTES_MAX,
    side_max: SIDE_MAX,
};
const LOGO: Picture =
    Picture { word: "logo", formats: "JPEG or PNG", bytes_max: Logo::BYTES_MAX, side_max: Logo::SIDE_MAX };

fn refusal(error: ImageError, of: &Picture) -> ApiError {
    let Picture { word, formats, side_max, .. } = of;
    match error {
        ImageError::Unreadable => ApiError::new(
            ErrorCode::UnsupportedMediaType,
            format!(
                "The body is not a complete {formats} image, or it is an animation. \
                 Send a {word} in one of these formats."
            ),
        ),
        ImageError::TooLarge(width, height) => ApiError::new(
            ErrorCode::BodyTooLarge,
            format!(
                "The {word} has {width} x {height} pixels; at most {side_max} per side and {} million in total are \
                 accepted. Scale it down and send it again.",
                PIXELS_MAX / 1_000_000
            ),
        ),
    }
}

/// Replaces the advice to send a large body in parts: a photo can only be scaled down.
fn smaller(error: ApiError, Picture { word, bytes_max, .. }: &Picture) -> ApiError {
    match error.code {
        ErrorCode::BodyTooLarge => ApiError::new(
            ErrorCode::BodyTooLarge,
            format!("The {word} is larger than {bytes_max} bytes. Scale it down and send it again."),
        ),
        _ => error,
    }
}
