// The order of devices by their critical alerts.

/** The stage of a critical alert that has not ended. */
export type CriticalStage = 'open' | 'acknowledged'

/** Those to acknowledge first, then those not ended, then all others. */
const ranks: Record<CriticalStage | 'none', number> = { open: 0, acknowledged: 1, none: 2 }

export const rankOf = (stage: CriticalStage | undefined): number => ranks[stage ?? 'none']
