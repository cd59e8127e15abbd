// The API client, typed by the API's document. A call returns the answer or throws a Problem.
import createClient from 'openapi-fetch'
import { problemCodeValues, type components, type paths } from './schema'

export type Schemas = components['schemas']

/** The error codes of the API; `unreachable` without an answer, `unknown` for a code that is not in its document. */
export type ErrorCode = Schemas['Problem']['code'] | 'unreachable' | 'unknown'

/** Base URL of the server; it ends with a slash. */
export const root = new URL('./', document.baseURI)

/** URL of a path of the API, for links and streams. */
export const address = (path: string): string => new URL(path.replace(/^\//, ''), root).href

export const api = createClient<paths>({
  baseUrl: root.href.replace(/\/$/, ''),
  credentials: 'same-origin',
  // Found at each call, so that tests can replace it.
  fetch: (request) => globalThis.fetch(request)
})

/** An error answer of the server, or a failure to reach it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    message: string,
    readonly fields: Record<string, string> = {}
  ) {
    super(message)
  }

  /** Whether there was no answer. */
  get isOffline(): boolean {
    return this.status === 0
  }
}

/** Whether a call failed with one of these codes. */
export const isProblem = (error: unknown, ...codes: ErrorCode[]): error is Problem =>
  error instanceof Problem && codes.includes(error.code)

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

interface ProblemBody {
  error?: string
  code?: string
  errors?: { pointer: string; detail: string }[]
}

/** The body of a successful answer. */
export async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>
  try {
    answer = await call
  } catch {
    throw new Problem(0, 'unreachable', 'unreachable')
  }
  if (answer.response.ok) return answer.data as T
  throw problemOf(answer.response.status, answer.error as ProblemBody | undefined)
}

/** A successful answer with its entity tag, to send back as If-Match. */
export async function okTagged<T>(call: Promise<Answer<T>>): Promise<{ data: T; tag: string | null }> {
  let tag: string | null = null
  const data = await ok(
    call.then((answer) => {
      tag = answer.response.headers.get('etag')
      return answer
    })
  )
  return { data, tag }
}

/** An answer as it comes, for bodies that are read in parts or saved as a file. */
export async function answerOf(path: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(address(path), { credentials: 'same-origin', ...init })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Problem(0, 'unreachable', 'unreachable')
  }
  if (response.ok) return response
  const body = (await response.json().catch(() => undefined)) as ProblemBody | undefined
  throw problemOf(response.status, body)
}

function problemOf(status: number, body: ProblemBody | undefined): Problem {
  const fields: Record<string, string> = {}
  for (const { pointer, detail } of body?.errors ?? []) {
    fields[pointer.replace(/^\//, '').replaceAll('/', '.')] = detail
  }
  const code = problemCodeValues.find((known) => known === body?.code) ?? 'unknown'
  return new Problem(status, code, body?.error ?? `HTTP ${status}`, fields)
}
