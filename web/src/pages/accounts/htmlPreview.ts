// Shows the HTML of an e-mail under the page's content security policy, which forbids inline styles: they are removed
// from the document and added again as style sheet objects. Scripts never run: the frame is sandboxed.

export interface Prepared {
  html: string
  /** The style sheets of the document, in order. */
  css: string
}

const mark = 'data-preview-style'
const held = 'data-preview-sheet'

/** The document with its styles hidden from the parser: the policy applies even to a document that is only parsed. */
export const disarm = (source: string): string =>
  source
    .replace(/<style\b/gi, `<script type="text/plain" ${held}`)
    .replace(/<\/style\b/gi, '</script')
    .replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/(\s)style(\s*=)/gi, `$1${mark}$2`))

/** The document without its styles, and its styles. */
export function prepare(source: string): Prepared {
  const mail = new DOMParser().parseFromString(disarm(source), 'text/html')
  const css = [...mail.querySelectorAll(`[${held}]`)].map((sheet) => sheet.textContent).join('\n')
  for (const unwanted of mail.querySelectorAll('script, link, base, meta[http-equiv], iframe, object, embed'))
    unwanted.remove()
  return { html: `<!doctype html>${mail.documentElement.outerHTML}`, css }
}

/** Puts the styles back into the document that is shown. */
export function applyStyles(frame: HTMLIFrameElement, css: string): void {
  const { contentDocument: shown, contentWindow: view } = frame
  if (!shown || !view) return
  // A sheet belongs to the window it is made in.
  const Sheet = (view as Window & { CSSStyleSheet: typeof CSSStyleSheet }).CSSStyleSheet
  const sheet = new Sheet()
  sheet.replaceSync(css)
  shown.adoptedStyleSheets = [sheet]
  for (const styled of shown.querySelectorAll<HTMLElement>(`[${mark}]`)) {
    styled.style.cssText = styled.getAttribute(mark) ?? ''
    styled.removeAttribute(mark)
  }
}
