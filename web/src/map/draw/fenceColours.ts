// The colours of geofences: each has one of a few, by its ID, so that neighbours differ and keep their colours.

/** With enough contrast on the light and the dark map, and none of the colours of devices and alerts. */
const light = ['#5b46d6', '#0f766e', '#a21caf', '#1d4ed8', '#7c5a00', '#475569'] as const
const dark = ['#8b7cf6', '#2dd4bf', '#e879f9', '#60a5fa', '#eab308', '#94a3b8'] as const

export function fenceColour(id: string, isDark: boolean): string {
  let sum = 0
  for (const sign of id) sum = (sum * 31 + sign.charCodeAt(0)) >>> 0
  const colours = isDark ? dark : light
  return colours[sum % colours.length] ?? colours[0]
}
