// Formats bytes as a dump: sixteen in a line, with their characters.

export interface HexLine {
  /** Position of the first byte, in hexadecimal digits. */
  at: string
  hex: string
  text: string
}

const bytesPerLine = 16

/** Lines of a dump of hexadecimal digits; at most `most` lines. */
export function hexLines(digits: string, most = 256): HexLine[] {
  const lines: HexLine[] = []
  for (let at = 0; at < digits.length && lines.length < most; at += 2 * bytesPerLine) {
    const bytes = digits.slice(at, at + 2 * bytesPerLine).match(/../g) ?? []
    lines.push({
      at: (at / 2).toString(16).padStart(4, '0'),
      hex: bytes.join(' '),
      text: bytes.map((byte) => characterOf(parseInt(byte, 16))).join('')
    })
  }
  return lines
}

const characterOf = (code: number): string => (code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '·')

/** Whether a text consists of hexadecimal digits, with or without blanks between bytes. */
export const isHex = (text: string): boolean => /^\s*(?:[0-9a-f]{2}[\s:]*)+$/i.test(text)

/**
 * Pasted text in the form that the API accepts: one frame per line. Blanks between hexadecimal digits are removed, JSON
 * objects stay as they are, and any other line is the text of a frame.
 */
export function framesOf(pasted: string): string {
  return pasted
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) =>
      line.startsWith('{') ? line : isHex(line) ? line.replace(/[\s:]/g, '') : JSON.stringify({ text: line })
    )
    .join('\n')
}
