import { svelte } from '@sveltejs/vite-plugin-svelte'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { compress } from './build/compress.mjs'

// A server to develop against: `PERIGEE=http://127.0.0.1:8080 npm run dev`. Its origin check must see its own address.
const server = process.env.PERIGEE ?? 'http://127.0.0.1:8080'
const passOn = { target: server, changeOrigin: true, headers: { origin: server } }

export default defineConfig({
  plugins: [svelte(), compress()],
  // Relative to <base>, which the server writes: the console works under any path.
  base: './',
  resolve: {
    alias: { $lib: fileURLToPath(new URL('./src', import.meta.url)) },
    // Components are tested as the browser runs them.
    ...(process.env.VITEST ? { conditions: ['browser'] } : {})
  },
  server: { proxy: { '/api': passOn } },
  preview: { proxy: { '/api': passOn } },
  build: {
    outDir: '../crates/server/assets/console',
    emptyOutDir: true,
    target: 'es2022',
    // A data: address would have to be allowed by the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1300
  },
  // A busy machine is slow, but no test may depend on that.
  test: { include: ['tests/**/*.test.ts'], setupFiles: ['tests/browser.ts'], testTimeout: 60_000 }
})
