//! The known models of trackers, and the decoding settings of devices.

use perigee_gateways::{DEVICE_OPTIONS, DeviceOption, MODELS, Model, OptionKind};
use serde_json::Map;

use crate::http::prelude::*;

/// Model of a tracker.
#[derive(Serialize, ToSchema)]
#[schema(as = TrackerModel)]
pub struct TrackerModelView {
    /// Maker or seller of the model.
    #[schema(example = "Teltonika")]
    maker: &'static str,
    /// Name of the model, for the member `model` of a device. There, the maker may precede it.
    #[schema(example = "FMB920")]
    model: &'static str,
    /// Protocol of the model.
    #[schema(example = "teltonika")]
    protocol: &'static str,
    /// Decoding settings of the model. The settings in `decoding` of a device take precedence.
    #[schema(value_type = Object, example = json!({}))]
    options: Map<String, Value>,
}

/// Decoding setting of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DecodingOption)]
pub struct DecodingOptionView {
    /// Name of the setting in `decoding`.
    #[schema(example = "timeZoneMinutes")]
    name: &'static str,
    /// Type of the values.
    #[schema(value_type = DecodingOptionType, example = "integer")]
    r#type: &'static str,
    /// Smallest number that is accepted. Null unless the type is `integer`.
    #[schema(example = -840)]
    minimum: Option<i64>,
    /// Greatest number that is accepted. Null unless the type is `integer`.
    #[schema(example = 840)]
    maximum: Option<i64>,
    /// Maximum number of characters. Null unless the type is `string` and any text is accepted.
    #[schema(example = json!(null), minimum = 1)]
    max_length: Option<usize>,
    /// Texts that are accepted. Empty if any text is, or for other types than `string`.
    #[schema(example = json!([]))]
    values: &'static [&'static str],
    /// Protocols and feeds that use the setting.
    #[schema(example = json!(["gt06"]))]
    protocols: &'static [&'static str],
    /// Meaning of the setting, in English.
    #[schema(
        example = "Offset of the device's clock from UTC, in minutes; positive if the clock is ahead. For devices that send local time."
    )]
    meaning: &'static str,
}

/// Type of the value of a decoding setting. `boolean`: `true` or `false`. `integer`: a whole number from `minimum` to
/// `maximum`. `string`: a text of at most `maxLength` characters, or one of `values`. `object`: a JSON object with a binary
/// template.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum DecodingOptionType {
    /// `true` or `false`.
    Boolean,
    /// Whole number from `minimum` to `maximum`.
    Integer,
    /// Text of at most `maxLength` characters, or one of `values`.
    String,
    /// JSON object with a binary template.
    Object,
}

/// Models of trackers, and decoding settings of devices.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerModelList {
    /// Known models. The member `model` of a device may have any other text as well.
    #[schema(value_type = Vec<TrackerModelView>)]
    tracker_models: Vec<TrackerModelView>,
    /// Settings that a device can have in `decoding`.
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

/// List tracker models
///
/// Returns the models of trackers that this version of the server knows, each with its maker, protocol and decoding
/// settings, and all settings that a device can have in `decoding`. Any user may call this operation.
#[utoipa::path(get, path = "/api/trackerModels", tag = "gateways",
    responses((status = 200, description = "Tracker models and decoding settings.", body = TrackerModelList)))]
pub async fn list_tracker_models(
    State(_app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiReply<TrackerModelList> {
    params.finish()?;
    Ok(caller.reply(TrackerModelList {
        tracker_models: MODELS.iter().map(TrackerModelView::from).collect(),
        decoding_options: DEVICE_OPTIONS.iter().map(DecodingOptionView::from).collect(),
    }))
}
