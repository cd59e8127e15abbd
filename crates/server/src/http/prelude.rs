//! Imports of most handlers: extractors, replies and errors.

pub(crate) use axum::extract::State;
pub(crate) use axum::response::{IntoResponse, Response};
pub(crate) use perigee_core::access::privilege::Privilege;
pub(crate) use perigee_core::error::{Kind, StoreError};
pub(crate) use serde::Serialize;
pub(crate) use serde_json::Value;
pub(crate) use utoipa::ToSchema;

pub(crate) use super::edit::{ENVELOPE, attribute_reference, change_handlers, retry_changed};
pub(crate) use super::error::{
    ApiError, ApiResult, forbidden, internal, invalid_body, invalid_parameter, not_found,
};
pub(crate) use super::error_code::ErrorCode;
pub(crate) use super::extract::{
    Call, Caller, Change, DevicePath, IdPath, JsonBody, Once, Params, Preconditions, SessionCaller,
};
pub(crate) use super::input::{input, read_body};
pub(crate) use super::json::{Pointer, Problem};
pub(crate) use super::list::{answer_list, list};
pub(crate) use super::names::{Named, resolve_names};
pub(crate) use super::reply::{ApiReply, Done, Reply};
pub(crate) use crate::app::App;
