//! Moving locations from the tail into chunks. They are packed beside the writer, which only writes what was made.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::OptionFuture;
use perigee_core::location::{Compacted, CompactionBudget};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::live::Live;
use super::save::save_due;
use super::tail::{Due, Owner};
use crate::codec::Point;
use crate::sql::locations::{CHUNK_FULL, Changes, FEW_WAIT_MS, apply, plan_merge};
use crate::sql::scope::existing_devices;
use crate::{Database, Tx, params};

/// Locations one transaction packs, so that no commit waits long for it.
const AT_ONCE: usize = 4_096;
/// Devices one transaction packs, each of which costs some pages.
const DEVICES_AT_ONCE: usize = 32;

/// What becomes of a device's locations.
struct Packed {
    owner: Owner,
    changes: Changes,
    count: usize,
    /// The highest number among them.
    up_to: i64,
    newest: Timestamp,
}

/// Packs what is due, up to so many devices, and writes what has waited long enough.
pub(crate) async fn compact(
    database: &Database,
    live: &Arc<Live>,
    budget: CompactionBudget,
) -> Result<Compacted> {
    let now = live.now();
    let long_ago = now.plus_millis(-FEW_WAIT_MS);
    let mut due = live.tail().due(Due { everything: budget.everything, long_ago, now });
    let mut done = Compacted { more: due.len() > budget.devices, ..Compacted::default() };
    due.truncate(budget.devices);
    if !due.is_empty() {
        pack_due(database, live, &due, budget, &mut done).await?;
    }
    save_due(database, live).await?;
    done.pressed = live.is_pressed();
    Ok(done)
}

/// Packs these devices, some while what others have become waits for its commit.
async fn pack_due(
    database: &Database,
    live: &Arc<Live>,
    mut due: &[Owner],
    budget: CompactionBudget,
    done: &mut Compacted,
) -> Result<()> {
    // Held from reading the chunks until they are written.
    let _chunks = live.chunks.lock().await;
    let mut writing = None;
    while !due.is_empty() {
        let (some, taken) = take(live, due, budget.everything);
        due = &due[taken..];
        let packing = database.read_aside(move |tx| pack(tx, some).boxed());
        let (packed, written) = tokio::join!(packing, OptionFuture::from(writing.take()));
        written.transpose()?;
        let packed = packed?;
        done.devices += u64::try_from(packed.len()).unwrap_or(0);
        done.locations += packed.iter().map(|one| u64::try_from(one.count).unwrap_or(0)).sum::<u64>();
        done.more |= packed.iter().any(|one| one.count == AT_ONCE);
        let live = Arc::clone(live);
        writing = Some(database.write(move |tx| async move { write(tx, &live, packed).await }.boxed()));
    }
    OptionFuture::from(writing).await.transpose()?;
    Ok(())
}

/// Copies of what the first devices have, and how many devices that are.
fn take(live: &Live, owners: &[Owner], everything: bool) -> (Vec<(Owner, Vec<Point>)>, usize) {
    let tail = live.tail();
    let everything = everything || tail.is_crowded();
    let (mut some, mut count) = (Vec::new(), 0);
    for owner in owners.iter().take(DEVICES_AT_ONCE) {
        // What does not fill a chunk waits for the rest of one, so that it need not be packed again with that.
        let whole = tail.count_of(*owner) / CHUNK_FULL * CHUNK_FULL;
        let most = if everything || whole == 0 { AT_ONCE } else { whole.min(AT_ONCE) };
        let points = tail.first_arrived(*owner, most);
        if count > 0 && count + points.len() > AT_ONCE {
            break;
        }
        count += points.len();
        some.push((*owner, points));
    }
    let taken = some.len();
    (some, taken)
}

async fn pack(tx: &Tx, some: Vec<(Owner, Vec<Point>)>) -> Result<Vec<Packed>> {
    let mut packed = Vec::new();
    for (owner, points) in some {
        let Some(up_to) = points.iter().map(|point| point.number).max() else { continue };
        let Some(newest) = points.last().map(|point| point.time) else { continue };
        let count = points.len();
        let changes = plan_merge(tx, owner.0, owner.1, points).await?;
        packed.push(Packed { owner, changes, count, up_to, newest });
    }
    Ok(packed)
}

async fn write(tx: &Tx, live: &Arc<Live>, packed: Vec<Packed>) -> Result<()> {
    tx.leave_facts();
    let owners: Vec<Owner> = packed.iter().map(|one| one.owner).collect();
    let existing = existing_devices(tx, &owners).await?;
    let mark = "INSERT INTO device_live (account_id, device_id, packed_to) VALUES (?1, ?2, ?3) \
                ON CONFLICT (account_id, device_id) DO UPDATE SET packed_to = excluded.packed_to";
    let mut moved = Vec::with_capacity(packed.len());
    for Packed { owner, changes, up_to, newest, .. } in packed {
        if existing.contains(&owner) {
            apply(tx, owner.0, owner.1, changes).await?;
            tx.execute(mark, params![owner.0, owner.1, up_to]).await?;
        }
        moved.push((owner, up_to, newest));
    }
    let live = Arc::clone(live);
    tx.after_commit(move || {
        {
            let mut present = live.present_mut();
            for (owner, _, newest) in &moved {
                present.pack(*owner, *newest);
            }
        }
        let mut tail = live.tail_mut();
        for (owner, up_to, _) in moved {
            tail.drop_packed(owner, up_to);
        }
        drop(tail);
        live.tell_of_room();
    });
    Ok(())
}
