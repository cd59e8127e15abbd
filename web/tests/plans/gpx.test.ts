// Files of GPX become lines of waypoints; files that are no GPX, or too large, are refused with the reason.
import { expect, test } from 'vitest'
import { GpxError, readGpx, thinned, type GpxFault, type GpxPoint } from '$lib/pages/plans/edit/gpx'

const gpx = (inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">${inner}</gpx>`
const fault = (text: string): GpxFault | null => {
  try {
    readGpx(text)
    return null
  } catch (error) {
    if (error instanceof GpxError) return error.fault
    throw error
  }
}

test('a route has its points with names and times', () => {
  const [line, ...others] = readGpx(
    gpx(`<metadata><name>File</name></metadata><rte><name>Vigo &amp; Azores</name>
      <rtept lat="42.24" lon="-8.72"><ele>3</ele><name>Vigo</name><time>2026-06-01T08:00:00Z</time></rtept>
      <rtept lon='-25.66' lat='37.74'><name><![CDATA[Ponta <Delgada>]]></name></rtept></rte>`)
  )
  expect(others).toEqual([])
  expect(line).toEqual({
    kind: 'route',
    name: 'Vigo & Azores',
    points: [
      { latitude: 42.24, longitude: -8.72, name: 'Vigo', time: '2026-06-01T08:00:00.000Z' },
      { latitude: 37.74, longitude: -25.66, name: 'Ponta <Delgada>', time: null }
    ]
  })
})

test('routes come before tracks, and waypoints of the file last; prefixes, comments and extensions do not matter', () => {
  const text = gpx(`<!-- <rte><rtept lat="1" lon="1"/></rte> --><wpt lat="1" lon="2"><name>Buoy</name></wpt>
    <g:trk><g:trkseg><g:trkpt lat="3" lon="4"/><g:trkpt lat="5" lon="6"><g:extensions><x:name>no</x:name></g:extensions></g:trkpt>
    </g:trkseg><g:trkseg><g:trkpt lat="7" lon="8"/></g:trkseg></g:trk><rte><rtept lat="9" lon="10"/></rte>`)
  const lines = readGpx(text)
  expect(lines.map(({ kind, points }) => [kind, points.length])).toEqual([
    ['route', 1],
    ['track', 3],
    ['waypoints', 1]
  ])
  expect(lines[1]?.points.map(({ name }) => name)).toEqual([null, null, null])
  expect(lines[2]?.points[0]?.name).toBe('Buoy')
})

test('a file that is no GPX, or damaged, is refused with the reason', () => {
  expect(fault('')).toBe('notGpx')
  expect(fault('latitude,longitude\n1,2')).toBe('notGpx')
  expect(fault('<kml><Placemark/></kml>')).toBe('notGpx')
  expect(fault(gpx(''))).toBe('empty')
  expect(fault(gpx('<rte><name>Nothing</name></rte>'))).toBe('empty')
  expect(fault(gpx('<wpt lat="1" lon="2"/>').replace('</gpx>', ''))).toBe('unreadable')
  expect(fault(gpx('<rte><rtept lat="1" lon="2"></rte>'))).toBe('unreadable')
  expect(fault(gpx('<rte><rtept lat="1" lon="2'))).toBe('unreadable')
  expect(fault(gpx('<!-- never ends'))).toBe('unreadable')
  for (const position of ['lat="91" lon="0"', 'lat="0" lon="181"', 'lat="0"', 'lat="" lon="0"', 'lat="x" lon="0"']) {
    expect(fault(gpx(`<wpt ${position}/>`)), position).toBe('badPosition')
  }
})

test('a file cannot define entities, nest without end, or have points without number', () => {
  expect(fault('<!DOCTYPE gpx [<!ENTITY a "b">]><gpx><wpt lat="1" lon="1"/></gpx>')).toBe('unreadable')
  expect(fault(gpx('<a>'.repeat(1_000)))).toBe('unreadable')
  expect(fault(gpx(`<wpt lat="1" lon="1" note="${'x'.repeat(5_000)}"/>`))).toBe('unreadable')
  expect(fault(gpx('<wpt lat="1" lon="1"/>'.repeat(200_001)))).toBe('tooManyPoints')
  const [line] = readGpx(gpx(`<wpt lat="1" lon="1"><name>${'n'.repeat(900)}&lol;\u0007</name></wpt>`))
  expect(line?.points[0]?.name).toHaveLength(200)
})

test('a long track keeps its ends, its corners and named points', () => {
  const point = (latitude: number, longitude: number, name: string | null = null): GpxPoint => ({
    latitude,
    longitude,
    name,
    time: null
  })
  const east = Array.from({ length: 500 }, (_, step) => point(40, step / 10_000))
  const north = Array.from({ length: 500 }, (_, step) =>
    point(40 + step / 10_000, 0.0499, step === 250 ? 'Halfway' : null)
  )
  const kept = thinned([...east, ...north], 10)
  expect(kept.length).toBeLessThanOrEqual(10)
  expect([kept[0], kept.at(-1)]).toEqual([east[0], north.at(-1)])
  expect(kept.some(({ name }) => name === 'Halfway')).toBe(true)
  expect(kept.some(({ latitude, longitude }) => latitude < 40.001 && longitude > 0.049)).toBe(true)
  expect(thinned(east, 500)).toBe(east)
  const zigzag = Array.from({ length: 1_000 }, (_, step) => point(step % 2 === 0 ? 80 : -80, step / 10))
  expect(thinned(zigzag, 10)).toHaveLength(10)
})
