// All members of a location in display order, each with the kind of its value.
import type { Schemas } from '$lib/api/client'

type Location = Schemas['Location']
type Value = string | number | boolean

export type Kind =
  | 'coordinates'
  | 'instant'
  | 'speed'
  | 'course'
  | 'height'
  | 'distance'
  | 'kilometres'
  | 'percent'
  | 'temperature'
  | 'duration'
  | 'number'
  | 'flag'
  | 'switches'
  | 'list'
  | 'source'
  | 'text'

export interface Fact {
  /** The name of the member in the API, which is also the key of its message. */
  key: Shown
  kind: Kind
  value: Value | Value[]
}

/** Members that the view shows elsewhere, and `milleage`, which repeats `mileage` under an old name. */
type Elsewhere =
  | 'dateTime'
  | 'receivedAt'
  | 'latitude'
  | 'longitude'
  | 'late'
  | 'suspect'
  | 'attributes'
  | 'accessoriesAttributes'
  | 'milleage'
  | 'place'
type Shown = Exclude<keyof Location, Elsewhere>

/** All other members, in display order. A new member in the API document is a type error here. */
const kinds: Record<Shown, Kind> = {
  speed: 'speed',
  course: 'course',
  altitude: 'height',
  accuracy: 'distance',
  ignition: 'flag',
  battery: 'percent',
  fuel: 'percent',
  fuel2: 'percent',
  temperature: 'temperature',
  temperature2: 'temperature',
  mileage: 'kilometres',
  rpm: 'number',
  inactiveSeconds: 'duration',
  sensorTime1: 'duration',
  sensorTime2: 'duration',
  sensorTime3: 'duration',
  sensorTime4: 'duration',
  inputs: 'switches',
  outputs: 'switches',
  alerts: 'list',
  alertTexts: 'list',
  warnings: 'list',
  warningTexts: 'list',
  hasCriticalAlert: 'flag',
  valid: 'flag',
  satellites: 'number',
  hdop: 'number',
  source: 'source'
}

const isEmpty = (value: unknown): boolean => value == null || (Array.isArray(value) && value.length === 0)

export function factsOf(location: Location): Fact[] {
  const facts: Fact[] = []
  for (const [key, kind] of Object.entries(kinds) as [Shown, Kind][]) {
    const value = location[key]
    if (!isEmpty(value)) facts.push({ key, kind, value: value as Value | Value[] })
  }
  return facts
}

/** Further values that were sent, by the sender's own names. */
export const attributesOf = (location: Location): [string, Value][] =>
  Object.entries((location.attributes ?? {}) as Record<string, Value>)

/** Values of each accessory, by its own names. */
export const accessoriesOf = (location: Location): [string, Value][][] =>
  (location.accessoriesAttributes ?? []).map((one) => Object.entries(one as Record<string, Value>))
