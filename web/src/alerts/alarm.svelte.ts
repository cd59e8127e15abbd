// The alarm of critical alerts: a siren that repeats until every new one is acknowledged, ended or muted here.
import { criticalAlerts } from './critical.svelte'
import { soundSiren, whenAudible } from './sound'

const wishKey = 'perigee.alarm'
const mutedKey = 'perigee.alarm.muted'
/** Older alerts, in milliseconds, are shown but do not sound: an account with a forgotten one would sound for ever. */
const soundsFor = 24 * 3_600_000
/** How often the siren repeats, in milliseconds. */
const every = 4_000
/** The largest number of muted alerts that are stored. */
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
    // Without storage the choice lasts as long as the page.
  }
}

const storedWish = (): Wish => [null, 'on', 'off'].find((known) => known === read(wishKey)) as Wish
const storedMuted = (): string[] => (read(mutedKey) ?? '').split(' ').filter(Boolean)

class Alarm {
  /** What the user answered; null before they were asked, which is treated as `on`. */
  wish: Wish = $state(storedWish())
  /** The alerts that were muted in this browser, by id. */
  muted: string[] = $state.raw(storedMuted())
  /** Whether the browser refuses to play until somebody clicks. */
  blocked = $state(false)

  /** The alerts that sound now. */
  readonly sounding = $derived(
    this.wish === 'off'
      ? []
      : criticalAlerts.open.filter(
          ({ id, receivedAt }) => !this.muted.includes(id) && Date.now() - Date.parse(receivedAt) < soundsFor
        )
  )
  readonly isSounding = $derived(this.sounding.length > 0)

  /** Sounds and stops as alerts come and go. Call it while a component is created. */
  follow(): void {
    $effect(() => {
      if (!this.isSounding) return
      this.#sound()
      const timer = setInterval(() => this.#sound(), every)
      return () => clearInterval(timer)
    })
    // Another tab may have muted or answered.
    $effect(() => {
      const changed = (): void => {
        this.wish = storedWish()
        this.muted = storedMuted()
      }
      addEventListener('storage', changed)
      return () => removeEventListener('storage', changed)
    })
  }

  /** Stores the answer, and lets the browser play: call it from a click. */
  answer(wish: 'on' | 'off'): void {
    this.wish = wish
    write(wishKey, wish)
    if (wish === 'on') this.#sound()
  }

  /** Silences the alerts that sound now in this browser; the next one sounds again. */
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
