// Formats a decoded report as a list of fields.

/** Members of a report that are shown first, in this order. */
const first = ['dateTime', 'latitude', 'longitude', 'speed', 'course', 'altitude', 'accuracy', 'alerts']

/** All fields of a report in display order; attributes come last, under their own names. */
export function fieldsOfReport(report: Record<string, unknown>): { name: string; value: string }[] {
  const { attributes, ...rest } = report
  const others = Object.keys(rest).filter((name) => name !== 'located' && !first.includes(name))
  const names = [...first.filter((name) => name in rest), ...others]
  const own = names.map((name) => ({ name, value: shown(rest[name]) }))
  const kept =
    typeof attributes === 'object' && attributes !== null
      ? Object.entries(attributes).map(([name, value]) => ({ name, value: shown(value) }))
      : []
  return [...own, ...kept]
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? value.map(shown).join(', ') : JSON.stringify(value)
