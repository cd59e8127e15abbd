// The sounds of alerts, synthesised: one soft note, or two; the siren of critical alerts.
import type { Severity } from './names'

let context: AudioContext | undefined

const notes: Record<Severity, number[]> = { info: [523], warning: [659, 523], critical: [988, 988, 988] }
const length = 0.22
/** Rises and falls like a siren; in hertz. */
const siren = [784, 988, 784, 988, 784, 988]

/** A sound that would be played later than this, in milliseconds, is dropped. */
const latest = 1_000

export function playTone(severity: Severity): void {
  const sounding = (context ??= new AudioContext())
  const asked = performance.now()
  // Browsers block sound until the first interaction; earlier tones are dropped.
  void sounding.resume().then(() => {
    if (performance.now() - asked > latest) return
    play(sounding, notes[severity], 0.25)
  })
}

/** Plays the siren once, loud. False when the browser blocks it: it must then be tried again after a click. */
export function soundSiren(): boolean {
  const sounding = (context ??= new AudioContext())
  if (sounding.state === 'running') {
    play(sounding, siren, 0.6)
    return true
  }
  const asked = performance.now()
  void sounding.resume().then(() => {
    if (performance.now() - asked < latest) play(sounding, siren, 0.6)
  })
  return navigator.userActivation.hasBeenActive
}

/** Calls back once the browser plays sound. */
export function whenAudible(then: () => void): void {
  void context?.resume().then(then)
}

function play(context: AudioContext, frequencies: number[], loudness: number): void {
  const start = context.currentTime + 0.02
  for (const [index, frequency] of frequencies.entries()) note(context, frequency, start + index * length, loudness)
}

function note(context: AudioContext, frequency: number, at: number, loudness: number): void {
  const source = new OscillatorNode(context, { type: 'sine', frequency })
  const volume = new GainNode(context, { gain: 0 })
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(loudness, at + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.001, at + length)
  source.connect(volume).connect(context.destination)
  source.start(at)
  source.stop(at + length)
}
