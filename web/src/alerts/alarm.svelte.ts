// The alarm of critical alerts: a siren that repeats until every new one is acknowledged, ended or muted here.
import { criticalAlerts } from './critical.svelte'
import { soundSiren, whenAudible } from './sound'

const wishKey = 'perigee.alarm'
const mutedKey = 'perigee.alarm.muted'
/** Older alerts, in milliseconds, are shown but do not sound, so that a forgotten alert does not sound for ever. */
const soundsForMs = 24 * 3_600_000
/** Interval at which the siren repeats, in milliseconds. */
const repeatMs = 4_000
/** Maximum number of muted alerts that are stored. */
const mostMuted = 200

type Wish = 'on' | 'off' | null

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

const storedWish = (): Wish => [null, 'on', 'off'].find((known) => known === read(wishKey)) as Wish
const storedMuted = (): string[] => (read(mutedKey) ?? '').split(' ').filter(Boolean)

class Alarm {
  /** The choice of the user; null before they were asked, which is treated as `on`. */
  wish: Wish = $state(storedWish())
  /** The alerts that were muted in this browser, by id. */
  muted: string[] = $state.raw(storedMuted())
  /** Whether the browser blocks sound until the user clicks. */
  blocked = $state(false)

  /** The alerts that sound now. */
  readonly sounding = $derived(
    this.wish === 'off'
      ? []
      : criticalAlerts.open.filter(
          ({ id, receivedAt }) => !this.muted.includes(id) && Date.now() - Date.parse(receivedAt) < soundsForMs
        )
  )
  readonly isSounding = $derived(this.sounding.length > 0)

  /** Starts and stops the siren as alerts come and go. Call it while a component is created. */
  follow(): void {
    $effect(() => {
      if (!this.isSounding) return
      this.#sound()
      const timer = setInterval(() => this.#sound(), repeatMs)
      return () => clearInterval(timer)
    })
    // Another tab may have muted an alert or changed the choice.
    $effect(() => {
      const changed = (): void => {
        this.wish = storedWish()
        this.muted = storedMuted()
      }
      addEventListener('storage', changed)
      return () => removeEventListener('storage', changed)
    })
  }

  /** Stores the choice, and lets the browser play sound: call it from a click. */
  answer(wish: 'on' | 'off'): void {
    this.wish = wish
    write(wishKey, wish)
    if (wish === 'on') this.#sound()
  }

  /** Mutes the current alerts in this browser; the next alert sounds again. */
  mute(): void {
    this.muted = [...this.muted, ...this.sounding.map(({ id }) => id)].slice(-mostMuted)
    write(mutedKey, this.muted.join(' '))
  }

  #sound(): void {
    this.blocked = !soundSiren()
    if (this.blocked) whenAudible(() => (this.blocked = false))
  }
}

export const alarm = new Alarm()
