//! Extractors of ids in a path. A malformed id gives None, because it is answered like one that does not exist.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use perigee_core::devices::device::DeviceRef;
use perigee_core::id::FileId;
use perigee_core::text::SHORT_MAX;
use serde::de::DeserializeOwned;

use crate::http::error::{ApiError, ApiResult};
use crate::http::error_code::ErrorCode;

/// An id; None if the segment is not a valid one.
#[derive(Debug)]
pub struct IdPath<T>(pub Option<T>);

/// Two ids in the order of the path; None where the segment is not a valid one.
#[derive(Debug)]
pub struct IdsPath<T, U>(pub Option<T>, pub Option<U>);

/// A device by id or by hardware identifier; None if the segment can be neither.
#[derive(Debug)]
pub struct DevicePath(pub Option<DeviceRef>);

/// A device by id or hardware identifier, and the id of one of its files; each None if its segment is not valid.
#[derive(Debug)]
pub struct DeviceFilePath(pub Option<DeviceRef>, pub Option<FileId>);

/// A path parameter as text, percent-decoded.
#[derive(Debug)]
pub struct TextPath(pub String);

/// The parameters of the path as text, percent-decoded.
async fn segments<T, S>(parts: &mut Parts, state: &S) -> ApiResult<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    let Path(texts) = Path::<T>::from_request_parts(parts, state).await.map_err(|rejection| {
        ApiError::new(ErrorCode::InvalidParameter, "The path cannot be read. Encode it as UTF-8.")
            .with_cause(rejection)
    })?;
    Ok(texts)
}

/// The parameter of a path that has only one.
async fn segment<S: Send + Sync>(parts: &mut Parts, state: &S) -> ApiResult<String> {
    segments(parts, state).await
}

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for IdPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        Ok(Self(segment(parts, state).await?.parse().ok()))
    }
}

impl<T: FromStr, U: FromStr, S: Send + Sync> FromRequestParts<S> for IdsPath<T, U> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let (first, second): (String, String) = segments(parts, state).await?;
        Ok(Self(first.parse().ok(), second.parse().ok()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for DevicePath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        Ok(Self(device_ref(&segment(parts, state).await?)))
    }
}

fn device_ref(text: &str) -> Option<DeviceRef> {
    let may_be_device = text.chars().count() <= SHORT_MAX && !text.chars().any(char::is_control);
    may_be_device.then(|| DeviceRef::read(text))
}

impl<S: Send + Sync> FromRequestParts<S> for DeviceFilePath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let (device, file): (String, String) = segments(parts, state).await?;
        Ok(Self(device_ref(&device), file.parse().ok()))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for TextPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        Ok(Self(segment(parts, state).await?))
    }
}
