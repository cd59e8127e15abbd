// Calls the API's document does not type for us: the same answers and problems as the typed client gives.
import { address, ok } from '../../api/client'

interface Options {
  method?: string
  body?: unknown
  headers?: Record<string, string>
}

/** The body of a successful answer, and its entity tag. */
export async function call<T>(path: string, { method = 'GET', body, headers = {} }: Options = {}): Promise<{ data: T; tag: string | null }> {
  let tag: string | null = null
  const sent = body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' }
  const request = async () => {
    const response = await fetch(address(path), {
      method,
      headers: sent,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    tag = response.headers.get('etag')
    const answer: unknown = await response.json().catch(() => undefined)
    return response.ok ? { data: answer as T, response } : { error: answer, response }
  }
  const data = await ok<T>(request())
  return { data, tag }
}
