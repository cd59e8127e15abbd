// Sorting of names in every list.

const collator = new Intl.Collator(undefined, { numeric: true })

/** Orders by name as people do: Truck 2 before Truck 10. */
export const byName = (a: { name: string }, b: { name: string }): number => collator.compare(a.name, b.name)
