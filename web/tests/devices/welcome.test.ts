// Commands that people paste into a shell, and the first steps of a test device.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlFor, identifierFor, quoted, samplePosition, seedOf, simulatorFor, walk } from '$lib/pages/welcome/samples'

test('a quoted text is one word, whatever it holds', () => {
  for (const text of [`it's`, '$(id)', 'a b', '`x`', '"', '\\']) {
    expect(execFileSync('sh', ['-c', `printf %s ${quoted(text)}`], { encoding: 'utf8' })).toBe(text)
  }
})

test('the curl lines are a script that sends JSON', () => {
  const script = curlFor({ server: 'http://localhost:1', email: `o'hara@example.com`, device: 'dev_1' })
  // A curl that only prints what it would send.
  const fake = 'curl() { while [ $# -gt 0 ]; do [ "$1" = -d ] && printf "%s\\n" "$2"; shift; done; }\n'
  const out = execFileSync('sh', ['-c', `${fake}${script.replace('TOKEN=$(', '(')}`], { encoding: 'utf8' })
  const [who, where] = out.trim().split('\n')
  expect(JSON.parse(who ?? '')).toEqual({ userName: `o'hara@example.com`, apiKey: 'YOUR_API_KEY' })
  expect(JSON.parse(where ?? '')).toMatchObject(samplePosition)
})

test('the simulator is started for the very device', () => {
  expect(seedOf(identifierFor(42))).toBe(42)
  expect(seedOf('300234010753370')).toBeNull()
  expect(simulatorFor({ server: 'http://x', email: 'a@b', device: 'dev_1' }, 42)).toContain('--seed 42')
})

test('a walk begins where it is and goes on in even steps', () => {
  expect(walk(samplePosition, 0)).toMatchObject(samplePosition)
  const [a, b] = [walk(samplePosition, 3), walk(samplePosition, 4)]
  const metres =
    Math.hypot(a.latitude - b.latitude, (a.longitude - b.longitude) * Math.cos((a.latitude * Math.PI) / 180)) * 111_320
  expect(metres).toBeCloseTo(60, 0)
})
