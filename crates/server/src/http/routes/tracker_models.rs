//! The models of trackers that are known, and the settings for decoding that devices can have.

use axum::extract::State;
use perigee_gateways::{DEVICE_OPTIONS, DeviceOption, MODELS, Model, OptionKind};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Params};
use crate::http::reply::Reply;

/// A model of tracker.
#[derive(Serialize, ToSchema)]
#[schema(as = TrackerModel)]
pub struct TrackerModelView {
    /// Who makes or sells it.
    #[schema(example = "Teltonika")]
    maker: &'static str,
    /// The name to set as `model` of a device; the maker may stand before it.
    #[schema(example = "FMB920")]
    model: &'static str,
    /// The protocol that it speaks.
    #[schema(example = "teltonika")]
    protocol: &'static str,
    /// The settings for decoding that it implies, under those of the device.
    #[schema(value_type = Object, example = json!({}))]
    options: Map<String, Value>,
}

/// A setting that a device can have in `decoding`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DecodingOption)]
pub struct DecodingOptionView {
    /// Its name in `decoding`.
    #[schema(example = "timeZoneMinutes")]
    name: &'static str,
    /// What values it takes.
    #[schema(value_type = DecodingOptionType, example = "integer")]
    r#type: &'static str,
    /// The least number; null for other types.
    #[schema(example = -840)]
    minimum: Option<i64>,
    /// The largest number; null for other types.
    #[schema(example = 840)]
    maximum: Option<i64>,
    /// Most characters of a text; null for other types.
    #[schema(example = json!(null), minimum = 1)]
    max_length: Option<usize>,
    /// The texts that it takes; empty if any text, or for other types.
    #[schema(example = json!([]))]
    values: &'static [&'static str],
    /// The protocols and feeds that know it.
    #[schema(example = json!(["gt06"]))]
    protocols: &'static [&'static str],
    /// What it changes.
    #[schema(
        example = "Minutes by which the device's clock is ahead of UTC, for devices that send local time."
    )]
    meaning: &'static str,
}

/// What values a setting takes.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum DecodingOptionType {
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// A text.
    String,
    /// A JSON object: a binary template.
    Object,
}

/// Models of trackers and settings for decoding.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerModelList {
    /// The models that are known; a device may have any other, too.
    #[schema(value_type = Vec<TrackerModelView>)]
    tracker_models: Vec<TrackerModelView>,
    /// The settings that devices can have in `decoding`.
    #[schema(value_type = Vec<DecodingOptionView>)]
    decoding_options: Vec<DecodingOptionView>,
}

impl From<&Model> for TrackerModelView {
    fn from(model: &Model) -> Self {
        let options = model.options.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
        Self { maker: model.maker, model: model.name, protocol: model.protocol, options: options.collect() }
    }
}

impl From<&DeviceOption> for DecodingOptionView {
    fn from(option: &DeviceOption) -> Self {
        let (r#type, range, max_length) = match option.kind {
            OptionKind::Flag => ("boolean", None, None),
            OptionKind::Whole(least, most) => ("integer", Some((least, most)), None),
            OptionKind::Text(most) => ("string", None, Some(most)),
            OptionKind::Word(_) | OptionKind::Format => ("string", None, None),
            OptionKind::Template => ("object", None, None),
        };
        let values = if let OptionKind::Word(words) = option.kind { words } else { &[] };

        Self {
            name: option.name,
            r#type,
            minimum: range.map(|(least, _)| least),
            maximum: range.map(|(_, most)| most),
            max_length,
            values,
            protocols: option.protocols,
            meaning: option.meaning,
        }
    }
}

/// List models of trackers.
///
/// The models that this version knows, each with its maker, its protocol and what it means for decoding, and the settings that
/// a device can have in `decoding`.
#[utoipa::path(get, path = "/api/trackerModels", tag = "gateways",
    responses((status = 200, description = "Models and settings.", body = TrackerModelList)))]
pub async fn list_tracker_models(
    State(_app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<TrackerModelList>> {
    params.finish()?;
    Ok(caller.reply(TrackerModelList {
        tracker_models: MODELS.iter().map(TrackerModelView::from).collect(),
        decoding_options: DEVICE_OPTIONS.iter().map(DecodingOptionView::from).collect(),
    }))
}
