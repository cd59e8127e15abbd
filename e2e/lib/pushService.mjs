// A push service for tests: browsers cannot be given another than their maker's, so it stands in for that. It decrypts
// messages with an implementation of others (npm http_ece) and the keys of a browser that subscribed here.
import { createECDH, createHash, createPublicKey, randomBytes, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import ece from 'http_ece'

/** Starts the service on a free port of this machine. */
export async function startPushService() {
  const receiver = createECDH('prime256v1')
  receiver.generateKeys()
  const auth = randomBytes(16)
  const service = { received: [], status: 201 }
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const plain = ece.decrypt(body, { version: 'aes128gcm', privateKey: receiver, authSecret: auth })
    const { authorization, ttl, urgency, topic } = request.headers
    service.received.push({ bytes: body.length, ttl, urgency, topic, claims: claimsOf(authorization), text: plain.toString() })
    response.writeHead(service.status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  service.origin = `http://127.0.0.1:${server.address().port}`
  service.endpoint = `${service.origin}/send/${randomBytes(8).toString('hex')}`
  service.keys = { p256dh: receiver.getPublicKey('base64url'), auth: auth.toString('base64url') }
  service.hash = createHash('sha256').update(service.endpoint).digest('hex')
  service.stop = () => server.close()
  return service
}

/** The claims of a VAPID token, if it was signed with the key that it names. */
function claimsOf(authorization) {
  const [, token, key] = /^vapid t=(\S+), k=(\S+)$/.exec(authorization)
  const [header, claims, signature] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const right = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url')
  )
  return right ? JSON.parse(Buffer.from(claims, 'base64url')) : null
}

/** Makes the page's browser subscribe to this service instead of its maker's. Everything else stays the browser's own. */
export const useService = (page, { endpoint, keys }) =>
  page.addInitScript(
    ({ endpoint, keys }) => {
      const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
      const kept = 'test.subscribed'
      const subscription = {
        endpoint,
        getKey: (name) => bytes(keys[name]).buffer,
        unsubscribe: async () => localStorage.removeItem(kept) ?? true
      }
      PushManager.prototype.subscribe = async () => {
        localStorage.setItem(kept, 'yes')
        return subscription
      }
      PushManager.prototype.getSubscription = async () => (localStorage.getItem(kept) ? subscription : null)
    },
    { endpoint, keys }
  )
