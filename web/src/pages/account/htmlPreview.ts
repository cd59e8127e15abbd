// Shows the HTML of a mail inside the page's own policy, which forbids styles written in a document: they are taken out
// of it and put back by the object model, where nothing but styles can come in. Scripts never run: the frame is sandboxed.

export interface Prepared {
  html: string
  /** The style sheets of the document, in order. */
  css: string
}

const mark = 'data-preview-style'

/** The document without its styles, and its styles. */
export function prepare(source: string): Prepared {
  const mail = new DOMParser().parseFromString(source, 'text/html')
  const sheets = [...mail.querySelectorAll('style')]
  const css = sheets.map((sheet) => sheet.textContent).join('\n')
  for (const unwanted of mail.querySelectorAll('style, script, link, base, meta[http-equiv], iframe, object, embed')) unwanted.remove()
  for (const styled of mail.querySelectorAll('[style]')) {
    styled.setAttribute(mark, styled.getAttribute('style') ?? '')
    styled.removeAttribute('style')
  }
  return { html: `<!doctype html>${mail.documentElement.outerHTML}`, css }
}

/** Puts the styles back into the document that is shown. */
export function dress(frame: HTMLIFrameElement, css: string): void {
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
