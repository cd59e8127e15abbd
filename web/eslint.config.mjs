// What the linter looks for. How the code is laid out is Prettier's part (.prettierrc.json).
import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

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
  {
    files: ['src/pages/*/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '^\\.\\./(?!\\.\\./)', message: 'A page imports no other page: move what they share to src/ui.' }
          ]
        }
      ]
    }
  },
  {
    files: ['src/**'],
    ignores: ['src/App.svelte', 'src/pages/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '/pages/', message: 'Only App.svelte imports pages.' }] }
      ]
    }
  },
  // TypeScript finds undefined names.
  { files: ['**/*.ts', '**/*.svelte'], rules: { 'no-undef': 'off' } }
)
