//! Writing the present of devices to its tables, and from where on the log is needed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use perigee_core::store::Result;

use super::live::Live;
use super::tail::Owner;
use crate::sql::locations::put_last_points;
use crate::sql::query::insert_many;
use crate::sql::scope::existing_devices;
use crate::{Database, Tx, params};

/// Devices one transaction writes, so that no commit waits long for it.
const AT_ONCE: usize = 200;
/// Numbers by which the place to read the log from must have moved to be worth a write of its own.
const WORTHWHILE: i64 = 100_000;

/// Writes what has waited long enough.
pub(super) async fn save_due(database: &Database, live: &Arc<Live>) -> Result<()> {
    save(database, live, false).await
}

/// Writes all of it, as before closing.
pub(crate) async fn save_all(database: &Database, live: &Arc<Live>) -> Result<()> {
    save(database, live, true).await
}

async fn save(database: &Database, live: &Arc<Live>, everything: bool) -> Result<()> {
    let (now, head) = (live.now(), live.tail().head());
    let owners = live.present().to_save(everything, now, head);
    for some in owners.chunks(AT_ONCE) {
        // Not while locations are erased: in the same commit as that, this would write what memory has still.
        let _chunks = live.chunks.lock().await;
        let (some, live) = (some.to_vec(), Arc::clone(live));
        let job = database.write(move |tx| {
            tx.leave_facts();
            async move { save_some(tx, &live, &some).await }.boxed()
        });
        job.await?;
    }
    let moved = live.needed_from() - live.replay_from.load(Ordering::Relaxed);
    if moved >= WORTHWHILE || (everything && moved > 0) {
        let live = Arc::clone(live);
        database.write(move |tx| async move { save_place(tx, &live).await }.boxed()).await?;
    }
    Ok(())
}

const LIVE: &str = "INSERT INTO device_live (account_id, device_id, last_seen, observed_to, rhythm, doubt)";
const LIVE_CONFLICT: &str = "ON CONFLICT (account_id, device_id) DO UPDATE SET \
    last_seen = max(COALESCE(device_live.last_seen, excluded.last_seen), excluded.last_seen), observed_to = excluded.observed_to, \
    rhythm = excluded.rhythm, doubt = excluded.doubt";

/// Writes the present of these devices. Whoever calls holds [`Live::chunks`].
pub(super) async fn save_some(tx: &Tx, live: &Arc<Live>, owners: &[Owner]) -> Result<()> {
    let existing = existing_devices(tx, owners).await?;
    let (mut heard, mut last, mut saved, mut gone) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for owner in owners {
        if !existing.contains(owner) {
            gone.push(*owner);
            continue;
        }
        let Some((entry, changes)) = live.present().draft(*owner) else { continue };
        if let Some(last_seen) = entry.last_seen {
            let (rhythm, doubt) = (entry.rhythm.to_bytes(), entry.whereabouts.doubt.to_bytes());
            heard.push(params![owner.0, owner.1, last_seen, entry.observed_to, rhythm, doubt].to_vec());
        }
        last.extend(entry.last.map(|point| (*owner, point)));
        saved.push((*owner, entry.observed_to, changes));
    }
    insert_many(tx, LIVE, &heard, LIVE_CONFLICT).await?;
    put_last_points(tx, &last).await?;
    let live = Arc::clone(live);
    tx.after_commit(move || {
        for (account, device) in gone {
            live.forget(account, device);
        }
        let mut present = live.present_mut();
        for (owner, observed_to, changes) in saved {
            present.saved(owner, observed_to, changes);
        }
    });
    Ok(())
}

/// Writes from where on the log is needed. On the writer's thread, where nothing arrives meanwhile.
async fn save_place(tx: &Tx, live: &Arc<Live>) -> Result<()> {
    tx.leave_facts();
    let number = live.needed_from();
    let sql = "INSERT INTO location_replay (id, number) VALUES (1, ?1) \
               ON CONFLICT (id) DO UPDATE SET number = excluded.number";
    tx.execute(sql, params![number]).await?;
    let live = Arc::clone(live);
    tx.after_commit(move || live.set_replay_from(number));
    Ok(())
}
