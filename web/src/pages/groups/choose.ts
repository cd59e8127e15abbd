// Finding and ordering devices where one or some are chosen.

interface Named {
  name: string
  identifier?: string | null
}

const order = new Intl.Collator(undefined, { numeric: true })

export const byName = (a: { device: Named }, b: { device: Named }): number =>
  order.compare(a.device.name, b.device.name)

/** Whether every word of a search is in the name or identifier. */
export function matches({ name, identifier }: Named, search: string): boolean {
  const text = `${name} ${identifier ?? ''}`.toLocaleLowerCase()
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
