// Examples hold what was filled in, however odd it is, and the chart sums what the server counts.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { example, languages, topics } from '$lib/pages/developer/examples'
import { outcome } from '$lib/pages/developer/webhooks/outcome'
import { columns } from '$lib/pages/developer/usage'

const filled = { base: 'https://track.example.com/p', email: `o'hara"$(id)@example.com`, key: 'pgk_1' }

test('every example names the server, the user and the key', () => {
  for (const language of languages) {
    for (const topic of topics) {
      const text = example(language, topic, filled)
      expect(text).toContain('https://track.example.com/p')
      expect(text).toContain('pgk_1')
    }
  }
})

test('a name with quotes stays one word of the shell', () => {
  const data = /-d ('.*') \|/.exec(example('curl', 'devices', filled))?.[1] ?? ''
  const printed = execFileSync('sh', ['-c', `printf %s ${data}`], { encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual({ userName: filled.email, apiKey: 'pgk_1' })
})

test('the examples in JavaScript can be read by a browser', () => {
  const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (code: string) => unknown
  for (const topic of topics) expect(() => new AsyncFunction(example('JavaScript', topic, filled))).not.toThrow()
})

test('calls are summed by the way in', () => {
  const usage = {
    unit: 'day' as const,
    times: ['2026-05-01T00:00:00Z', '2026-05-02T00:00:00Z'],
    series: [
      { userId: 'a', name: 'Ana', via: 'key' as const, total: 3, calls: [1, 2] },
      { userId: 'a', name: 'Ana', via: 'console' as const, total: 5, calls: [5, 0] },
      { userId: 'b', name: null, via: 'key' as const, total: 4, calls: [0, 4] }
    ]
  }
  expect(columns(usage)).toEqual({ times: [1777593600, 1777680000], key: [1, 6], all: [6, 6] })
})

test('the outcome of a delivery is shown', () => {
  const say = (key: string, values = {}) => `${key} ${JSON.stringify(values)}`
  expect(outcome(say, { state: 'delivered', attempts: 1, lastStatus: 204 })).toContain('204')
  expect(outcome(say, { state: 'waiting', attempts: 1, lastStatus: 500 })).toContain('answered {"status":500}')
  expect(outcome(say, { state: 'failed', attempts: 9, lastError: 'timed out' })).toContain('timed out')
  expect(outcome(say, { state: 'waiting', attempts: 0 })).toContain('notYet')
})
