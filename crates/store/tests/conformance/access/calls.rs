//! Calls of the API, hour by hour.

use perigee_core::store::{CALL_RETENTION_DAYS, Calls as _, HourCalls, Maintenance as _};
use perigee_core::time::Timestamp;

use crate::fixture::Fixture;

pub(crate) async fn calls_add_up_by_hour(on: Fixture) {
    let (alfa, beta) = (on.tenant("alfa").await, on.tenant("beta").await);
    let hour = |offset: i64| on.now().plus_seconds(offset * 3_600);
    let one = |tenant: &crate::fixture::Tenant, by_key, offset, calls| HourCalls {
        account: tenant.account.id,
        user: tenant.owner.id,
        by_key,
        hour: hour(offset),
        calls,
    };
    let first = vec![one(&alfa, true, 1, 3), one(&alfa, true, 0, 2), one(&beta, true, 0, 50)];
    on.store.add_calls(first).await.unwrap();
    let other = on.other_node().await;
    other.add_calls(vec![one(&alfa, true, 1, 4), one(&alfa, false, 1, 1)]).await.unwrap();
    on.store.add_calls(Vec::new()).await.unwrap();
    let list =
        async |from: Timestamp, to: Timestamp| on.store.list_calls(alfa.account.id, from, to).await.unwrap();
    assert_eq!(
        list(hour(0), hour(2)).await,
        [one(&alfa, true, 0, 2), one(&alfa, false, 1, 1), one(&alfa, true, 1, 7)]
    );
    assert_eq!(list(hour(0), hour(1)).await, [one(&alfa, true, 0, 2)], "the end is no part of it");
    on.clock().advance_seconds(CALL_RETENTION_DAYS * 86_400 + 1);
    on.store.delete_expired().await.unwrap();
    let begin = on.now().plus_seconds(-CALL_RETENTION_DAYS * 86_400 - 1);
    let left = list(begin, on.now()).await;
    assert_eq!(left.iter().map(|one| one.calls).collect::<Vec<_>>(), [1, 7], "old hours are forgotten");
}
