// Signals a new alert by a sound and a browser notification, each only if switched on. Critical alerts sound through
// `alarm`.
import { t } from '$lib/i18n/index.svelte'
import { fleet } from '$lib/live/fleet.svelte'
import type { Event } from '$lib/live/stream'
import { go } from '$lib/router.svelte'
import { showToast } from '$lib/ui/feedback/toast.svelte'
import { alarm } from './alarm.svelte'
import { playTone } from './sound'
import { alertTitle, severityWord, type Alert } from './names'

const key = 'perigee.attention'
/** Older alerts, in milliseconds, are not signalled: they arrived late or during a lost connection. */
const newsForMs = 10 * 60_000
const quietForMs = 3_000

interface Wishes {
  sound: boolean
  message: boolean
}

function stored(): Wishes {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Wishes>
    return { sound: kept.sound === true, message: kept.message === true }
  } catch {
    // Storage may be blocked or invalid: both stay off.
    return { sound: false, message: false }
  }
}

class Notifier {
  readonly wishes: Wishes = $state(stored())
  #quietUntil = 0
  #calledCritical = false

  /** Whether the browser supports notifications. */
  readonly canMessage = 'Notification' in globalThis

  follow(): () => void {
    return fleet.onEvent((event) => this.#apply(event))
  }

  /** Switches the sound; it is played once when switched on. */
  setSound(on: boolean): void {
    this.#saveWishes({ sound: on })
    if (on) playTone('warning')
  }

  /** Switches notifications; the browser asks for permission if needed. */
  async setMessage(on: boolean): Promise<void> {
    if (on && Notification.permission !== 'granted' && (await Notification.requestPermission()) !== 'granted') {
      showToast(t('alerts.messageRefused'), 'bad')
      return
    }
    this.#saveWishes({ message: on })
  }

  #saveWishes(change: Partial<Wishes>): void {
    Object.assign(this.wishes, change)
    try {
      localStorage.setItem(key, JSON.stringify(this.wishes))
    } catch {
      // Without storage the choice lasts until the page is closed.
    }
  }

  #apply({ type, at, data }: Event): void {
    if (type !== 'alert.created' || !('alertName' in data) || Date.now() - Date.parse(at) > newsForMs) return
    const alert = data as unknown as Alert
    if (this.wishes.message) this.#message(alert)
    // Critical alerts sound through the alarm, unless it is switched off.
    if (!this.wishes.sound || (alert.severity === 'critical' && alarm.wish !== 'off')) return
    // One sound for alerts that arrive together, but critical alerts are never silenced.
    const isCritical = alert.severity === 'critical'
    if (performance.now() < this.#quietUntil && (!isCritical || this.#calledCritical)) return
    this.#quietUntil = performance.now() + quietForMs
    this.#calledCritical = isCritical
    playTone(alert.severity)
  }

  #message(alert: Alert): void {
    const device = fleet.snapshot.get(alert.deviceId)?.device.name ?? ''
    try {
      const shown = new Notification(`${alertTitle(alert.alertName)} · ${device}`, {
        body: alert.text ?? severityWord(alert.severity),
        tag: alert.id,
        requireInteraction: alert.severity === 'critical'
      })
      shown.onclick = () => {
        window.focus()
        go(`/alerts/${encodeURIComponent(alert.id)}`)
        shown.close()
      }
    } catch {
      // Some phones show notifications only for installed pages.
    }
  }
}

export const notifier = new Notifier()
