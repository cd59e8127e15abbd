// Notifications on this browser: subscribing, renewing and ending, and the list of the user's browsers.
import { api, ok, root, type Schemas } from '$lib/api/client'
import { base64, browserFacts, hashOf, keyBytes, supportOf, type Support } from './support'

export type Browser = Schemas['PushSubscription']
type Settings = Pick<Browser, 'minimumSeverity' | 'quietHours' | 'criticalInQuietHours'> & { name?: string }

/** How long the service worker may take to start before the browser counts as unable, in milliseconds. */
const workerWithinMs = 10_000

const settingsOf = ({ name, minimumSeverity, quietHours, criticalInQuietHours }: Browser): Settings => ({
  name,
  minimumSeverity,
  quietHours,
  criticalInQuietHours
})

async function worker(): Promise<ServiceWorkerRegistration | undefined> {
  return navigator.serviceWorker?.getRegistration(root.href)
}

async function present(): Promise<PushSubscription | null> {
  return (await (await worker())?.pushManager?.getSubscription()) ?? null
}

/** The service worker, once it runs: only then can a browser subscribe. */
async function readyWorker(): Promise<ServiceWorkerRegistration> {
  const late = new Promise<never>((_, refuse) => {
    setTimeout(() => refuse(new Error('no service worker')), workerWithinMs)
  })
  return Promise.race([navigator.serviceWorker.ready, late])
}

/** Subscribes this browser with the key and tells the server. */
async function subscribe(publicKey: string, settings: Partial<Settings>): Promise<Browser> {
  const { pushManager } = await readyWorker()
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: keyBytes(publicKey) })
  return tell(made, publicKey, settings)
}

const tell = (made: PushSubscription, publicKey: string, settings: Partial<Settings>): Promise<Browser> =>
  ok(
    api.POST('/api/account/pushSubscriptions', {
      body: {
        endpoint: made.endpoint,
        p256dh: base64(made.getKey('p256dh')),
        auth: base64(made.getKey('auth')),
        applicationServerKey: publicKey,
        ...settings,
        criticalInQuietHours: settings.criticalInQuietHours ?? true
      }
    })
  )

const forget = (id: string) =>
  ok(
    api.DELETE('/api/account/pushSubscriptions/{pushSubscriptionId}', { params: { path: { pushSubscriptionId: id } } })
  )

class Push {
  /** The browsers of the user, once they were loaded. */
  browsers: Browser[] | null = $state(null)
  /** The ID of this browser's subscription; null if it has none. */
  own: string | null = $state(null)
  /** Whether the server sends to browsers. */
  enabled = $state(true)
  permission: NotificationPermission = $state('default')
  support: Support = $state('unsupported')
  #publicKey = ''

  async load(): Promise<void> {
    this.support = supportOf(browserFacts())
    if ('Notification' in globalThis) this.permission = Notification.permission
    const [key, list] = await Promise.all([
      ok(api.GET('/api/account/pushKey')),
      ok(api.GET('/api/account/pushSubscriptions'))
    ])
    this.#publicKey = key.publicKey
    this.enabled = key.enabled
    const local = this.support === 'ready' ? await present() : null
    const hash = local ? await hashOf(local.endpoint) : null
    this.browsers = list.pushSubscriptions
    this.own = list.pushSubscriptions.find((one) => one.endpointHash === hash)?.id ?? null
  }

  /** Asks for the permission and subscribes this browser. Must be called by a click. Returns whether it did. */
  async turnOn(): Promise<boolean> {
    this.permission = await Notification.requestPermission()
    if (this.permission !== 'granted') return false
    // A subscription of another user, or with an older key, would refuse the new one.
    await (await present())?.unsubscribe()
    const made = await subscribe(this.#publicKey, {})
    await this.load()
    this.own = made.id
    return true
  }

  async turnOff(id: string): Promise<void> {
    if (id === this.own) await (await present())?.unsubscribe()
    await forget(id)
    await this.load()
  }

  async test(id: string): Promise<void> {
    await ok(
      api.POST('/api/account/pushSubscriptions/{pushSubscriptionId}/test', {
        params: { path: { pushSubscriptionId: id } }
      })
    )
  }

  async change(id: string, settings: Settings & { name: string }): Promise<void> {
    const body = settings
    await ok(
      api.PUT('/api/account/pushSubscriptions/{pushSubscriptionId}', {
        params: { path: { pushSubscriptionId: id } },
        body
      })
    )
    await this.load()
  }
}

export const push = new Push()

/**
 * Keeps the subscription of this browser in force, each time the console is opened: ties it to the present session, and
 * subscribes again after the server's key was rotated. A subscription that is not of the signed-in user is ended.
 */
export async function renewSubscription(): Promise<void> {
  const local = await present()
  if (!local) return
  const { pushSubscriptions } = await ok(api.GET('/api/account/pushSubscriptions'))
  const hash = await hashOf(local.endpoint)
  const own = pushSubscriptions.find((one) => one.endpointHash === hash)
  if (!own) {
    await local.unsubscribe()
  } else if (!own.currentKey || !own.currentSession) {
    const { publicKey } = await ok(api.GET('/api/account/pushKey'))
    if (own.currentKey) await tell(local, publicKey, settingsOf(own))
    else {
      await local.unsubscribe()
      await forget(own.id)
      await subscribe(publicKey, settingsOf(own))
    }
  }
}
