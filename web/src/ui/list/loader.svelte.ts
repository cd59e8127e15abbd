// Data that is loaded from the server whenever its key changes: a URL, a filter, a typed text.
import { untrack } from 'svelte'
import { reason } from '$lib/ui/feedback/toast.svelte'

/**
 * Calls `run` with the value of `key`, now and after each change. With a `delay` in milliseconds it waits until
 * the key has not changed for that long, so that not every typed letter is a request. Call it while a component is
 * created.
 */
export function onChange<K>(key: () => K, run: (key: K) => unknown, delay: (key: K) => number = () => 0): void {
  $effect(() => {
    const wanted = key()
    const wait = untrack(() => delay(wanted))
    if (wait === 0) {
      untrack(() => void run(wanted))
      return
    }
    const timer = setTimeout(() => void run(wanted), wait)
    return () => clearTimeout(timer)
  })
}

interface Options<K> {
  /** Delay after the last change of the key, in milliseconds. */
  delay?: (key: K) => number
  /** Keeps showing the previous value until the new one is loaded. */
  keeps?: boolean
}

/** The value of the current key. An answer that a newer request has superseded is dropped. */
export class Loader<K, T> {
  value: T | undefined = $state.raw()
  problem: string | null = $state(null)
  #latest = 0

  /** An undefined key loads nothing. Create a loader while a component is created. */
  constructor(
    private readonly key: () => K | undefined,
    private readonly load: (key: K) => Promise<T>,
    { delay, keeps = false }: Options<K> = {}
  ) {
    onChange(
      key,
      (wanted) => {
        if (!keeps) this.value = undefined
        void this.#run(wanted)
      },
      (wanted) => (wanted === undefined ? 0 : (delay?.(wanted) ?? 0))
    )
  }

  /** Loads the same key again; the shown value stays meanwhile. */
  reload(): Promise<void> {
    return this.#run(untrack(this.key))
  }

  async #run(wanted: K | undefined): Promise<void> {
    const call = ++this.#latest
    this.problem = null
    if (wanted === undefined) return
    try {
      const value = await this.load(wanted)
      if (call === this.#latest) this.value = value
    } catch (error) {
      if (call === this.#latest) this.problem = reason(error)
    }
  }
}
