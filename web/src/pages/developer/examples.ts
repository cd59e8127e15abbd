// Ready examples of the API with the server's address and the user's name filled in.
export const languages = ['curl', 'Python', 'JavaScript'] as const
export type Language = (typeof languages)[number]
export const topics = ['devices', 'submit', 'follow'] as const
export type Topic = (typeof topics)[number]

export interface Filled {
  /** Without a slash at the end. */
  base: string
  email: string
  key: string
}

/** A text between single quotes of a shell. */
const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
/** A text as Python and JavaScript both write it. */
const quoted = (text: string): string => JSON.stringify(text)

const curlToken = ({ base, email, key }: Filled): string =>
  `TOKEN=$(curl -s ${shell(`${base}/api/Auth/Token`)} -H 'Content-Type: application/json' \\
  -d ${shell(JSON.stringify({ userName: email, apiKey: key }))} | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
`

const curl: Record<Topic, (filled: Filled) => string> = {
  devices: (filled) => `${curlToken(filled)}
curl -s ${shell(`${filled.base}/api/devices`)} -H "Authorization: Bearer $TOKEN"`,
  submit: (filled) => `${curlToken(filled)}
# DEVICE: the id or the identifier of a device
curl -s ${shell(`${filled.base}/api/devices/DEVICE/locations`)} -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d "{\\"dateTime\\": \\"$(date -u +%FT%TZ)\\", \\"latitude\\": 42.2406, \\"longitude\\": -8.7207, \\"speed\\": 18.5}"`,
  follow: (filled) => `${curlToken(filled)}
curl -sN ${shell(`${filled.base}/api/stream?types=alert.*,location.created`)} -H "Authorization: Bearer $TOKEN"`
}

const pythonToken = ({ base, email, key }: Filled): string => `import json, urllib.request

BASE = ${quoted(base)}

def call(path, body=None, token=None):
    request = urllib.request.Request(BASE + path, json.dumps(body).encode() if body is not None else None)
    request.add_header("Content-Type", "application/json")
    if token:
        request.add_header("Authorization", "Bearer " + token)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

token = call("/api/Auth/Token", {"userName": ${quoted(email)}, "apiKey": ${quoted(key)}})["token"]
`

const python: Record<Topic, (filled: Filled) => string> = {
  devices: (filled) => `${pythonToken(filled)}
for device in call("/api/devices", token=token)["devices"]:
    print(device["name"], device["status"])`,
  submit: (filled) => `${pythonToken(filled)}
from datetime import datetime, timezone

# DEVICE: the id or the identifier of a device
now = datetime.now(timezone.utc).isoformat()
print(call("/api/devices/DEVICE/locations",
           {"dateTime": now, "latitude": 42.2406, "longitude": -8.7207, "speed": 18.5}, token))`,
  follow: (filled) => `${pythonToken(filled)}
cursor = ""
while True:
    page = call("/api/events?wait=30&types=alert.*,location.created" + cursor, token=token)
    for event in page["events"]:
        print(event["type"], event["data"])
    cursor = "&cursor=" + page["nextCursor"]`
}

const scriptToken = ({ base, email, key }: Filled): string => `const base = ${quoted(base)}

async function call(path, body, token) {
  const answer = await fetch(base + path, {
    method: body ? 'POST' : 'GET',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: \`Bearer \${token}\` }) },
    body: body && JSON.stringify(body)
  })
  if (!answer.ok) throw new Error((await answer.json()).error)
  return answer.json()
}

const { token } = await call('/api/Auth/Token', { userName: ${quoted(email)}, apiKey: ${quoted(key)} })
`

const script: Record<Topic, (filled: Filled) => string> = {
  devices: (filled) => `${scriptToken(filled)}
const { devices } = await call('/api/devices', undefined, token)
for (const device of devices) console.log(device.name, device.status)`,
  submit: (filled) => `${scriptToken(filled)}
// DEVICE: the id or the identifier of a device
const location = { dateTime: new Date().toISOString(), latitude: 42.2406, longitude: -8.7207, speed: 18.5 }
console.log(await call('/api/devices/DEVICE/locations', location, token))`,
  follow: (filled) => `${scriptToken(filled)}
let cursor = ''
for (;;) {
  const page = await call(\`/api/events?wait=30&types=alert.*,location.created\${cursor}\`, undefined, token)
  for (const event of page.events) console.log(event.type, event.data)
  cursor = \`&cursor=\${page.nextCursor}\`
}`
}

export function example(language: Language, topic: Topic, filled: Filled): string {
  const all = { curl, Python: python, JavaScript: script }
  return all[language][topic](filled)
}
