// The drawings of devices: filled paths in a square of 24, and the words that select one.
export const deviceIcons = {
  boat: 'M11 3h2v3.2l5.5 2.3V13l1.8.9-2.1 5.3c-1.2.1-1.9-.3-3.1-1.2-1.3 1-2 1.3-3.1 1.3s-1.8-.3-3.1-1.3c-1.2.9-1.9 1.3-3.1 1.2L3.7 13.9l1.8-.9V8.5L11 6.2zM7.5 9.9v2.3L12 10.2l4.5 2V9.9L12 8z',
  sail: 'M12.5 2.5c3.5 3.3 5.7 7.3 6.5 12h-6.5zM11 5v9.5H5.2C6.3 10.5 8.2 7.3 11 5zM3.5 16h17l-2.3 4.2c-.3.5-.7.8-1.3.8H7.1c-.6 0-1-.3-1.3-.8z',
  truck:
    'M2 5.5h12v10.7h-3.6a2.8 2.8 0 0 0-5.3 0H2zM15.5 8.5h3.6L22 12.2v4h-1.2a2.8 2.8 0 0 0-5.3 0zM7.7 19a2 2 0 1 1 0-4 2 2 0 0 1 0 4zM18.1 19a2 2 0 1 1 0-4 2 2 0 0 1 0 4z',
  car: 'M5.2 10.5 6.8 6c.3-.8.9-1.2 1.7-1.2h7c.8 0 1.4.4 1.7 1.2l1.6 4.5c1 .3 1.7 1.2 1.7 2.2V19h-2.7v-1.8H6.2V19H3.5v-6.3c0-1 .7-1.9 1.7-2.2zM7.4 10.2h9.2l-1.2-3.3H8.6zM7 14.9a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6zM17 14.9a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6z',
  van: 'M2.5 6h11.3c.8 0 1.5.3 2 .9l4.5 5.4c.4.5.7 1.1.7 1.8v2.7h-1.7a2.7 2.7 0 0 0-5 0H9.2a2.7 2.7 0 0 0-5 0H2.5zM14 8v4h4l-3.3-4zM6.7 19.5a1.9 1.9 0 1 1 0-3.8 1.9 1.9 0 0 1 0 3.8zM16.8 19.5a1.9 1.9 0 1 1 0-3.8 1.9 1.9 0 0 1 0 3.8z',
  bus: 'M5 3h14c1 0 1.8.8 1.8 1.8V18h-1.6v2.5h-2.7V18h-9v2.5H4.8V18H3.2V4.8C3.2 3.8 4 3 5 3zM5.4 5.5v6h13.2v-6zM7 16.3a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6zM17 16.3a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6z',
  motorcycle:
    'M13.5 5h3.2l1.9 5.5a4.2 4.2 0 1 1-1.9.7l-.5-1.4-3.2 4.7H10a4.2 4.2 0 1 1-2.3-3.3L9.4 9H6V7h6.5l2 1.3.7-1-.5-.8h-1.2zM6 17.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM18.2 17.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4z',
  person:
    'M12 2.5a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM9.3 9h5.4c1.3 0 2.3 1 2.3 2.3v5h-2.2v5.2H9.2v-5.2H7v-5C7 10 8 9 9.3 9z',
  plane:
    'M12 2c1 0 1.6 1.3 1.6 3.2v3.7L21.5 14v2.2l-7.9-2.5v4.2l2.4 1.9V21.5L12 20.4l-4 1.1v-1.7l2.4-1.9v-4.2L2.5 16.2V14l7.9-5.1V5.2C10.4 3.3 11 2 12 2z',
  helicopter:
    'M3 4h16v1.7h-7V8h2.2c3.3 0 5.8 2.5 5.8 5.3 0 1.5-1 2.5-2.5 2.5h-7.3L7 11.7H3.5L2 8.3h1.6L5 10h5.2V5.7H3zM14 9.8v3.4h4c-.2-2-1.8-3.4-4-3.4zM8 19h11c.8 0 1.3-.4 1.6-1.1l1.3.6c-.5 1.3-1.5 2-2.9 2H8z',
  train:
    'M7 3h10c1.7 0 3 1.3 3 3v9c0 1.5-1 2.7-2.4 3l2 2.5h-2.5L15.2 18H8.8l-1.9 2.5H4.4l2-2.5C5 17.7 4 16.5 4 15V6c0-1.7 1.3-3 3-3zM6.5 6v5h11V6zM8 15.8a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6zM16 15.8a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6z',
  container: 'M2.5 6h19v12h-19zM5 8.5v7h1.7v-7zM9 8.5v7h1.7v-7zM13.3 8.5v7H15v-7zM17.3 8.5v7H19v-7z',
  buoy: 'M11.2 2h1.6v2.7l3.4 9H7.8l3.4-9zM4.5 15.2h15c0 3.8-3.3 6.3-7.5 6.3s-7.5-2.5-7.5-6.3z',
  animal:
    'M7 4.5c1.1 0 1.9 1.1 1.9 2.4S8.1 9.3 7 9.3 5.1 8.2 5.1 6.9 5.9 4.5 7 4.5zM17 4.5c1.1 0 1.9 1.1 1.9 2.4S18.1 9.3 17 9.3s-1.9-1.1-1.9-2.4.8-2.4 1.9-2.4zM3.7 10.3c1 0 1.8 1 1.8 2.2s-.8 2.2-1.8 2.2-1.8-1-1.8-2.2.8-2.2 1.8-2.2zM20.3 10.3c1 0 1.8 1 1.8 2.2s-.8 2.2-1.8 2.2-1.8-1-1.8-2.2.8-2.2 1.8-2.2zM12 10.5c3 0 6 4.2 6 6.8 0 1.7-1.1 2.7-2.6 2.7-1.3 0-2.1-.7-3.4-.7s-2.1.7-3.4.7C7.1 20 6 19 6 17.3c0-2.6 3-6.8 6-6.8z',
  machine:
    'M3 13h7V7h5l3 6h2.5v4.5h-1a3 3 0 0 0-6 0h-3a3.5 3.5 0 0 0-7 .3L2 17zM12 9v4h3.6l-2-4zM7 20.5a2.5 2.5 0 1 1 0-5 2.5 2.5 0 0 1 0 5zM16.5 20a2 2 0 1 1 0-4 2 2 0 0 1 0 4zM5 5h2v8H5z',
  tent: 'M12 4l10 16h-6.5L12 13.5 8.5 20H2z',
  house: 'M12 3.5 22 12h-2.7v8.5h-5v-6H9.7v6h-5V12H2z'
} as const

