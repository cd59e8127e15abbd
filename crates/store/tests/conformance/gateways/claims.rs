//! Whose an identifier is on listeners that accounts share: proven by a report in a stated interval, or by an operator.

use perigee_core::access::actor::Origin;
use perigee_core::accounts::operator_notice::NoticeKind;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::StoreError;
use perigee_core::gateways::claim::{Claim, ClaimState, CountedClaims};
use perigee_core::gateways::gateway::{HeardMessage, HeardReport};
use perigee_core::gateways::network::{Network, NetworkFinding, NetworkReason, ProofReport};
use perigee_core::id::DeviceId;
use perigee_core::store::{Claims as _, Devices as _, OperatorNotices as _, Reporters as _};
use perigee_core::time::Timestamp;

use crate::assert_fails;
use crate::fixture::{Fixture, Tenant};
use crate::sample::named;

const IMEI: &str = "860000000000001";

async fn register(on: &Fixture, tenant: &Tenant) -> DeviceId {
    on.add(tenant, DeviceSettings { identifier: Some(IMEI.into()), ..named("tracker") }).await.id
}

/// The device whose the tracker's reports are.
async fn owner(on: &Fixture) -> Option<DeviceId> {
    let found = on.store.find_claimed_device(&[IMEI.to_owned()], CountedClaims::Proven).await.unwrap();
    found.map(|reporter| reporter.device)
}

async fn hear(on: &Fixture) {
    let message = HeardMessage {
        received_at: on.now(),
        source: "gt06".into(),
        peer: "192.0.2.9:40000".into(),
        datagram: false,
        bytes: vec![1],
    };
    let report = HeardReport {
        account: None,
        identifier: IMEI.into(),
        source: "gt06",
        peer: "192.0.2.9:40000".into(),
        last_heard: on.now(),
        messages: 1,
        kept: vec![message],
    };
    on.store.save_heard(vec![report]).await.unwrap();
}

async fn claim(on: &Fixture, tenant: &Tenant, device: DeviceId) -> Claim {
    on.store.list_claims(tenant.scope(), device).await.unwrap().remove(0)
}

/// States an interval that begins this many seconds from now.
async fn begin(on: &Fixture, tenant: &Tenant, device: DeviceId, seconds: i64) -> Option<Claim> {
    let from = on.now().plus_seconds(seconds);
    on.store.begin_proof(&tenant.actor(), device, IMEI, from).await.unwrap()
}

pub(crate) async fn the_only_account_needs_no_proof(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = register(&on, &tenant).await;
    assert_eq!(owner(&on).await, Some(device));
    assert_eq!(claim(&on, &tenant, device).await.state, ClaimState::Proven);
    let other = on.tenant("other").await;
    let late = register(&on, &other).await;
    assert_eq!(claim(&on, &other, late).await.state, ClaimState::Elsewhere);
    assert_eq!(owner(&on).await, Some(device));
}

pub(crate) async fn a_claim_counts_once_it_is_proven(on: Fixture) {
    let (tenant, _other) = (on.tenant("acme").await, on.tenant("other").await);
    let device = register(&on, &tenant).await;
    assert_eq!((owner(&on).await, claim(&on, &tenant, device).await.state), (None, ClaimState::Unproven));
    let first = on.store.find_claimed_device(&[IMEI.to_owned()], CountedClaims::All).await.unwrap();
    assert_eq!(first.map(|reporter| reporter.device), Some(device), "where the first claim counts");
    hear(&on).await;
    assert_eq!(on.store.take_claimed(10, CountedClaims::Proven).await.unwrap(), [], "kept back");

    let stated = begin(&on, &tenant, device, 300).await.unwrap();
    let (from, until): (Timestamp, Timestamp) = stated.window.unwrap();
    assert_eq!((from, until), (on.now().plus_seconds(300), on.now().plus_seconds(420)));
    on.clock().advance_seconds(301);
    hear(&on).await;
    assert_eq!(owner(&on).await, Some(device));
    let proven = claim(&on, &tenant, device).await;
    assert_eq!((proven.state, proven.window), (ClaimState::Proven, None));
    let kept = on.store.take_claimed(10, CountedClaims::Proven).await.unwrap();
    assert_eq!(
        kept.iter().map(|(_, messages)| messages.len()).collect::<Vec<_>>(),
        [2],
        "what was kept is its own"
    );
    assert_eq!(begin(&on, &tenant, device, 300).await.unwrap(), proven, "it stays as it is");
    let missing = on.store.begin_proof(&tenant.actor(), device, "other", on.now()).await;
    assert_fails!(missing, StoreError::NotFound(_));
}

