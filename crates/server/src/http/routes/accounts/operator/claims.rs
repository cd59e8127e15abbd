//! Identifiers whose claims are not proven, that several accounts registered, or that report from two networks.
//! Operators decide which device gets such an identifier.

use perigee_core::gateways::claim::{ClaimingDevice, OpenClaim};
use perigee_core::gateways::network::NetworkFinding;
use perigee_core::id::DeviceId;
use perigee_core::text::Line;

use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;

/// Maximum length of an identifier, in characters.
const IDENTIFIER_MAX: usize = 100;

/// An identifier whose claim is not proven, that devices of several accounts have, or that reports from two networks.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorClaim)]
pub struct OperatorClaimView {
    /// Identifier with which the hardware reports, such as an IMEI.
    #[schema(example = "860000000000001")]
    identifier: String,
    /// Time at which the claim of the holder was proven. Null if the claim is not proven.
    #[schema(example = json!(null), format = DateTime)]
    proven_at: Option<String>,
    /// Devices that have the identifier, the holder of the claim first.
    devices: Vec<OperatorClaimDevice>,
    /// Time of the last message under this identifier on a listener while no account had proven its claim. Null if there
    /// was none recently.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_heard: Option<String>,
    /// IP address and port from which that message came. Null if `lastHeard` is null.
    #[schema(example = "192.0.2.7:40112")]
    peer: Option<String>,
    /// Networks from which the identifier reports, if there are two and no operator has decided since. Otherwise null.
    networks: Option<OperatorClaimNetworks>,
}

/// Two networks from which an identifier reports: one sender may not be the tracker.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorClaimNetworks {
    /// Reason for the finding. `after-proof`: the claim was proven by a report from one network, and reports from the
    /// other network arrived within 24 hours. `parallel`: connections from both networks reported in turns.
    #[schema(example = "parallel", pattern = "^(after-proof|parallel)$")]
    reason: &'static str,
    /// Network of the report that proved the claim, or network from which the identifier reported first. A /16 of IPv4
    /// or a /32 of IPv6.
    #[schema(example = "203.0.0.0/16")]
    known: String,
    /// The other network from which the identifier reported.
    #[schema(example = "198.51.0.0/16")]
    other: String,
    /// Time at which the server noticed the second network.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    found_at: String,
}

/// A device that has the identifier.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorClaimDevice {
    /// ID of the account that the device belongs to.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    account_id: String,
    /// Name of the account that the device belongs to.
    #[schema(example = "Castro Fishing")]
    account_name: String,
    /// ID of the device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Whether the device holds the claim to the identifier.
    #[schema(example = true)]
    holder: bool,
}

/// A list of identifiers whose claims an operator can decide.
#[derive(Serialize, ToSchema)]
pub struct OperatorClaimList {
    /// The identifiers, sorted; those that report from two networks come first. At most 1,000 devices are listed.
    claims: Vec<OperatorClaimView>,
}

impl From<OpenClaim> for OperatorClaimView {
    fn from(claim: OpenClaim) -> Self {
        let (last_heard, peer) = claim.heard.map(|(at, peer)| (at.to_string(), peer)).unzip();
        let device = |one: ClaimingDevice| OperatorClaimDevice {
            account_id: one.account.to_string(),
            account_name: one.account_name,
            device_id: one.device.to_string(),
            holder: one.is_holder,
        };
        Self {
            identifier: claim.identifier,
            proven_at: claim.proven_at.map(|at| at.to_string()),
            devices: claim.devices.into_iter().map(device).collect(),
            last_heard,
            peer,
            networks: claim.networks.map(OperatorClaimNetworks::from),
        }
    }
}

impl From<NetworkFinding> for OperatorClaimNetworks {
    fn from(finding: NetworkFinding) -> Self {
        Self {
            reason: finding.reason.name(),
            known: finding.known.to_string(),
            other: finding.other.to_string(),
            found_at: finding.at.to_string(),
        }
    }
}

input! {
    /// The device that an identifier is assigned to.
    pub(super) struct OperatorClaimInput {
        /// Identifier with which the hardware reports, such as an IMEI.
        identifier: Line<1, IDENTIFIER_MAX>, required, example "860000000000001";
        /// ID of the device that the identifier is assigned to. The device must have the identifier.
        device_id as "deviceId": Line<1, IDENTIFIER_MAX>, required, example "dev_01jc2m8k4n5p7";
    }
}

/// List open claims
///
/// Returns the identifiers whose claims are not proven, that devices of several accounts have, or that report from two
/// networks. On listeners that all accounts share, an identifier belongs to the account that has proven its claim.
/// Requires an operator of the server with a console session.
#[utoipa::path(get, path = "/api/operator/claims", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The identifiers with open claims.", body = OperatorClaimList)))]
pub async fn list_operator_claims(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiReply<OperatorClaimList> {
    params.finish()?;
    let claims = app.store.list_open_claims().await?.into_iter().map(OperatorClaimView::from).collect();
    Ok(caller.reply(OperatorClaimList { claims }))
}

/// Assign an identifier to a device
///
/// Marks the claim of the device as proven, whichever device held it before. Messages of the tracker that were kept
/// until now are stored as locations of the device. If the identifier reports from two networks, the finding is closed,
/// and the same two networks are not listed again. To close the finding without a change, assign the identifier to its
/// holder. Requires an operator of the server with a console session. The request fails if the device does not have the
/// identifier.
#[utoipa::path(post, path = "/api/operator/claims", tag = "operator", security(("session" = [])),
    request_body = OperatorClaimInput,
    responses((status = 200, description = "The identifier was assigned to the device.", body = Done)))]
pub async fn assign_operator_claim(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    body: JsonBody,
) -> ApiReply<Done> {
    let (identifier, device) = read_body(&body.value, &[], |input: OperatorClaimInput, _| {
        Some((input.identifier?, input.device_id?))
    })?;
    let assigned = match device.parse::<DeviceId>() {
        Ok(device) => app.store.assign_claim(&caller.origin(), &identifier, device).await,
        Err(_other) => Err(StoreError::NotFound(Kind::Device)),
    };
    if let Err(StoreError::NotFound(_)) = assigned {
        let detail =
            "No device with this ID has the identifier. Add the identifier to the device first.".to_owned();
        return Err(invalid_body(vec![Problem { pointer: Pointer::root().member("deviceId"), detail }]));
    }
    assigned?;
    app.ingest.devices.invalidate(&[identifier]);
    Ok(caller.reply(Done {}))
}