export type DeviceIcon = keyof typeof deviceIcons

/** Other words for the same drawings, in lower case: the API accepts any word as the icon of a device. */
const words: Record<DeviceIcon, string[]> = {
  boat: ['ship', 'vessel', 'fishing', 'ferry', 'yacht', 'tug', 'barco', 'buque', 'pesquero', 'embarcación', 'lancha'],
  sail: ['sailboat', 'sailing', 'velero'],
  truck: ['lorry', 'trailer', 'camión', 'camion', 'remolque'],
  car: ['vehicle', 'auto', 'taxi', 'coche', 'vehículo', 'turismo'],
  van: ['delivery', 'furgoneta'],
  bus: ['coach', 'autobús', 'autocar'],
  motorcycle: ['motorbike', 'bike', 'bicycle', 'scooter', 'moto', 'bicicleta', 'quad', 'snowmobile'],
  person: ['hiker', 'walker', 'worker', 'man', 'woman', 'people', 'persona', 'senderista'],
  plane: ['aircraft', 'airplane', 'aeroplane', 'drone', 'avión', 'avion', 'glider'],
  helicopter: ['helicóptero', 'helicoptero'],
  train: ['railway', 'locomotive', 'wagon', 'tren'],
  container: ['box', 'cargo', 'asset', 'contenedor'],
  buoy: ['float', 'boya'],
  animal: ['dog', 'cow', 'horse', 'sheep', 'wildlife', 'perro', 'vaca', 'caballo'],
  machine: ['tractor', 'excavator', 'digger', 'loader', 'máquina', 'excavadora'],
  tent: ['camp', 'expedition', 'campamento', 'expedición'],
  house: ['home', 'building', 'base', 'station', 'casa', 'edificio']
}

const known = new Map<string, DeviceIcon>(
  (Object.entries(words) as [DeviceIcon, string[]][]).flatMap(([icon, others]) =>
    [icon, ...others].map((word): [string, DeviceIcon] => [word, icon])
  )
)

/** The drawing that a word selects; null for an unknown word or none. */
export function iconOf(word: string | null | undefined): DeviceIcon | null {
  return known.get(word?.trim().toLocaleLowerCase() ?? '') ?? null
}

const hex = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i
const named = new Set(
  'red green blue yellow orange purple pink brown black white gray grey cyan magenta navy teal olive maroon lime gold'.split(
    ' '
  )
)

/** The colour that the tags of a device name as `colour` or `color`; null for none or one that is not a colour. */
export function colourOf(tags: Record<string, string>): string | null {
  const wanted = (tags.colour ?? tags.color ?? '').trim().toLowerCase()
  return hex.test(wanted) || named.has(wanted) ? wanted : null
}
