// Coordinates as text: decimal degrees, and degrees with minutes as charts and rescue services write them.

const degreeDecimals = 5
/** Thousandths of a minute are about two metres. */
const minuteDecimals = 3

export const decimalDegrees = (latitude: number, longitude: number): string =>
  `${latitude.toFixed(degreeDecimals)}, ${longitude.toFixed(degreeDecimals)}`

/** 42° 14.436′ N, 008° 43.243′ W. */
export const degreesMinutes = (latitude: number, longitude: number): string =>
  `${part(latitude, 2, 'N', 'S')}, ${part(longitude, 3, 'E', 'W')}`

function part(value: number, width: number, positive: string, negative: string): string {
  // Rounded before it is split, so that 59.9999 minutes become the next degree.
  const scale = 10 ** minuteDecimals
  const thousandths = Math.round(Math.abs(value) * 60 * scale)
  const degrees = Math.floor(thousandths / (60 * scale))
  const minutes = (thousandths - degrees * 60 * scale) / scale
  const [whole, fraction] = minutes.toFixed(minuteDecimals).split('.')
  const side = value < 0 ? negative : positive
  return `${String(degrees).padStart(width, '0')}° ${whole?.padStart(2, '0')}.${fraction}′ ${side}`
}

/** Links that show a position: `geo:` opens the map application of a phone, the others work in any browser. */
export function mapLinks(latitude: number, longitude: number): { name: string; href: string }[] {
  const [lat, lon] = [latitude.toFixed(6), longitude.toFixed(6)]
  return [
    { name: 'OpenStreetMap', href: `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lon}#map=12/${lat}/${lon}` },
    { name: 'Google Maps', href: `https://www.google.com/maps/search/?api=1&query=${lat}%2C${lon}` },
    { name: 'geo:', href: `geo:${lat},${lon}` }
  ]
}
