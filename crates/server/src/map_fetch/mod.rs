//! Copies an area of a map from a `PMTiles` file on another server, by ranges, into a file of the data folder, which
//! becomes a layer of the console.
//!
//! First the directories of the source are read, and a plan is written with one record for each entry of the new file
//! (`walk`, `planner`, `records`). With it the header and the directories of the new file are written (`output`). Then the
//! tiles are copied in the order of the plan (`batch`, `copy`), so that a copy can continue after any of them.

mod area;
mod batch;
mod cells;
mod compression;
mod copy;
mod devices;
mod directory;
mod error;
mod header;
mod job;
mod output;
mod planner;
mod polygon;
mod ranges;
mod records;
mod remote;
mod service;
mod source;
mod state;
mod tile_id;
mod walk;

pub use area::{AreaSpec, DevicesSpec, POSITIONS_MAX};
pub use error::FetchError;
pub use job::{Env, Live};
pub use remote::Patience;
pub use service::{Job, MapFetcher, MapState, find_by_name, remove};
pub use state::{FetchedMap, FinishedFile, Phase, Plan, PlannedZoom, Problem, Wanted};
