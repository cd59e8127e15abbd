//! Loads the audience of a device's alerts: those whom its routing, the rule and watch lists name.

use std::collections::BTreeSet;

use perigee_core::accounts::account::Account;
use perigee_core::id::{AccountId, DeviceId, WebhookId};
use perigee_core::notifications::notification::{Audience, Source};
use perigee_core::notifications::routing::{AlertRouting, RoutingHolder};
use perigee_core::store::Result;

use super::fill::Raised;
use crate::Tx;
use crate::sql::{accounts, devices::watch_lists, notifications::contact_groups, notifications::routing};

/// A new alert with its recipients.
pub(in crate::sql) struct RoutedAlert {
    pub(in crate::sql) alert: Raised,
    /// Webhooks that get it now.
    pub(in crate::sql) webhooks: BTreeSet<WebhookId>,
    /// Set if its rule names people besides those of the device.
    own: Option<Audience>,
}

impl RoutedAlert {
    /// Everybody who may be notified of it.
    pub(super) fn audience<'a>(&'a self, of_device: &'a DeviceAudience) -> &'a Audience {
        self.own.as_ref().unwrap_or(&of_device.common)
    }
}

/// The audience of the alerts of one device. Alerts of rules may have a larger one.
pub(in crate::sql) struct DeviceAudience {
    pub(super) account: Account,
    in_force: Option<(RoutingHolder, Vec<AlertRouting>)>,
    pub(in crate::sql) common: Audience,
}

impl DeviceAudience {
    /// The audience of a device; `None` if the account does not exist.
    pub(in crate::sql) async fn of(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Option<Self>> {
        let Some(found) = accounts::find(tx, account).await? else { return Ok(None) };
        let in_force = routing::layers(tx, account, device).await?;
        let mut audience = Self { account: found, in_force, common: Audience::default() };
        audience.common = audience.load(tx, None).await?;
        watch_lists::add_watchers(tx, account, device, &mut audience.common).await?;
        Ok(Some(audience))
    }

    /// The audience of an alert that a rule with this routing raised.
    pub(in crate::sql) async fn with_rule(&self, tx: &Tx, rule: &AlertRouting) -> Result<Audience> {
        let mut audience = self.load(tx, Some(rule)).await?;
        audience.recipients.extend(self.common.recipients.iter().cloned());
        audience.webhooks.extend(self.common.webhooks.iter().cloned());
        audience.escalations.extend(self.common.escalations.iter().cloned());
        audience.quiet.extend(self.common.quiet.clone());
        Ok(audience)
    }

    /// Adds to each alert its webhooks, and an audience of its own if its rule has a routing.
    pub(in crate::sql) async fn of_alerts(
        &self,
        tx: &Tx,
        raised: Vec<(Raised, Option<AlertRouting>)>,
    ) -> Result<Vec<RoutedAlert>> {
        let mut routed = Vec::with_capacity(raised.len());
        for (alert, routing) in raised {
            let own = match &routing {
                Some(routing) if alert.is_alone => Some(self.load(tx, Some(routing)).await?),
                Some(routing) => Some(self.with_rule(tx, routing).await?),
                None => None,
            };
            let audience = own.as_ref().unwrap_or(&self.common);
            let zone = &self.account.settings.time_zone;
            let webhooks = audience.webhooks_at(alert.severity, tx.now(), zone);
            routed.push(RoutedAlert { alert, webhooks, own });
        }
        Ok(routed)
    }

    /// The audience of the rule's routing or, without a rule, of the routing in force.
    async fn load(&self, tx: &Tx, rule: Option<&AlertRouting>) -> Result<Audience> {
        let in_force =
            self.in_force.as_ref().map(|(holder, routings)| (Source::from(*holder), routings.as_slice()));
        let named = rule.map(|rule| (Source::Rule, std::slice::from_ref(rule))).or(in_force);
        let mut audience = Audience::default();
        if let Some((source, routings)) = named {
            let directory = contact_groups::directory(tx, self.account.id, routings.iter()).await?;
            for routing in routings {
                audience.add(source, routing, &directory);
            }
        }
        Ok(audience)
    }
}
