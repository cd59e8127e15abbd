// Which channels are offered, and what is shown of them.
import { expect, test } from 'vitest'
import { languages } from '$lib/access/languages'
import { channelValues } from '$lib/api/schema'
import { channelIcon, isOff, isTelephone, offeredChannels } from '$lib/notifications/channels'
import { messagesOf } from '../i18n/messages'

const telegram = { channel: 'telegram' as const, title: 'Telegram', addressExample: '-1001234567890' }
const facts = { email: true, sms: false, push: true, others: [telegram] }

test('what the server is set up for is offered, and what is in use', () => {
  expect(offeredChannels(null, 'email')).toEqual(['email', 'sms'])
  expect(offeredChannels(facts, 'email')).toEqual(['email', 'sms', 'telegram'])
  expect(offeredChannels(facts, 'slack')).toEqual(['email', 'sms', 'telegram', 'slack'])
})

test('a channel is off only if the server is known not to have it', () => {
  expect(isOff(null, 'slack')).toBe(false)
  expect(['email', 'sms', 'telegram', 'slack'].map((channel) => isOff(facts, channel as 'email'))).toEqual([
    false,
    true,
    false,
    true
  ])
})

test('every channel has its texts in both languages', () => {
  for (const channel of channelValues) {
    for (const key of [`notifications.channel.${channel}`, `device.by.${channel}`]) {
      for (const { value } of languages) expect(messagesOf(value).has(key), `${key} in ${value}`).toBe(true)
    }
  }
  expect([channelIcon('call'), channelIcon('email'), channelIcon('matrix')]).toEqual(['phone', 'mail', 'bell'])
  expect(isTelephone('whatsapp')).toBe(true)
})
