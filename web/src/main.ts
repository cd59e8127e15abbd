// Entry point of the console: mounts the app and registers the service worker.
import { mount } from 'svelte'
import App from './App.svelte'
import { preferences, showTheme } from './access/preferences.svelte'
import { loadLanguage } from './i18n/index.svelte'
import './ui/app.css'

showTheme()
// Loaded first, so that the page is not drawn in English before; without a connection it is.
await loadLanguage(preferences.language).catch(() => undefined)
const target = document.getElementById('app')
if (target) mount(App, { target })

// Without a secure connection browsers have no service workers; the console then needs the server to open.
if (import.meta.env.PROD && 'serviceWorker' in navigator) {
  addEventListener('load', () => {
    navigator.serviceWorker.register(new URL('sw.js', document.baseURI)).catch(() => undefined)
  })
}
