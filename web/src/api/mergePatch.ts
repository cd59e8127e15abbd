// The difference between two versions of a resource: a JSON Merge Patch (RFC 7396).

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)

/** Only the members that differ; one that was removed is null. */
export function changes<T extends object>(before: object, after: T): Partial<T> {
  const patch: Record<string, unknown> = {}
  const old = before as Record<string, unknown>
  const now = after as Record<string, unknown>
  for (const [key, value] of Object.entries(now)) {
    const was = old[key]
    if (same(was, value)) continue
    patch[key] = isObject(was) && isObject(value) ? within(was, value) : (value ?? null)
  }
  return patch as Partial<T>
}

/** Inside an object, a removed member must be listed as null. */
function within(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const gone = Object.keys(before).filter((key) => !(key in after))
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...changes(before, after) }
}
