//! Emergencies: all steps from any network are one critical alert with a beginning and an end.

use std::collections::BTreeMap;

use perigee_core::actor::Actor;
use perigee_core::alert::{Alert, AlertFilter, AlertStage, StoredAlert};
use perigee_core::error::StoreError;
use perigee_core::gateway::Reporter;
use perigee_core::location::{HistoryRequest, Order, TimeRange};
use perigee_core::store::Store;
use perigee_core::time::Timestamp;
use perigee_gateways::{FeedMessage, SosStep, to_location};

/// The alert of an emergency.
const NAME: &str = "SOSButton";

/// Follows one step: raises the alert if none is open, or ends the one that is.
pub(super) async fn follow(
    store: &dyn Store,
    reporter: &Reporter,
    step: SosStep,
    message: &FeedMessage,
    at: Timestamp,
) -> Result<(), StoreError> {
    let actor = Actor::for_gateway(reporter);
    let open = find_open(store, reporter).await?;
    match (step, open) {
        (SosStep::Cancel, Some(alert)) => store.end_alert(&actor, alert.id).await.map(drop),
        (SosStep::Cancel, None) | (_, Some(_)) => Ok(()),
        (SosStep::Declare | SosStep::Confirm | SosStep::Repeat, None) => {
            let location = message.reports.first().and_then(|report| to_location(report, at));
            let alert = Alert {
                time: location.as_ref().map_or(at, |location| location.time),
                name: NAME.to_owned(),
                text: message.text.as_ref().map(|text| text.chars().take(Alert::TEXT_MAX).collect()),
                position: location.map(|location| (location.latitude, location.longitude)),
                critical: true,
                attributes: BTreeMap::new(),
            };
            store.store_alerts(&actor, reporter.device, vec![alert]).await.map(drop)
        }
    }
}

/// The emergency of a device that has not ended.
async fn find_open(store: &dyn Store, reporter: &Reporter) -> Result<Option<StoredAlert>, StoreError> {
    let request = HistoryRequest { range: TimeRange::ALL, order: Order::Descending, after: None, limit: 1 };
    for stage in [AlertStage::Open, AlertStage::Acknowledged] {
        let filter = AlertFilter {
            device: Some(reporter.device),
            name: Some(NAME.to_owned()),
            stage: Some(stage),
            ..AlertFilter::default()
        };
        let found = store.list_all_alerts(reporter.scope, &filter, request).await?;
        if let Some(alert) = found.items.into_iter().next() {
            return Ok(Some(alert));
        }
    }
    Ok(None)
}
