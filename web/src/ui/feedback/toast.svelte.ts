// Toasts: short messages about success or failure.
import { Problem } from '$lib/api/client'
import { t } from '$lib/i18n/index.svelte'

export interface Toast {
  id: number
  kind: 'good' | 'bad'
  text: string
}

export const toasts: Toast[] = $state([])
let last = 0
const shownForMs = 6_000

export function showToast(text: string, kind: Toast['kind'] = 'good'): void {
  const id = ++last
  toasts.push({ id, kind, text })
  setTimeout(() => dismiss(id), shownForMs)
}

export function dismiss(id: number): void {
  const index = toasts.findIndex((toast) => toast.id === id)
  if (index >= 0) toasts.splice(index, 1)
}

/** The text that explains a failure to the user. */
export function reason(error: unknown): string {
  if (error instanceof Problem) return error.isOffline ? t('common.unreachable') : error.message
  return t('common.failed')
}

/** Shows a toast with the reason of a failure. */
export const showProblem = (error: unknown): void => showToast(reason(error), 'bad')
