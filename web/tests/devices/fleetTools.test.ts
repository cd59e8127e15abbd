// Files of devices, changes of many devices, and what share links show from when on.
import { expect, test } from 'vitest'
import { changeOf } from '$lib/pages/devices/bulkChange'
import { parseCsv, readSheet, sampleCsv } from '$lib/pages/devices/csv'
import { addReport, fits } from '$lib/pages/devices/importDevices.svelte'
import { embedOf, sinceOf } from '$lib/shares/since'

test('CSV is read as spreadsheets write it', () => {
  expect(parseCsv('\ufeffname;imei\r\n"Van; ""7""";1\r\n\r\nBoat;\r\n')).toEqual([
    ['name', 'imei'],
    ['Van; "7"', '1'],
    ['Boat', '']
  ])
  expect(parseCsv('name\timei\n"two\nlines"\t2')).toEqual([
    ['name', 'imei'],
    ['two\nlines', '2']
  ])
})

test('a sheet says which lines cannot be used, and why', () => {
  const groups = new Map([['trawlers', 'grp_1']])
  const text = 'Nombre,IMEI,Grupos,Other\nA,1,Trawlers,x\n,2,,\nB,1,,\nC,3,Nobody,\n'
  const sheet = readSheet(text, groups)
  expect(sheet.ignored).toEqual(['Other'])
  expect(sheet.rows.map(({ line, complaint }) => [line, complaint])).toEqual([
    [2, null],
    [3, 'noName'],
    [4, 'twice'],
    [5, 'noGroup']
  ])
  expect(sheet.rows[0]?.input).toEqual({ name: 'A', identifier: '1', groups: ['grp_1'] })
  expect(readSheet(sampleCsv, groups).rows.every(({ complaint }) => complaint === null)).toBe(true)
  expect(readSheet('a,b\n1,2', groups).hasName).toBe(false)
})

test('columns of tags become labels', () => {
  const sheet = readSheet('name,tags.Colour,tag.home\nA,red,\nB,,Vigo\n', new Map())
  expect(sheet.ignored).toEqual([])
  expect(sheet.rows.map(({ input }) => input.tags)).toEqual([{ Colour: 'red' }, { home: 'Vigo' }])
})

test('the reports about parts of a file are added up', () => {
  const rows = readSheet('name\nA\nB\n', new Map()).rows
  const row = { line: null, id: null, identifier: null, name: 'A' }
  const report = (problems: string[]): Parameters<typeof addReport>[2] => ({
    dryRun: true,
    created: 0,
    new: 1,
    existing: 0,
    invalid: problems.length,
    licensesNeeded: 1,
    licensesFree: 2,
    rows: [
      { ...row, index: 0, outcome: 'new', problems: [] },
      { ...row, index: 1, outcome: problems.length > 0 ? 'invalid' : 'existing', problems }
    ]
  })
  const first = addReport(null, rows, report([]))
  expect(fits(first)).toBe(true)
  const both = addReport(first, rows, report(['too long']))
  expect(both).toMatchObject({ new: 2, needed: 2, free: 2 })
  expect(both.invalid.map(({ row, why }) => [row.line, why])).toEqual([[3, 'too long']])
  expect(fits(both)).toBe(false)
  expect(fits(addReport(addReport(first, rows, report([])), rows, report([])))).toBe(false)
})

test('a change of many devices names only what it changes', () => {
  const device = { groups: ['grp_2'] }
  expect(changeOf({ what: 'addGroup', value: 'grp_1' }, device)).toEqual({ groups: ['grp_1', 'grp_2'] })
  expect(changeOf({ what: 'addGroup', value: 'grp_2' }, device)).toBeNull()
  expect(changeOf({ what: 'removeGroup', value: 'grp_2' }, device)).toEqual({ groups: [] })
  expect(changeOf({ what: 'icon', value: '' }, device)).toEqual({ icon: null })
  expect(changeOf({ what: 'interval', value: 0.5 }, device)).toEqual({ expectedIntervalSeconds: 30 })
  expect(changeOf({ what: 'emailLimit', value: '' }, device)).toEqual({ limits: { dailyEmailLimit: null } })
})

test('a link shows positions from the chosen instant on', () => {
  expect(sinceOf('now', 100, 50, null)).toBeNull()
  expect(sinceOf('last', 100, 50, null)).toBe(50)
  expect(sinceOf('day', 86_400_000, null, null)).toBe(0)
  expect(sinceOf('custom', 100, 50, 7)).toBe(7)
})

test('embedded HTML holds any title', () => {
  expect(embedOf('https://x/shared/s', 'Live')).toContain('src="https://x/shared/s?embed"')
  expect(embedOf('https://x/shared/s', '"><script>')).toContain('title="&quot;&gt;&lt;script&gt;"')
})
