// Who uses the storage of raw messages.
import type { Schemas } from '$lib/api/client'

export type Usage = Schemas['RawMessageUsage']

/** The sender of raw messages: the key of its label and its ID. It is a gateway, or a device on a listener. */
export function senderOf({ gatewayId, deviceId }: Usage) {
  if (gatewayId) return { message: 'operator.storageGateway', id: gatewayId } as const
  if (deviceId) return { message: 'operator.storageDevice', id: deviceId } as const
  return { message: 'operator.storageUnknown', id: '' } as const
}

/** The stored bytes of a sender in percent of the largest one. */
export function shareOf(usage: Usage, all: Usage[]): number {
  const most = Math.max(1, ...all.map(({ bytes }) => bytes))
  return (usage.bytes / most) * 100
}

/** Identifies a row. */
export const keyOf = ({ accountId, gatewayId, deviceId }: Usage): string =>
  [accountId, gatewayId ?? '', deviceId ?? ''].join(' ')
