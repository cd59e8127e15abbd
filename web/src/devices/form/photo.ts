// The photo that a user sets for a device: scaled down in the browser, then uploaded.
import { address, api, ok, type Schemas } from '$lib/api/client'

type Device = Schemas['Device']

/** URL of a device's photo. */
export const photoAddress = ({ id, photo }: Pick<Device, 'id' | 'photo'>): string | null =>
  photo ? address(`/api/devices/${encodeURIComponent(id)}/files/${encodeURIComponent(photo)}`) : null

/** Maximum length of the longer side of an uploaded photo, in pixels: enough for the panel on a high-density screen. */
const longestSidePx = 800
/** The maximum size that the server accepts, in bytes. */
const mostBytes = 1_048_576

/** Width and height scaled to fit `longestSidePx`, in the same proportion. */
export function fitted(width: number, height: number): { width: number; height: number } {
  const scale = Math.min(1, longestSidePx / Math.max(width, height))
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

/** Converts a photo for upload; fails if the browser cannot decode the file. Redrawing removes its metadata. */
export async function scaled(file: Blob): Promise<Blob> {
  const image = await createImageBitmap(file)
  const { width, height } = fitted(image.width, image.height)
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const context = canvas.getContext('2d')
  if (!context) throw new Error('no canvas')
  // JPEG has no transparency.
  context.fillStyle = '#fff'
  context.fillRect(0, 0, width, height)
  context.drawImage(image, 0, 0, width, height)
  image.close()
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.85))
  if (!blob || blob.size > mostBytes) throw new Error('no photo')
  return blob
}

const at = (deviceId: string) => ({ path: { deviceId } })

export async function sendPhoto(id: string, photo: Blob): Promise<Device> {
  const answer = await ok(
    api.PUT('/api/devices/{deviceId}/photo', {
      params: at(id),
      headers: { 'Content-Type': photo.type },
      // The API's document describes bytes as text.
      body: photo as unknown as string,
      bodySerializer: (body) => body as unknown as BodyInit
    })
  )
  return answer.device
}

export const removePhoto = async (id: string): Promise<Device> =>
  (await ok(api.DELETE('/api/devices/{deviceId}/photo', { params: at(id) }))).device
