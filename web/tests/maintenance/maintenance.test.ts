// Plans in their order, what is left in words, and the body that the form makes.
import { describe, expect, it } from 'vitest'
import { byUrgency, leftOf, type Plan } from '$lib/maintenance/left'
import { fieldsOfPlan, inputOf, noFields } from '$lib/pages/maintenance/form'
import { wallOf, instantOf } from '$lib/format/zoned'

const due = {
  state: 'ok',
  by: 'distance',
  share: 0.5,
  distanceLeft: 714.8,
  engineHoursLeft: null,
  daysLeft: 120,
  date: '2027-05-01',
  estimatedDate: null,
  distance: 14_285.2,
  engineHours: 0,
  odometer: null,
  hourMeter: null,
  pending: false
} satisfies Plan['due']

const plan: Plan = {
  id: 'mnt_1',
  deviceId: 'dev_1',
  name: 'Oil change',
  distance: 15_000,
  engineHours: null,
  days: null,
  months: 12,
  date: null,
  soonDistance: 1000,
  soonEngineHours: null,
  soonDays: 14,
  notes: null,
  lastDone: '2026-05-01T08:00:27.500Z',
  odometer: 120_500.5,
  hourMeter: null,
  timesDone: 2,
  due,
  creation: '2026-05-01T08:00:00Z',
  lastModified: '2026-05-01T08:00:00Z'
}

describe('maintenance', () => {
  it('lists due plans first, then what is nearest', () => {
    const of = (name: string, state: 'ok' | 'soon' | 'due', share: number): Plan => ({
      ...plan,
      name,
      due: { ...due, state, share }
    })
    const plans = [of('a', 'ok', 0.1), of('b', 'due', 1.1), of('c', 'soon', 0.9), of('d', 'due', 1.5)]
    expect(plans.sort(byUrgency).map(({ name }) => name)).toEqual(['d', 'b', 'c', 'a'])
  })

  it('says what is left, the nearest limit first', () => {
    expect(leftOf(due)).toEqual(['715 km left', '120 days left'])
    expect(leftOf({ ...due, by: 'date', daysLeft: 0, distanceLeft: -12 })).toEqual(['due today', '12 km over'])
    expect(leftOf({ ...due, by: null, daysLeft: null, distanceLeft: null })).toEqual([])
  })

  it('sends what was read back unchanged', () => {
    const dates = { wallOf, instantOf }
    const body = inputOf(fieldsOfPlan(plan, wallOf), plan, dates)
    for (const [name, value] of Object.entries(body)) expect(value, name).toEqual(plan[name as keyof Plan])
    const fields = { ...fieldsOfPlan(plan, wallOf), distance: null, months: null }
    expect(inputOf(fields, plan, dates)).toMatchObject({ soonDistance: null, soonDays: null })
    expect(inputOf({ ...noFields(), name: ' Oil ' }, null, dates)).toMatchObject({ name: 'Oil', lastDone: null })
  })
})
