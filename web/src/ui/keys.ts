// When a key of the page is meant for a field or a dialog instead.

const typing = 'input:not([type=checkbox], [type=radio], [type=range]), select, textarea, [contenteditable]'

/** Whether a key pressed now belongs to the page: not to a field, a dialog or the browser. */
export function isForPage(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return false
  return !document.querySelector('dialog[open]') && !(event.target as Element).closest?.(typing)
}
