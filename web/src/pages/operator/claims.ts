// The messages for notices and for identifiers whose owner is in question, and which decisions an operator can make.
import type { Schemas } from '$lib/api/client'

type Claim = Schemas['OperatorClaim']
type Device = Claim['devices'][number]

/** The message for a kind of notice. */
export function noticeMessage(kind: string) {
  if (kind === 'email-ceiling') return 'operator.noticeEmailCeiling'
  if (kind === 'identifier-networks') return 'operator.noticeNetworks'
  return 'operator.noticeContested'
}

/** The message for an identifier that reports from two networks. */
export const networksMessage = (reason: string) =>
  reason === 'after-proof' ? 'operator.claimNetworksAfterProof' : 'operator.claimNetworksParallel'

/** The label of the button that assigns the identifier to this device. */
export const assignMessage = (claim: Claim, device: Device) =>
  device.holder && claim.provenAt != null ? 'operator.keepWith' : 'operator.giveTo'

/**
 * Whether assigning the identifier to this device has an effect. For the device that holds it, it proves the claim or
 * closes a finding about networks.
 */
export const canAssign = (claim: Claim, device: Device): boolean =>
  !device.holder || claim.provenAt == null || claim.networks != null
