// Loads all pages of a list.

/** Maximum page size of the server. */
const pageSize = 1000

/** All items of a list; `ask` loads one page and returns the next cursor. */
export async function allPages<P extends { nextCursor?: string | null }, T>(
  ask: (query: { limit: number; cursor: string | undefined }) => Promise<P>,
  itemsOf: (page: P) => T[]
): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const page = await ask({ limit: pageSize, cursor })
    all.push(...itemsOf(page))
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return all
}