pub(crate) async fn a_proof_fails_when_the_tracker_is_in_use(on: Fixture) {
    let (thief, victim) = (on.tenant("thief").await, on.tenant("victim").await);
    let stolen = register(&on, &thief).await;
    begin(&on, &thief, stolen, 300).await.unwrap();
    on.clock().advance_seconds(60);
    hear(&on).await;
    assert_eq!(claim(&on, &thief, stolen).await.window, None, "it reported before the interval");
    on.clock().advance_seconds(241);
    hear(&on).await;
    assert_eq!(owner(&on).await, None);

    begin(&on, &thief, stolen, 300).await.unwrap();
    on.clock().advance_seconds(500);
    hear(&on).await;
    assert_eq!(owner(&on).await, None, "after the interval");
    assert_eq!(begin(&on, &thief, stolen, 300).await, None, "two a day");

    // The owner of the tracker proves it although another account registered it first.
    let device = register(&on, &victim).await;
    begin(&on, &victim, device, 300).await.unwrap();
    on.clock().advance_seconds(310);
    hear(&on).await;
    assert_eq!(owner(&on).await, Some(device));
    assert_eq!(claim(&on, &thief, stolen).await.state, ClaimState::Elsewhere);
    on.clock().advance_seconds(86_400);
    let unchanged = begin(&on, &thief, stolen, 300).await.unwrap();
    assert_eq!((unchanged.state, unchanged.window), (ClaimState::Elsewhere, None));
}

pub(crate) async fn operators_decide_about_contested_identifiers(on: Fixture) {
    let (thief, victim) = (on.tenant("thief").await, on.tenant("victim").await);
    let stolen = register(&on, &thief).await;
    assert_eq!(on.store.list_notices().await.unwrap(), []);
    hear(&on).await;
    let device = register(&on, &victim).await;
    let notices = on.store.list_notices().await.unwrap();
    let [notice] = notices.as_slice() else { panic!("one notice in {notices:?}") };
    assert_eq!((notice.account, notice.kind), (victim.account.id, NoticeKind::IdentifierContested));
    assert_eq!(notice.subject, IMEI);
    let open = on.store.list_open_claims().await.unwrap();
    let [contested] = open.as_slice() else { panic!("one of {open:?}") };
    let devices: Vec<_> = contested.devices.iter().map(|one| (one.device, one.is_holder)).collect();
    assert_eq!((devices, contested.proven_at), (vec![(stolen, true), (device, false)], None));
    assert_eq!(contested.heard.as_ref().unwrap().1, "192.0.2.9:40000");

    // Two intervals at the same time prove nothing.
    begin(&on, &thief, stolen, 300).await.unwrap();
    begin(&on, &victim, device, 300).await.unwrap();
    on.clock().advance_seconds(310);
    hear(&on).await;
    assert_eq!(owner(&on).await, None);

    let origin = Origin::command();
    let unknown = on.store.assign_claim(&origin, "other", device).await;
    assert_fails!(unknown, StoreError::NotFound(_));
    on.store.assign_claim(&origin, IMEI, device).await.unwrap();
    assert_eq!(owner(&on).await, Some(device));
    on.store.assign_claim(&origin, IMEI, stolen).await.unwrap();
    assert_eq!(owner(&on).await, Some(stolen), "operators move it");
    on.store.assign_claim(&origin, IMEI, device).await.unwrap();
    on.store.delete_device(&victim.actor(), device, None).await.unwrap();
    assert_eq!(owner(&on).await, None, "passed on, it is not proven");
    assert_eq!(claim(&on, &thief, stolen).await.state, ClaimState::Unproven);
}

