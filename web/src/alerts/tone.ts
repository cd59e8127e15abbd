// The tone of an alert, made on the spot: one soft note, or three high ones when it cannot wait.
import type { Severity } from './wording'

let context: AudioContext | undefined

const notes: Record<Severity, number[]> = { info: [523], warning: [659, 523], critical: [988, 988, 988] }
const length = 0.22

/** Later than this, in milliseconds, a tone is no call any more. */
const latest = 1_000

export function playTone(severity: Severity): void {
  const sounding = (context ??= new AudioContext())
  const asked = performance.now()
  // Browsers keep a page silent until somebody touches it; what was to be heard before that is left out then.
  void sounding.resume().then(() => {
    if (performance.now() - asked > latest) return
    const start = sounding.currentTime + 0.02
    for (const [index, frequency] of notes[severity].entries()) note(sounding, frequency, start + index * length)
  })
}

function note(context: AudioContext, frequency: number, at: number): void {
  const source = new OscillatorNode(context, { type: 'sine', frequency })
  const volume = new GainNode(context, { gain: 0 })
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(0.25, at + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.001, at + length)
  source.connect(volume).connect(context.destination)
  source.start(at)
  source.stop(at + length)
}
