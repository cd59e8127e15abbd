//! Claims of a device on its identifiers, where listeners are shared by several accounts.

use axum::extract::State;
use perigee_core::claim::Claim;
use perigee_core::error::{Kind, StoreError};
use perigee_core::privilege::Privilege;
use perigee_core::text::Line;
use rand::Rng as _;
use serde::Serialize;
use utoipa::ToSchema;

use super::devices::find_device_id;
use crate::app::App;
use crate::http::error::{ApiError, ApiResult, invalid_body};
use crate::http::error_code::ErrorCode;
use crate::http::extract::{Caller, DevicePath, JsonBody, Params};
use crate::http::input::{input, read_body};
use crate::http::json::{Pointer, Problem};
use crate::http::reply::Reply;

/// Characters of an identifier.
const IDENTIFIER_MAX: usize = 100;

/// The claim of a device on one of its identifiers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceClaim)]
pub struct DeviceClaimView {
    /// What the hardware calls itself.
    #[schema(example = "860000000000001")]
    identifier: String,
    /// Whose it is. `proven`: this device's. `unproven`: this device's, but nothing that it reports on shared listeners is
    /// stored before the claim is proven. `elsewhere`: another account holds it.
    #[schema(example = "unproven", pattern = "^(proven|unproven|elsewhere)$")]
    state: &'static str,
    /// Start of the interval in which the tracker must report for the first time since the interval was stated; null if none
    /// is stated, or the tracker reported before it.
    #[schema(example = "2026-05-01T12:07:00Z", format = DateTime)]
    report_from: Option<String>,
    /// End of that interval.
    #[schema(example = "2026-05-01T12:09:00Z", format = DateTime)]
    report_until: Option<String>,
}

/// Claims of a device.
#[derive(Serialize, ToSchema)]
pub struct DeviceClaimList {
    /// One for each identifier of the device, sorted.
    claims: Vec<DeviceClaimView>,
}

/// One claim of a device.
#[derive(Serialize, ToSchema)]
#[schema(as = OneDeviceClaim)]
pub struct DeviceClaimAnswer {
    /// The claim, with the interval that was stated.
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
    /// An identifier of a device.
    struct DeviceClaimInput {
        /// What the hardware calls itself; an identifier of the device.
        identifier: Line<1, IDENTIFIER_MAX>, required, example "860000000000001";
    }
}

/// List the claims of a device on its identifiers.
///
/// They matter for trackers that report to listeners which several accounts share; gateways of the account need none.
#[utoipa::path(get, path = "/api/devices/{deviceId}/claims", tag = "gateways", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
), responses((status = 200, description = "The claims.", body = DeviceClaimList)))]
pub async fn list_device_claims(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    params: Params,
) -> ApiResult<Reply<DeviceClaimList>> {
    params.finish()?;
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let claims = app.store.list_claims(caller.scope(), device).await?;
    Ok(caller.reply(DeviceClaimList { claims: claims.into_iter().map(DeviceClaimView::from).collect() }))
}

/// Prove the claim of a device on an identifier.
///
/// The answer states an interval of two minutes that begins in 5 to 15 minutes. Switch the tracker off now, and on again so that
/// it reports in the interval: a tracker that reports before is in use elsewhere, and the proof fails. Without the tracker at
/// hand, an operator of the server can confirm the claim. At most 2 intervals a day for an identifier, and 50 for an account.
/// A claim that is proven stays as it is. Requires `devices.write`.
#[utoipa::path(post, path = "/api/devices/{deviceId}/claims", tag = "gateways", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
), request_body = DeviceClaimInput,
    responses((status = 200, description = "The claim, with the stated interval.", body = DeviceClaimAnswer)))]
pub async fn prove_device_claim(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    body: JsonBody,
) -> ApiResult<Reply<DeviceClaimAnswer>> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    caller.require(Privilege::DevicesWrite)?;
    let identifier = read_body(&body.value, &[], |input: DeviceClaimInput, _| input.identifier)?;
    let (shortest, longest) = Claim::WAIT_S;
    let from = caller.now().plus_seconds(rand::rng().random_range(shortest..=longest));
    let begun = app.store.begin_proof(&caller.actor(), device, &identifier, from).await;
    let claim = match begun {
        Err(StoreError::NotFound(Kind::Device)) => {
            let detail = "The device does not have this identifier.".to_owned();
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
            "Too many proofs were begun today. Try again tomorrow, or ask an operator of the server to confirm the claim.",
        )
    })?;
    Ok(caller.reply(DeviceClaimAnswer { claim: claim.into() }))
}
