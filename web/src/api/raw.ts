// Calls that not every server knows yet: without types of the API's document, but with the same answers and problems.
import { address, okTagged } from './client'

interface Options {
  body?: unknown
  tag?: string | null
}

/** The answer and its entity tag; a server that does not know the path gives a Problem with status 404. */
export function raw<T>(method: string, path: string, { body, tag }: Options = {}): Promise<{ data: T; tag: string | null }> {
  return okTagged<T>(send<T>(method, path, body, tag))
}

async function send<T>(method: string, path: string, body: unknown, tag: string | null | undefined) {
  const response = await fetch(address(path), {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(tag ? { 'if-match': tag } : {})
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const answer: unknown = await response.json().catch(() => undefined)
  return response.ok ? { data: answer as T, response } : { error: answer, response }
}
