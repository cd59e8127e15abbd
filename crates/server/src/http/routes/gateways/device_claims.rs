//! Claims of a device on its identifiers, where listeners are shared by several accounts.

use perigee_core::gateways::claim::Claim;
use perigee_core::text::Line;
use rand::Rng as _;

use crate::http::prelude::*;
use crate::http::routes::devices::find_device_id;

/// Maximum number of characters of an identifier.
const IDENTIFIER_MAX: usize = 100;

/// Claim of a device on one of its identifiers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceClaim)]
pub struct DeviceClaimView {
    /// Identifier of the device.
    #[schema(example = "860000000000001")]
    identifier: String,
    /// State of the claim: `proven` if the identifier belongs to this device; `unproven` if the device claims it, but
    /// nothing that is reported under it on shared listeners is stored before the claim is proven; `elsewhere` if
    /// another account holds the identifier.
    #[schema(example = "unproven", pattern = "^(proven|unproven|elsewhere)$")]
    state: &'static str,
    /// Start of the interval in which the tracker must report, and before which it must be silent, to prove the claim.
    /// Null if no proof is under way, or the tracker reported too early.
    #[schema(example = "2026-05-01T12:07:00Z", format = DateTime)]
    report_from: Option<String>,
    /// End of the interval in which the tracker must report to prove the claim. Null if `reportFrom` is null.
    #[schema(example = "2026-05-01T12:09:00Z", format = DateTime)]
    report_until: Option<String>,
}

/// Claims of a device.
#[derive(Serialize, ToSchema)]
pub struct DeviceClaimList {
    /// Claims of the device, one for each of its identifiers, sorted by identifier.
    claims: Vec<DeviceClaimView>,
}

/// Response with one claim of a device.
#[derive(Serialize, ToSchema)]
#[schema(as = OneDeviceClaim)]
pub struct DeviceClaimAnswer {
    /// The claim. While a proof is under way, `reportFrom` and `reportUntil` are the interval in which the tracker must
    /// report.
    claim: DeviceClaimView,
}

impl From<Claim> for DeviceClaimView {
    fn from(claim: Claim) -> Self {
        let (from, until) = claim.window.unzip();
        Self {
            identifier: claim.identifier,
            state: claim.state.name(),
            report_from: from.map(|at| at.to_string()),
            report_until: until.map(|at| at.to_string()),
        }
    }
}

input! {
    /// Identifier whose claim is to be proven.
    struct DeviceClaimInput {
        /// Identifier of the device whose claim is to be proven.
        identifier: Line<1, IDENTIFIER_MAX>, required, example "860000000000001";
    }
}

/// List claims of a device
///
/// Returns the claims of a device: for each of its identifiers, whether it is proven to belong to the account. Only
/// messages to listeners that several accounts share need a proven claim; messages to gateways of the account do not.
/// Any user who may see the device may call this operation.
#[utoipa::path(get, path = "/api/devices/{deviceId}/claims", tag = "gateways",
    responses((status = 200, description = "Claims of the device.", body = DeviceClaimList)))]
pub async fn list_device_claims(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiReply<DeviceClaimList> {
    params.finish()?;
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let claims = app.store.list_claims(caller.scope(), device).await?;
    Ok(caller.reply(DeviceClaimList { claims: claims.into_iter().map(DeviceClaimView::from).collect() }))
}

/// Prove a claim of a device
///
/// Starts a proof that an identifier belongs to the device. The answer has an interval of two minutes that begins in 5
/// to 15 minutes. Switch the tracker off now, and switch it on so that its next report is received within the interval.
/// If it reports earlier, it is in use elsewhere and the proof fails. An operator of the server can also confirm the
/// claim. At most 2 proofs a day can be started for an identifier, and 50 for an account; further requests fail with
/// `rate-limited`. A claim that is already proven does not change. Requires the privilege `devices.write`.
#[utoipa::path(post, path = "/api/devices/{deviceId}/claims", tag = "gateways", request_body = DeviceClaimInput,
    responses((status = 200, description = "The claim, with the interval in which the tracker must report.", body = DeviceClaimAnswer)))]
pub async fn prove_device_claim(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    body: JsonBody,
) -> ApiReply<DeviceClaimAnswer> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    caller.require(Privilege::DevicesWrite)?;
    let identifier = read_body(&body.value, &[], |input: DeviceClaimInput, _| input.identifier)?;
    let (shortest, longest) = Claim::WAIT_S;
    let from = caller.now().plus_seconds(rand::rng().random_range(shortest..=longest));
    let begun = app.store.begin_proof(&caller.actor(), device, &identifier, from).await;
    let claim = match begun {
        Err(StoreError::NotFound(Kind::Device)) => {
            let detail =
                "The device does not have this identifier. Give one of its identifiers, or add this one to the device first."
                    .to_owned();
            return Err(invalid_body(vec![Problem {
                pointer: Pointer::root().member("identifier"),
                detail,
            }]));
        }
        other => other?,
    };
    let claim = claim.ok_or_else(|| {
        ApiError::new(
            ErrorCode::RateLimited,
            "Too many proofs were started today. Try again tomorrow, or ask an operator of the server to confirm the claim.",
        )
    })?;
    Ok(caller.reply(DeviceClaimAnswer { claim: claim.into() }))
}
