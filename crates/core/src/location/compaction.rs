//! Packing locations away in the background.

/// How much one call may pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionBudget {
    /// Devices at the most.
    pub devices: usize,
    /// Whether few locations are packed too, which ordinarily wait for company.
    pub everything: bool,
}

/// What one call packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Devices whose locations were packed.
    pub devices: u64,
    /// How many locations.
    pub locations: u64,
    /// Whether there is more to pack.
    pub more: bool,
    /// Whether so much waits that packing should not rest.
    pub pressed: bool,
}
