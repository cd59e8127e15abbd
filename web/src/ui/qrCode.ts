// QR codes, made in the browser: their secrets must not be sent to a third party.
import { encodeQR } from 'qr'

/** In bytes. The modules of a longer text would be too small for the camera of a phone. */
const longest = 412
/** The light frame that readers need around a code, in modules. */
const border = 4

/** The modules of a text, row by row, with the frame: true is dark. Null if the text is too long. */
export function qrCode(text: string): boolean[][] | null {
  if (new TextEncoder().encode(text).length > longest) return null
  return encodeQR(text, 'raw', { ecc: 'medium', border })
}
