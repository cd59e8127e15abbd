// The sounds of alerts, synthesised: one to three notes by severity, and the siren of critical alerts.
import type { Severity } from './names'

let context: AudioContext | undefined

const notes: Record<Severity, number[]> = { info: [523], warning: [659, 523], critical: [988, 988, 988] }
const toneSeconds = 0.22
/** Rises and falls like a siren; in hertz. */
const siren = [784, 988, 784, 988, 784, 988]

/** Sounds that would be played later than this, in milliseconds, are dropped. */
const latestMs = 1_000

export function playTone(severity: Severity): void {
  const sounding = (context ??= new AudioContext())
  const asked = performance.now()
  // Browsers block sound until the first interaction; earlier tones are dropped.
  void sounding.resume().then(() => {
    if (performance.now() - asked > latestMs) return
    play(sounding, notes[severity], 0.25)
  })
}

/** Plays the siren once, loudly. False if the browser blocks it: try again after a click. */
export function soundSiren(): boolean {
  const sounding = (context ??= new AudioContext())
  if (sounding.state === 'running') {
    play(sounding, siren, 0.6)
    return true
  }
  const asked = performance.now()
  void sounding.resume().then(() => {
    if (performance.now() - asked < latestMs) play(sounding, siren, 0.6)
  })
  return navigator.userActivation.hasBeenActive
}

/** Calls back once the browser plays sound. */
export function whenAudible(then: () => void): void {
  void context?.resume().then(then)
}

function play(context: AudioContext, frequencies: number[], loudness: number): void {
  const start = context.currentTime + 0.02
  for (const [index, frequency] of frequencies.entries())
    note(context, frequency, start + index * toneSeconds, loudness)
}

function note(context: AudioContext, frequency: number, at: number, loudness: number): void {
  const source = new OscillatorNode(context, { type: 'sine', frequency })
  const volume = new GainNode(context, { gain: 0 })
  volume.gain.setValueAtTime(0, at)
  volume.gain.linearRampToValueAtTime(loudness, at + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.001, at + toneSeconds)
  source.connect(volume).connect(context.destination)
  source.start(at)
  source.stop(at + toneSeconds)
}
