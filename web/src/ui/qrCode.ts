// QR codes, created in the browser: their secrets must not be sent to a third party.
import { encodeQR } from 'qr'

/** Maximum size in bytes. The modules of a longer text would be too small for the camera of a phone. */
const mostBytes = 412
/** Width of the light border that readers need around a code, in modules. */
const borderModules = 4

/** The modules of a text, row by row, with the border: true is dark. Null if the text is too long. */
export function qrCode(text: string): boolean[][] | null {
  if (new TextEncoder().encode(text).length > mostBytes) return null
  return encodeQR(text, 'raw', { ecc: 'medium', border: borderModules })
}
