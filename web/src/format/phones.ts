// Finds telephone numbers in free text, so that a phone or computer can call them.

export interface TextPart {
  text: string
  /** The number as a `tel:` address has it; absent if the part is not a number. */
  tel?: string
}

/** Digits with the separators that people write between them. Coordinates and dates have a point or too few digits. */
const likeNumber = /(?<![\d.,:/-])\+?\(?\d[\d ()/-]{5,}\d(?![\d:°]|[.,]\d)/g
const isoDate = /^\d{4}-\d{2}-\d{2}/
const fewestDigits = 7
const mostDigits = 15

/** The parts of a text, in order. */
export function phonesIn(text: string): TextPart[] {
  const parts: TextPart[] = []
  let end = 0
  for (const found of text.matchAll(likeNumber)) {
    const [number] = found
    const digits = number.replace(/\D/g, '')
    if (digits.length < fewestDigits || digits.length > mostDigits || isoDate.test(number)) continue
    if (found.index > end) parts.push({ text: text.slice(end, found.index) })
    parts.push({ text: number, tel: `${number.startsWith('+') ? '+' : ''}${digits}` })
    end = found.index + number.length
  }
  if (end < text.length) parts.push({ text: text.slice(end) })
  return parts
}
