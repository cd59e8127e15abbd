// Settings that were tested and are used for a new gateway.
import type { FeedName } from '$lib/gateways/feeds'

export const draft: { feed: FeedName | null; options: Record<string, unknown> | null } = $state({
  feed: null,
  options: null
})
