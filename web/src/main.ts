import { mount } from 'svelte'
import App from './App.svelte'
import { showTheme } from './preferences.svelte'
import './ui/app.css'

showTheme()
const target = document.getElementById('app')
if (target) mount(App, { target })
