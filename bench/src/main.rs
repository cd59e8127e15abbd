//! Measures a built Perigee against its own floor and against plain databases, on both engines, and writes tables and
//! plots. Every ratio compares two numbers of one run on one machine.

mod bench;
mod body;
mod fill;
mod floor;
mod load;
mod numbered;
mod peer;
mod phase;
mod receiver;
mod report;
mod track;

use anyhow::Result;
use clap::Parser;

use crate::bench::{Bench, Options};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> Result<()> {
    let mut bench = Bench::new(Options::parse())?;
    let mut written = String::new();
    for phase in bench.options.phases() {
        let began = std::time::Instant::now();
        eprintln!("{phase:?}");
        phase::run(&mut bench, phase).await?;
        written = bench.report.write(&bench.options.out)?;
        eprintln!("  took {:.0} s", began.elapsed().as_secs_f64());
    }
    println!("{written}");
    Ok(())
}
