// The form of a driver and of an assignment, and what is sent.
import { expect, test } from 'vitest'
import {
  assignmentInput,
  byTime,
  driverInput,
  emptyDriver,
  formOfAssignment,
  formOfDriver,
  stateOf,
  tagsIn
} from '$lib/pages/drivers/driverForm'
import type { Schemas } from '$lib/api/client'

const driver: Schemas['Driver'] = {
  id: 'drv_1',
  name: 'Ana',
  phone: null,
  email: 'ana@example.com',
  userId: null,
  tags: ['1A', 'B2'],
  description: null,
  creation: '2026-05-01T12:00:00Z',
  lastModified: '2026-05-01T12:00:00Z'
}

const assignment = (id: string, from: string, to: string | null): Schemas['DriverAssignment'] => ({
  id,
  driverId: 'drv_1',
  deviceId: 'dev_1',
  from,
  to,
  creation: '2026-05-01T12:00:00Z',
  lastModified: '2026-05-01T12:00:00Z'
})

test('tags are separated by commas, semicolons and lines, and may have blanks', () => {
  expect(tagsIn('01 0A, B2;;\n B2\nC3 ,')).toEqual(['01 0A', 'B2', 'C3'])
  expect(tagsIn(' ')).toEqual([])
})

test('a driver comes back from its form as it was', () => {
  const { name, phone, email, tags, description, userId } = driver
  expect(driverInput(formOfDriver(driver))).toEqual({ name, phone, email, tags, description, userId })
  expect(driverInput(formOfDriver({ ...driver, userId: 'usr_1' })).userId).toBe('usr_1')
  expect(driverInput({ ...emptyDriver(), name: ' Bea ' })).toEqual({
    name: 'Bea',
    phone: null,
    email: null,
    tags: [],
    description: null,
    userId: null
  })
})

test('an assignment is read in the zone of the user, and says what is wrong', () => {
  const one = assignment('asg_1', '2026-05-01T08:00:00.000Z', '2026-05-01T18:00:00.000Z')
  for (const zone of ['UTC', 'Europe/Madrid', 'America/Lima']) {
    const { deviceId, from, to } = one
    expect(assignmentInput(formOfAssignment(one, zone), zone)).toEqual({ deviceId, from, to })
  }
  const form = formOfAssignment({ ...one, to: null }, 'UTC')
  expect(assignmentInput(form, 'UTC')).toMatchObject({ to: null })
  expect(assignmentInput({ ...form, deviceId: null }, 'UTC')).toBe('deviceId')
  expect(assignmentInput({ ...form, from: '' }, 'UTC')).toBe('from')
  expect(assignmentInput({ ...form, to: form.from }, 'UTC')).toBe('to')
})

test('assignments are sorted by time, and are over, going on or planned', () => {
  const all = [
    assignment('a', '2026-05-01T08:00:00Z', '2026-05-01T18:00:00Z'),
    assignment('b', '2026-05-03T08:00:00Z', null),
    assignment('c', '2026-05-02T08:00:00Z', '2026-05-02T18:00:00Z')
  ]
  expect(byTime(all).map(({ id }) => id)).toEqual(['b', 'c', 'a'])
  const now = Date.parse('2026-05-02T09:00:00Z')
  expect(all.map((one) => stateOf(one, now))).toEqual(['over', 'later', 'now'])
})
