// The order of devices by their critical alerts.

/** The stage of a critical alert that has not ended. */
export type CriticalStage = 'open' | 'acknowledged'

/** Open alerts first, then acknowledged ones, then devices without an alert. */
const ranks: Record<CriticalStage | 'none', number> = { open: 0, acknowledged: 1, none: 2 }

export const rankOf = (stage: CriticalStage | undefined): number => ranks[stage ?? 'none']
