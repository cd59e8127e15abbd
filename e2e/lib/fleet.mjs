// Fills an account with objects of every kind, for screenshots and checks of all pages.

const minute = 60_000
const points = 180

/** Devices that travel: name, start, course in degrees, and speed in km/h. */
const voyages = [
  { name: 'Northern Star', latitude: 42.2, longitude: -9.1, course: 330, speed: 26 },
  { name: 'Vigo Express', latitude: 41.2, longitude: -9.0, course: 5, speed: 38 },
  { name: 'Truck 7', latitude: 42.35, longitude: -7.85, course: 60, speed: 62 },
  { name: 'Rescue boat', latitude: 43.45, longitude: -8.6, course: 250, speed: 31 },
  { name: 'Expedition A', latitude: 43.0, longitude: -5.6, course: 95, speed: 4 }
]

/** Fills the account and returns the IDs and the path that `pages.mjs` needs. */
export async function fill(api) {
  const limits = { dailyEmailLimit: 20, dailySmsLimit: 5, criticalReserve: 1 }
  const devices = []
  for (const { name } of [...voyages, { name: 'Spare tracker' }]) devices.push(await api.device(name, { limits }))
  const now = Date.now()
  const tracks = voyages.map((voyage) => track(voyage, now))
  for (const [index, locations] of tracks.entries()) await api.post(`/api/devices/${devices[index].id}/locations`, locations)
  const group = await api.post('/api/groups', { name: 'Fleet of the north', devices: devices.slice(0, 3).map(({ id }) => id) })
  const { latitude, longitude } = tracks[0].at(-5)
  await api.post(`/api/devices/${devices[0].id}/alerts`, [
    { dateTime: new Date(now - 40 * minute).toISOString(), alertName: 'SpeedLimit', text: 'Faster than 30 km/h' },
    { dateTime: new Date(now - 5 * minute).toISOString(), alertName: 'SOSButton', critical: true, latitude, longitude }
  ])
  const fences = []
  for (const fence of shapes) fences.push((await api.post('/api/geofences', fence)).id)
  for (const rule of rulesOf(fences, group.id)) await api.post('/api/rules', rule)
  const { alerts } = await api.get('/api/alerts?order=desc')
  const at = (minutes) => new Date(now + minutes * minute).toISOString()
  const share = await api.post('/api/shares', { groupId: group.id, name: 'Delivery to Vigo', from: at(-120), until: at(1440) })
  const voyage = await api.post('/api/plans', {
    name: 'Vigo to Horta',
    kind: 'voyage',
    devices: [devices[0].id],
    travellers: [{ name: 'Ana Castro', phone: '+34600123456' }],
    craft: { name: 'Northern Star', callSign: 'EA1234' },
    waypoints: [
      { name: 'Vigo', latitude: 42.24, longitude: -8.72 },
      { name: 'Horta', latitude: 38.53, longitude: -28.62 }
    ],
    checkIns: { everyMinutes: 720 },
    expectedArrival: at(6 * 1440)
  })
  await api.post(`/api/plans/${voyage.id}/start`, {})
  return {
    device: devices[0].id,
    other: devices[1].id,
    group: group.id,
    fence: fences[0],
    alert: alerts[0].id,
    voyage: voyage.id,
    shared: new URL(share.page).pathname
  }
}

/** Names of the account's devices, groups, geofences and rules. */
export const names = () => [
  ...voyages.map(({ name }) => name),
  ...shapes.map(({ properties }) => properties.name),
  ...rulesOf([], '').map(({ name }) => name),
  'Fleet of the north',
  'Spare tracker',
  'Delivery to Vigo',
  'Vigo to Horta',
  'Ana Castro',
  'Northern Star'
]

/** Three hours of a winding voyage, one location a minute, with a stop in the middle. */
function track({ latitude, longitude, course, speed }, now) {
  return Array.from({ length: points }, (_, step) => {
    const isStopped = step > 80 && step < 110
    const heading = (course + 35 * Math.sin(step / 22) + 360) % 360
    const pace = isStopped ? 0 : speed * (1 + 0.3 * Math.sin(step / 9))
    const [degrees, radians] = [pace / 60 / 111.195, (heading * Math.PI) / 180]
    latitude += degrees * Math.cos(radians)
    longitude += (degrees * Math.sin(radians)) / Math.cos((latitude * Math.PI) / 180)
    return {
      dateTime: new Date(now - (points - step) * minute).toISOString(),
      latitude,
      longitude,
      speed: pace,
      course: heading,
      altitude: 3 + 2 * Math.sin(step / 7),
      battery: 95 - step / 6,
      temperature: 12 + Math.sin(step / 30),
      satellites: 11
    }
  })
}

const feature = (name, geometry, more = {}) => ({ type: 'Feature', geometry, properties: { name, ...more } })
const polygon = (...corners) => ({ type: 'Polygon', coordinates: [[...corners, corners[0]]] })

const shapes = [
  feature('Fishing ground', polygon([-10.4, 43.2], [-9.5, 43.5], [-9.4, 42.9], [-9.9, 42.5], [-10.6, 42.7])),
  feature('Port of Vigo', { type: 'Point', coordinates: [-8.75, 42.24] }, { radius: 15_000 }),
  feature('Depot Ourense', { type: 'Point', coordinates: [-7.86, 42.34] }, { radius: 20_000 }),
  feature('Lane to Porto', { type: 'LineString', coordinates: [[-8.9, 42.2], [-9.1, 41.8], [-9.0, 41.4], [-8.75, 41.15]] }, { width: 12_000 })
]

const rulesOf = ([ground, port, depot, lane], group) => [
  {
    name: 'Too fast in port',
    groups: [group],
    conditions: [
      { type: 'speed', above: 20, clear: 15 },
      { type: 'geofence', when: 'inside', geofences: [port] }
    ],
    forSeconds: 30,
    coolDownSeconds: 600
  },
  { name: 'Leaves the fishing ground', allDevices: true, conditions: [{ type: 'geofence', when: 'leave', geofences: [ground] }] },
  {
    name: 'At the depot by night',
    groups: [group],
    conditions: [{ type: 'geofence', when: 'enter', geofences: [depot] }],
    schedule: { weekdays: ['saturday', 'sunday'], from: '22:00', to: '06:00' },
    critical: true
  },
  { name: 'Off the lane', enabled: false, groups: [group], conditions: [{ type: 'route', geofences: [lane] }] },
  { name: 'Nothing heard', allDevices: true, conditions: [{ type: 'offline' }] }
]
