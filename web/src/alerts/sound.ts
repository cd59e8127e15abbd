// The sound of an alert, synthesised: one soft note, or three high ones for a critical alert.
import type { Severity } from './names'

let context: AudioContext | undefined

const notes: Record<Severity, number[]> = { info: [523], warning: [659, 523], critical: [988, 988, 988] }
const length = 0.22

/** A sound that would be played later than this, in milliseconds, is dropped. */
const latest = 1_000

export function playTone(severity: Severity): void {
  const sounding = (context ??= new AudioContext())
  const asked = performance.now()
  // Browsers block sound until the first interaction; earlier tones are dropped.
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