fn finding(on: &Fixture, known: &str, other: &str) -> NetworkFinding {
    let network = |text| Network::parse(text).unwrap();
    let (known, other) = (network(known), network(other));
    NetworkFinding { reason: NetworkReason::Parallel, known, other, at: on.now() }
}

pub(crate) async fn the_network_of_a_proof_is_kept(on: Fixture) {
    let (tenant, _other) = (on.tenant("acme").await, on.tenant("other").await);
    let device = register(&on, &tenant).await;
    begin(&on, &tenant, device, 300).await.unwrap();
    on.clock().advance_seconds(310);
    hear(&on).await;
    let proof = async || {
        let found = on.store.find_claimed_device(&[IMEI.to_owned()], CountedClaims::Proven).await.unwrap();
        found.unwrap().proof
    };
    let network = Network::parse("192.0.0.0/16").unwrap();
    assert_eq!(proof().await, Some(ProofReport { at: on.now(), network }));
    on.store.assign_claim(&Origin::command(), IMEI, device).await.unwrap();
    assert_eq!(proof().await, None, "an operator needs no report");
}

pub(crate) async fn an_identifier_has_one_open_finding_of_networks(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let (home, stranger, third) = ("203.0.0.0/16", "198.51.0.0/16", "2001:db8::/32");
    let save = async |known, other| {
        let found = finding(&on, known, other);
        on.store.save_network_finding(IMEI, found).await.unwrap()
    };
    assert!(!save(home, stranger).await, "nobody has the identifier");
    let device = register(&on, &tenant).await;
    assert_eq!(on.store.list_open_claims().await.unwrap(), []);
    let first = finding(&on, home, stranger);
    assert!(save(home, stranger).await);
    on.clock().advance_seconds(5);
    assert!(!save(home, third).await, "there is one");
    let open = on.store.list_open_claims().await.unwrap();
    let [claim] = open.as_slice() else { panic!("one of {open:?}") };
    assert_eq!((claim.networks, claim.devices.len()), (Some(first), 1));
    let notices = on.store.list_notices().await.unwrap();
    let [notice] = notices.as_slice() else { panic!("one notice in {notices:?}") };
    assert_eq!(
        (notice.account, notice.kind, notice.subject.as_str()),
        (tenant.account.id, NoticeKind::IdentifierNetworks, IMEI)
    );

    on.store.assign_claim(&Origin::command(), IMEI, device).await.unwrap();
    assert_eq!(on.store.list_open_claims().await.unwrap(), [], "decided");
    assert_eq!(owner(&on).await, Some(device));
    assert!(!save(home, stranger).await && !save(stranger, home).await, "an operator decided about these");
    assert!(save(home, third).await, "not about this one");
    assert_eq!(on.store.list_open_claims().await.unwrap().len(), 1);

    let other = on.tenant("other").await;
    let second = register(&on, &other).await;
    on.store.assign_claim(&Origin::command(), IMEI, second).await.unwrap();
    let open = on.store.list_open_claims().await.unwrap();
    assert_eq!((open[0].networks, open[0].devices.len()), (None, 2), "moved, and contested");
    on.store.delete_device(&other.actor(), second, None).await.unwrap();
    assert!(save(home, stranger).await, "a new claim begins anew");
}

pub(crate) async fn findings_of_networks_are_listed_first(on: Fixture) {
    let (tenant, _other) = (on.tenant("acme").await, on.tenant("other").await);
    for identifier in ["1", "2", "3"] {
        on.add(&tenant, DeviceSettings { identifier: Some(identifier.into()), ..named(identifier) }).await;
    }
    let found = finding(&on, "203.0.0.0/16", "198.51.0.0/16");
    assert!(on.store.save_network_finding("3", found).await.unwrap());
    let open = on.store.list_open_claims().await.unwrap();
    let names: Vec<&str> = open.iter().map(|claim| claim.identifier.as_str()).collect();
    assert_eq!(names, ["3", "1", "2"]);
}
