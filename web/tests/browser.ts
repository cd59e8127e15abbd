// What modules of the console read from the browser as they are loaded, for unit tests, which have none.
const media = { matches: false, addEventListener: (): void => undefined }
const page = { baseURI: 'http://localhost/', documentElement: { dataset: {} }, addEventListener: (): void => undefined }

for (const [name, value] of Object.entries({
  navigator: { languages: ['en'] },
  document: page,
  matchMedia: (): typeof media => media,
  location: new URL(page.baseURI),
  addEventListener: (): void => undefined
})) {
  if (!(name in globalThis)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
}
