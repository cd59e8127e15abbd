//! Writes the answers that the back office expects: one line with the ID of the request, and status 200 even for a
//! failure.

use crate::feed::{FeedContext, FeedOutcome, FeedReply, FeedRequest};
use crate::notation::calendar::Civil;
use crate::notation::xml::{Element, escape};
use crate::secret::short_hash;

use super::decode::is_json;

pub(super) fn reply(
    request: &FeedRequest<'_>,
    context: &FeedContext<'_>,
    outcome: &FeedOutcome,
) -> FeedReply {
    if is_json(request.body) {
        return FeedReply::of(outcome, "application/json", "{\"status\":\"ok\"}");
    }
    let root = Element::parse_root(request.body).unwrap_or_default();
    let id = root.attribute("messageID").or_else(|| root.attribute("prvMessageID")).unwrap_or_default();
    let is_provisioning = root.name.starts_with("prv");
    let (tag, schema) = if is_provisioning {
        ("prvResponseMsg", "ProvisionResponse_Rev1_0.xsd")
    } else {
        ("stuResponseMsg", "StuResponse_Rev1_0.xsd")
    };
    let (state, words) = match (outcome, is_provisioning) {
        (FeedOutcome::Stored, true) => ("PASS", "Store OK"),
        (FeedOutcome::Stored, false) => ("pass", "Store OK"),
        (FeedOutcome::Failed, true) => ("FAIL", "Store failed"),
        (FeedOutcome::Failed, false) => ("fail", "Store failed"),
    };
    let Civil { year, month, day, hour, minute, second } = Civil::of(context.now);
    let own_id = short_hash(&format!("{id}/{}", context.now.as_millis()), 32);
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><{tag} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:noNamespaceSchemaLocation=\"http://cody.glpconnect.com/XSD/{schema}\" \
         deliveryTimeStamp=\"{day:02}/{month:02}/{year:04} {hour:02}:{minute:02}:{second:02} GMT\" messageID=\"{own_id}\" \
         correlationID=\"{}\"><state>{state}</state><stateMessage>{words}</stateMessage></{tag}>",
        escape(id)
    );
    FeedReply { status: 200, content_type: "text/xml", body: body.into_bytes() }
}
