// Commands and test locations for a first device.

export interface Position {
  latitude: number
  longitude: number
}

/** Position of test locations if the browser does not provide one: the port of Vigo. */
export const samplePosition: Position = { latitude: 42.2406, longitude: -8.7507 }

/** A text quoted as one word of a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

interface About {
  /** URL of the server, without a slash at its end. */
  server: string
  email: string
  device: string
}

/** Gets a token and sends a location with curl. */
export function curlFor({ server, email, device }: About): string {
  const json = "-H 'Content-Type: application/json'"
  const who = JSON.stringify({ userName: email, apiKey: 'YOUR_API_KEY' })
  const where = `{"dateTime": "'$(date -u +%FT%TZ)'", "latitude": ${samplePosition.latitude}, "longitude": ${samplePosition.longitude}, "speed": 12, "course": 210}`
  return [
    `TOKEN=$(curl -s ${server}/api/Auth/Token ${json} \\`,
    `  -d ${quoted(who)} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    '',
    `curl ${server}/api/devices/${encodeURIComponent(device)}/locations ${json} \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    `  -d '${where}'`
  ].join('\n')
}

const simulated = /^sim-(\d+)-00000$/

/** The identifier of the first device that the simulator creates with a seed. */
export const identifierFor = (seed: number): string => `sim-${seed}-00000`

/** The seed with which the simulator uses this identifier; null if there is none. */
export function seedOf(identifier: string | null | undefined): number | null {
  const found = simulated.exec(identifier ?? '')
  return found ? Number(found[1]) : null
}

/** Starts the simulator for the device of a seed. */
export function simulatorFor(about: About, seed: number): string {
  return [
    'PERIGEE_API_KEY=YOUR_API_KEY perigee simulate \\',
    `  --url ${about.server} --user-name ${quoted(about.email)} \\`,
    `  --devices 1 --seed ${seed}`
  ].join('\n')
}

const metresPerDegree = 111_320
/** Distance between test locations in metres, and interval between them in seconds. */
export const stride = 60
export const pause = 2

/** A location on a wide circle, so that the dot moves and shows its heading. */
export function walk(from: Position, step: number): Position & { course: number; speed: number } {
  const course = (45 + step * 12) % 360
  let { latitude, longitude } = from
  for (let done = 0; done < step; done++) {
    const angle = ((45 + done * 12) * Math.PI) / 180
    latitude += (Math.cos(angle) * stride) / metresPerDegree
    longitude += (Math.sin(angle) * stride) / (metresPerDegree * Math.cos((latitude * Math.PI) / 180))
  }
  return { latitude, longitude, course, speed: (stride / pause) * 3.6 }
}
