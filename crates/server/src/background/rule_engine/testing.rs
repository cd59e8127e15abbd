//! A rule for tests.

use perigee_core::id::{AccountId, RuleId};
use perigee_core::revision::Revision;
use perigee_core::rules::rule::{Condition, Rule, RuleSettings, RuleTarget};
use perigee_core::time::Timestamp;

/// A rule of account 1 for all its devices, with only this condition.
pub(super) fn rule_of(condition: Condition) -> Rule {
    Rule {
        id: RuleId::from_i64(1),
        account: AccountId::from_i64(1),
        revision: Revision::FIRST,
        settings: RuleSettings {
            name: "rule".into(),
            description: None,
            enabled: true,
            target: RuleTarget { all: true, ..RuleTarget::default() },
            conditions: vec![condition],
            for_s: 0,
            cool_down_s: 0,
            max_accuracy_m: RuleSettings::MAX_ACCURACY_M,
            schedule: None,
            alert_name: None,
            text: None,
            critical: false,
            routing: perigee_core::notifications::routing::AlertRouting::default(),
        },
        generation: 1,
        since: Timestamp::MIN,
        creation: Timestamp::MIN,
        last_modified: Timestamp::MIN,
    }
}
