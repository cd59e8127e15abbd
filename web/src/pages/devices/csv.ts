// Devices in a CSV file: read with any of the usual separators, checked before anything is sent.
import type { Schemas } from '$lib/api/client'

type DeviceInput = Schemas['DeviceInput']

/** The rows of a CSV file (RFC 4180). Spreadsheets also separate by semicolons or tabs: the first line decides. */
export function parseCsv(text: string): string[][] {
  const source = text.replace(/^\ufeff/, '')
  const head = source.slice(0, source.search(/[\r\n]|$/))
  const count = (sign: string): number => head.split(sign).length
  const separator = [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best))
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  for (let at = 0; at < source.length; at++) {
    const sign = source[at]!
    if (isQuoted) {
      if (sign === '"' && source[at + 1] === '"') field += source[at++]
      else if (sign === '"') isQuoted = false
      else field += sign
    } else if (sign === '"' && field.trim() === '') {
      isQuoted = true
      field = ''
    } else if (sign === separator) {
      row.push(field)
      field = ''
    } else if (sign === '\n' || sign === '\r') {
      if (sign === '\r' && source[at + 1] === '\n') at++
      rows.push([...row, field])
      row = []
      field = ''
    } else field += sign
  }
  if (field !== '' || row.length > 0) rows.push([...row, field])
  return rows.map((each) => each.map((value) => value.trim())).filter((each) => each.some((value) => value !== ''))
}

export const columns = ['name', 'identifier', 'description', 'model', 'icon', 'min', 'groups'] as const
export type Column = (typeof columns)[number]

/** Column names that are recognised. */
const names: Record<Column, string[]> = {
  name: ['name', 'nombre', 'device', 'dispositivo'],
  identifier: ['identifier', 'identificador', 'imei', 'esn', 'serial'],
  description: ['description', 'descripción', 'descripcion', 'notes', 'notas'],
  model: ['model', 'modelo'],
  icon: ['icon', 'icono'],
  min: ['phone', 'teléfono', 'telefono', 'min', 'sim'],
  groups: ['groups', 'grupos', 'group', 'grupo']
}

export type Complaint = 'noName' | 'noGroup' | 'twice'

export interface Row {
  /** The line in the file, counted from 1. */
  line: number
  input: DeviceInput
  complaint: Complaint | null
  /** The unknown group, else the identifier: a value for the message about the complaint. */
  what: string
}

export interface Sheet {
  /** Unknown columns of the file, which are ignored. */
  ignored: string[]
  hasName: boolean
  rows: Row[]
}

/** Reads the devices of a file. `groups` are the ids of groups by their names in lower case. */
export function readSheet(text: string, groups: ReadonlyMap<string, string>): Sheet {
  const [head = [], ...lines] = parseCsv(text)
  const found = head.map((title) => columns.find((column) => names[column].includes(title.toLocaleLowerCase())))
  const tagOf = (title: string): string => (/^tags?\.(.+)$/i.exec(title) ?? [])[1] ?? ''
  const ignored = head.filter((title, index) => found[index] === undefined && title !== '' && tagOf(title) === '')
  const seen = new Set<string>()
  const rows = lines.map((values, index): Row => {
    const of = (column: Column): string => values[found.indexOf(column)] ?? ''
    const wanted = of('groups')
      .split(/[;|]/)
      .map((name) => name.trim())
      .filter((name) => name !== '')
    const missing = wanted.find((name) => !groups.has(name.toLocaleLowerCase()))
    const identifier = of('identifier')
    const isTwice = identifier !== '' && seen.has(identifier)
    seen.add(identifier)
    const complaint = of('name') === '' ? 'noName' : isTwice ? 'twice' : missing ? 'noGroup' : null
    const ids = wanted.flatMap((name) => groups.get(name.toLocaleLowerCase()) ?? [])
    const input: DeviceInput = { name: of('name') }
    for (const column of ['identifier', 'description', 'model', 'icon', 'min'] as const) {
      if (of(column)) input[column] = of(column)
    }
    const tags = head.flatMap((title, at): [string, string][] => {
      const [key, value] = [tagOf(title), values[at] ?? '']
      return key && value ? [[key, value]] : []
    })
    if (tags.length > 0) input.tags = Object.fromEntries(tags)
    if (ids.length > 0) input.groups = [...new Set(ids)]
    return { line: index + 2, input, complaint, what: missing ?? identifier }
  })
  return { ignored, hasName: found.includes('name'), rows }
}

/** A sample file. */
export const sampleCsv =
  'name,identifier,model,icon,groups\nVan 7,356938035643809,FMB920,truck,\nSea Otter,300234063904190,,boat,\n'
