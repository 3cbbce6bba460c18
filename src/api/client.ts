// Calls routes of a server. The types of what is given and answered come from the route.
import type { Asked, BodyAnswered, Route } from './route.ts'
import type { Problem } from './shapes.ts'

/** The server refused: `problem` says what and why. */
export class ServerRefused extends Error {
  readonly code: string
  readonly status: number
  readonly problem: Problem
  readonly remedy: string | undefined
  constructor(problem: Problem) {
    super(problem.detail || problem.title)
    this.code = problem.code
    this.status = problem.status
    this.problem = problem
    this.remedy = problem.remedy
  }
}

/** Nobody answers at the server's address, or the connection broke. */
export class ServerUnreachable extends Error {
  readonly code = 'server_unreachable'
  readonly remedy = 'start one with `millrace serve`, or name another with --server or MILLRACE_URL'
  constructor(url: string, cause: unknown) {
    const reason = (cause as { cause?: { code?: string } }).cause?.code ?? (cause as Error).message
    super(`no server answers at ${url} (${reason})`, { cause })
  }
}

/** What answers is not a Millrace server, or something between spoke for it. */
export class NotAServer extends Error {
  readonly code = 'not_a_server'
  readonly remedy = 'check the address given by --server or MILLRACE_URL'
}

export type ClientOptions = {
  readonly url: string
  readonly token?: string
  readonly fetch?: typeof fetch
}

export type CallOptions = {
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
  readonly ifMatch?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Client = {
  /** Calls a route and answers the body. Throws `ServerRefused`, `ServerUnreachable` or `NotAServer`. */
  call<R extends Route>(route: R, asked?: Asked<R>, options?: CallOptions): Promise<BodyAnswered<R>>
  /** Calls a route and answers the whole response, for streams and headers. Throws like `call`. */
  open<R extends Route>(route: R, asked?: Asked<R>, options?: CallOptions): Promise<Response>
}

export function createClient({ url, token, fetch: send = fetch }: ClientOptions): Client {
  const base = url.replace(/\/+$/, '')
  const open: Client['open'] = async (route, asked, options = {}) => {
    const given = (asked ?? {}) as Given
    const headers: Record<string, string> = { accept: 'application/json, */*', ...options.headers }
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`
    if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey
    if (options.ifMatch !== undefined) headers['if-match'] = options.ifMatch
    if (given.body !== undefined) headers['content-type'] = 'application/json'
    const response = await send(base + pathOf(route.path, given), {
      method: route.method,
      headers,
      ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      redirect: 'error',
    }).catch((error: unknown) => {
      throw options.signal?.aborted ? options.signal.reason : new ServerUnreachable(base, error)
    })
    if (!response.ok) throw await refusalOf(response, base)
    return response
  }
  return {
    open,
    async call(route, asked, options) {
      const response = await open(route, asked, options)
      const text = await response.text()
      if (text === '') return undefined as never
      if (!(response.headers.get('content-type') ?? '').includes('json')) return text as never
      return JSON.parse(text)
    },
  }
}

type Given = {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

function pathOf(pattern: string, { params = {}, query = {} }: Given): string {
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
  if (pairs.length === 0) return path
  const search = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)]))
  return `${path}?${search.toString()}`
}

async function refusalOf(response: Response, base: string): Promise<Error> {
  const text = await response.text()
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.code === 'string') return new ServerRefused(problem)
  } catch {
    // Not a problem of ours: told below.
  }
  return new NotAServer(`${base} answered ${response.status} and not as a Millrace server does`)
}
