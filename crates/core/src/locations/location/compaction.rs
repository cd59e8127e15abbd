//! Compaction: packing locations into chunks in the background.

/// How much one call of the compaction may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionBudget {
    /// The largest number of devices.
    pub devices: usize,
    /// Whether devices with few locations are packed too, which otherwise wait until there are more.
    pub everything: bool,
}

/// The result of one call of the compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Devices whose locations were packed.
    pub devices: u64,
    /// How many locations were packed.
    pub locations: u64,
    /// Whether there is more to pack.
    pub more: bool,
    /// Whether so many locations wait that the next call should follow without a pause.
    pub pressed: bool,
}
