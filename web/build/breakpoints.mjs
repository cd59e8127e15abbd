// Replaces `@media (--phone)` by the width that src/ui/breakpoints.json gives for that name, in every component.
import { readFileSync } from 'node:fs'

const widths = JSON.parse(readFileSync(new URL('../src/ui/breakpoints.json', import.meta.url), 'utf8'))

/** A Svelte preprocessor. An unknown name is an error. */
export const breakpoints = () => ({
  name: 'breakpoints',
  style: ({ content, filename }) => ({
    code: content.replace(/@media \(--([\w-]+)\)/g, (_, name) => {
      if (!widths[name]) throw new Error(`${filename}: there is no breakpoint --${name}`)
      return `@media ${widths[name]}`
    })
  })
})
