// Calls people to an alert that arrives: a tone, a message of the browser. Both only when somebody asked for them.
import { t } from '../i18n/index.svelte'
import { fleet } from '../live/fleet.svelte'
import type { Event } from '../live/stream'
import { go } from '../router.svelte'
import { tell } from '../ui/toast.svelte'
import { playTone } from './tone'
import { alertTitle, severityWord, type Alert } from './wording'

const key = 'perigee.attention'
/** What happened longer ago is no news: it came while the connection was gone, or the device was late. */
const newsFor = 10 * 60_000
const quietFor = 3_000

interface Wishes {
  sound: boolean
  message: boolean
}

function stored(): Wishes {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Wishes>
    return { sound: kept.sound === true, message: kept.message === true }
  } catch {
    // Storage may be forbidden or hold something else: nothing was asked for then.
    return { sound: false, message: false }
  }
}

class Attention {
  readonly wishes: Wishes = $state(stored())
  #quietUntil = 0
  #calledCritical = false

  /** Whether the browser can show messages at all. */
  readonly canMessage = 'Notification' in globalThis

  follow(): () => void {
    return fleet.onEvent((event) => this.#apply(event))
  }

  /** Switches the tone; switched on, it is heard once. */
  setSound(on: boolean): void {
    this.#keep({ sound: on })
    if (on) playTone('warning')
  }

  /** Switches messages; the browser asks for leave when it has not been given. */
  async setMessage(on: boolean): Promise<void> {
    if (on && Notification.permission !== 'granted' && (await Notification.requestPermission()) !== 'granted') {
      tell(t('alerts.messageRefused'), 'bad')
      return
    }
    this.#keep({ message: on })
  }

  #keep(change: Partial<Wishes>): void {
    Object.assign(this.wishes, change)
    try {
      localStorage.setItem(key, JSON.stringify(this.wishes))
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  }

  #apply({ type, at, data }: Event): void {
    if (type !== 'alert.created' || !('alertName' in data) || Date.now() - Date.parse(at) > newsFor) return
    const alert = data as unknown as Alert
    if (this.wishes.message) this.#message(alert)
    if (!this.wishes.sound) return
    // One tone for many that come together; but nothing silences what cannot wait.
    const isCritical = alert.severity === 'critical'
    if (performance.now() < this.#quietUntil && (!isCritical || this.#calledCritical)) return
    this.#quietUntil = performance.now() + quietFor
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
      // Some telephones show messages only for installed pages.
    }
  }
}

export const attention = new Attention()
