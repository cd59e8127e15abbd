// Rules of the linter. The layout of the code is checked by Prettier (.prettierrc.json).
import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import { readdirSync } from 'node:fs'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

/** The folders of src from the lowest to the highest: each imports only what stands in a line above its own. */
const layers = [
  ['api'],
  ['access', 'router.svelte'],
  ['i18n'],
  ['format'],
  ['live'],
  ['ui'],
  ['map'],
  ['alerts', 'commands', 'gateways', 'maintenance', 'plans', 'shares', 'trips'],
  ['notifications'],
  ['devices']
]
const unplaced = readdirSync(new URL('src', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'pages' && !layers.flat().includes(entry.name))
  .map(({ name }) => name)
if (unplaced.length > 0) throw new Error(`folders of src without a layer: ${unplaced.join(', ')}`)

const noImports = (patterns) => ({ 'no-restricted-imports': ['error', { patterns }] })
const noClimbing = { regex: '^\\.\\.', message: 'Write $lib/ instead of a path that climbs.' }

/** Which folder imports which. Pages see all of these and no other page; only the root component sees pages. */
const arrows = [
  ...layers.flatMap((folders, index) =>
    folders.map((folder) => {
      const seen = [...layers.slice(0, index).flat(), folder].join('|').replaceAll('.', '\\.')
      const message = `${folder} imports only folders below its own: see the layers in eslint.config.mjs.`
      return {
        files: [`src/${folder}/**`, `src/${folder}.ts`],
        rules: noImports([noClimbing, { regex: `^\\$lib/(?!(?:${seen})(?:/|$))`, message }])
      }
    })
  ),
  ...readdirSync(new URL('src/pages', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({
      files: [`src/pages/${name}/**`],
      rules: noImports([
        noClimbing,
        {
          regex: `^\\$lib/pages/(?!${name}/)`,
          message: 'A page imports no other page: move what they share to a folder.'
        }
      ])
    })),
  {
    files: ['tests/**'],
    rules: noImports([{ regex: '^(\\.\\./)+src/', message: 'Write $lib/ instead of a path to src.' }])
  }
]

export default ts.config(
  { ignores: ['public/', 'src/api/schema.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...ts.configs.stylistic,
  ...svelte.configs.recommended,
  prettier,
  ...svelte.configs.prettier,
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  { files: ['src/**', 'tests/**'], languageOptions: { globals: globals.browser } },
  { files: ['build/**', '*.mjs', '*.js'], languageOptions: { globals: globals.node } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } }
  },
  {
    rules: {
      // Indexes into typed arrays are bounded by their loops; `noUncheckedIndexedAccess` still asks for the mark.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Counts `this.#timer ||= ...` as no use; TypeScript finds unused members.
      'no-unused-private-class-members': 'off',
      // Reports local values that no view reads, such as a `Date` that is formatted at once.
      'svelte/prefer-svelte-reactivity': 'off'
    }
  },
  ...arrows,
  // TypeScript finds undefined names.
  { files: ['**/*.ts', '**/*.svelte'], rules: { 'no-undef': 'off' } }
)
