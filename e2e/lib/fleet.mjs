// An account with something of everything, for pictures and checks of all pages.

const minute = 60_000

/** Fills the account and tells what is in it. */
export async function fill(api) {
  const names = ['Northern Star', 'Vigo Express', 'Truck 7', 'Rescue boat', 'Expedition A', 'Spare tracker']
  const devices = []
  for (const name of names) {
    devices.push(await api.device(name, { limits: { dailyEmailLimit: 20, dailySmsLimit: 5, criticalReserve: 1 } }))
  }
  const now = Date.now()
  for (const [index, { id }] of devices.slice(0, 5).entries()) await api.post(`/api/devices/${id}/locations`, track(index, now))
  const group = await api.post('/api/groups', { name: 'Fleet of the north', devices: devices.slice(0, 3).map(({ id }) => id) })
  await api.post(`/api/devices/${devices[0].id}/alerts`, [
    { dateTime: new Date(now - 40 * minute).toISOString(), alertName: 'SpeedLimit', text: 'Faster than 20 km/h' },
    { dateTime: new Date(now - 5 * minute).toISOString(), alertName: 'SOSButton', critical: true, latitude: 42.2, longitude: -8.9 }
  ])
  return { device: devices[0].id, devices: devices.map(({ id }) => id), group: group.id }
}

/** Some hours of a voyage with a stop in its middle. */
function track(index, now) {
  const points = 180
  return Array.from({ length: points }, (_, step) => {
    const waits = step > 80 && step < 110
    const along = waits ? 80 : step
    return {
      dateTime: new Date(now - (points - step) * minute).toISOString(),
      latitude: 42.2 + index * 1.3 + Math.sin(along / 25) * 0.3,
      longitude: -8.9 - index * 2.1 - along * 0.01,
      speed: waits ? 0 : 18 + 12 * Math.sin(step / 9),
      course: 280 + 30 * Math.cos(along / 25),
      altitude: 3 + 2 * Math.sin(step / 7),
      battery: 95 - step / 6,
      temperature: 12 + Math.sin(step / 30),
      satellites: 11
    }
  })
}
