// The API key of the signed-in user. A new key is held in memory while the page is open, and nowhere else.
import { api, ok, type Schemas } from '$lib/api/client'

class Key {
  about: Schemas['ApiKey'] | null = $state.raw(null)
  /** The key that was just created: it is shown only once. */
  fresh: string | null = $state(null)

  async load(): Promise<void> {
    this.about = await ok(api.GET('/api/account/apiKey'))
  }

  /** Activates the API, or replaces the key. */
  async make(): Promise<void> {
    const { apiKey } = await ok(api.POST('/api/account/apiKey'))
    this.fresh = apiKey
    await this.load()
  }

  async remove(): Promise<void> {
    await ok(api.DELETE('/api/account/apiKey'))
    this.fresh = null
    await this.load()
  }
}

export const key = new Key()
