//! Histories given to a sink that wants them in parts.

use std::any::Any;

use perigee_core::locations::location::{CompactionBudget, HistoryRequest, Location, Order, StoredLocation};
use perigee_core::store::{LocationMaintenance as _, LocationSink, Locations as _, Next};

use crate::fixture::Fixture;
use crate::sample::{EVERYTHING, fix, named};

/// Takes this many, then says this.
struct Eater {
    most: usize,
    then: Next,
    taken: Vec<StoredLocation>,
}

impl LocationSink for Eater {
    fn take(&mut self, stored: &StoredLocation) -> Next {
        assert!(self.then != Next::Stop || self.taken.len() < self.most, "no more was wanted");
        self.taken.push(stored.clone());
        if self.taken.len() < self.most { Next::More } else { self.then }
    }
}

pub(crate) async fn parts_make_the_whole_wherever_a_sink_stops(on: Fixture) {
    let tenant = on.tenant("acme").await;
    let device = on.add(&tenant, named("one")).await.id;
    let every = |step: usize, degrees: f64| -> Vec<Location> {
        (-6_000..0).step_by(step).map(|second| fix(on.now().plus_seconds(second), degrees)).collect()
    };
    on.store.store_locations(&tenant.actor(), device, every(1, 1.0)).await.unwrap();
    on.store.compact(CompactionBudget { devices: 100, everything: true }).await.unwrap();
    // These are in no chunk, and lie among those that are.
    on.store.store_locations(&tenant.actor(), device, every(7, 2.0)).await.unwrap();

    let mut whole = on.store.list_locations(tenant.scope(), device, EVERYTHING).await.unwrap().items;
    assert_eq!(whole.len(), 6_858);
    for order in [Order::Ascending, Order::Descending] {
        for (most, then) in [
            (1, Next::StopAtChunkEnd),
            (1_000, Next::StopAtChunkEnd),
            (333, Next::Stop),
            (2_048, Next::Stop),
            (9_999, Next::Stop),
        ] {
            let mut request = HistoryRequest { order, limit: 5_000, ..EVERYTHING };
            let mut seen = Vec::new();
            loop {
                let sink = Box::new(Eater { most, then, taken: Vec::new() });
                let read = on.store.read_locations(tenant.scope(), device, request, sink).await;
                let (sink, next) = read.unwrap();
                let sink: Box<dyn Any> = sink;
                seen.extend(sink.downcast::<Eater>().expect("the sink that was given").taken);
                match next {
                    Some(next) => request.after = Some(next),
                    None => break,
                }
            }
            assert!(seen == whole, "{order:?}, {then:?} after {most}");
        }
        whole.reverse();
    }
}
