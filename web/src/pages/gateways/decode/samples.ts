// A sample template and a sample mapping.
export type Kind = 'template' | 'mapping'

const template = {
  endian: 'big',
  fields: [
    { field: 'time', offset: 0, width: 4 },
    { field: 'latitude', offset: 4, width: 4, signed: true, scale: 0.0000001 },
    { field: 'longitude', offset: 8, width: 4, signed: true, scale: 0.0000001 },
    { field: 'speed', offset: 12, width: 1, none: 255, optional: true }
  ]
}

const mapping = {
  identifiers: ['/device/id'],
  fields: { latitude: '/lat', longitude: '/lon', time: '/time', speed: { path: '/speed', unit: 'm/s' } }
}

export const samples: Record<Kind, string> = {
  template: JSON.stringify(template, null, 2),
  mapping: JSON.stringify(mapping, null, 2)
}
