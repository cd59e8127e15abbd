// Segments in words, for labels, lists and buttons.
import { distance, duration, time } from '$lib/format/format'
import { locale, preferences } from '$lib/access/preferences.svelte'
import { t, tIfKnown } from '$lib/i18n/index.svelte'
import { secondsOf, type Segment } from '$lib/trips/segments'
import type { Range } from '$lib/ui/time/range'

/** What is most worth knowing of a segment: the distance of a trip, else how long it took. */
export const segmentFigure = (segment: Segment): string =>
  segment.kind === 'trip' ? distance(segment.distance * 1000) : duration(secondsOf(segment))

/** A segment as one sentence, for screen readers and tooltips. */
export function segmentLabel(segment: Segment): string {
  const { kind, start, end, idlingSeconds } = segment
  const parts = [
    segment.name ? `${t(`history.kind.${kind}`)} ${segment.name}` : t(`history.kind.${kind}`),
    `${time(segment.from)} – ${time(segment.to)}`,
    duration(secondsOf(segment)),
    kind === 'stop' ? null : distance(segment.distance * 1000),
    kind === 'stop' ? start.place : routeOf(start.place, end.place),
    idlingSeconds > 0 ? t('history.idlingFor', { time: duration(idlingSeconds) }) : null
  ]
  return parts.filter(Boolean).join(', ')
}

/** Both ends of a trip; one place only if both are the same. */
export function routeOf(start: string | null | undefined, end: string | null | undefined): string {
  if (!start || !end) return start ?? end ?? ''
  return start === end ? start : `${start} → ${end}`
}

const dayMs = 86_400_000

/** A clock time, with the date if the period is longer than a day. */
export function whenIn(span: Range, instant: string | number): string {
  if (span.to - span.from <= dayMs) return time(instant)
  const { timeZone } = preferences
  const zone = { timeZone: timeZone ?? undefined }
  const day = new Date(instant).toLocaleDateString(locale(), { day: 'numeric', month: 'short', ...zone })
  return `${day}, ${time(instant)}`
}

/** The purpose of a trip; own words are shown as they are. */
export const purposeText = (purpose: string): string => tIfKnown(`history.purpose.${purpose}`) ?? purpose
