import type { Readable } from 'node:stream'
import { Agent, request } from 'undici'
import { AddressRefused, NoAnswer, UrlRefused } from './errors.ts'
import { createGuard, type Resolve } from './guard.ts'

export type OutboundOptions = {
  /** What may be reached although it is inside the house: hosts, `*.` and the end of hosts, addresses, ranges. */
  readonly allow?: readonly string[]
  readonly resolve?: Resolve
}

export type OutboundRequest = {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Until the answer is there as a whole. Default: 30 s. */
  readonly limitMs?: number
  readonly signal?: AbortSignal
}

export type OutboundStream = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Must be read to its end or destroyed. */
  readonly body: Readable
}

export type OutboundAnswer = Omit<OutboundStream, 'body'> & {
  /** The first bytes, as many as were asked for at most. */
  readonly body: Buffer
}

export type Outbound = {
  /** The URL, when requests may go there as far as can be told without resolving its name. */
  check(url: string): URL
  /** Sends one request, follows no redirect, and answers with the first `mostBytes` of the body. */
  send(url: string, request: OutboundRequest, mostBytes: number): Promise<OutboundAnswer>
  /** Sends one request and answers with the body as a stream. */
  open(url: string, request: OutboundRequest): Promise<OutboundStream>
  close(): Promise<void>
}

const CONNECT_MS = 10_000
const LIMIT_MS = 30_000
const PER_HOST = 20

/**
 * The way out for every request that others have a say in. Private, loopback, link-local and other inner addresses are
 * refused with `AddressRefused` unless allowed; a URL that is none of ours to follow with `UrlRefused`; everything that
 * keeps an answer from coming is a `NoAnswer`.
 */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const guard = createGuard(options.allow ?? [], options.resolve)
  const agent = new Agent({
    connect: { lookup: guard.lookup, timeout: CONNECT_MS },
    connections: PER_HOST,
    headersTimeout: 0,
    bodyTimeout: LIMIT_MS,
  })

  const open: Outbound['open'] = async (text, { method = 'GET', headers, body, limitMs, signal }) => {
    const url = guard.check(text)
    const limit = AbortSignal.timeout(limitMs ?? LIMIT_MS)
    try {
      const answer = await request(url, {
        dispatcher: agent,
        method,
        signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body }),
      })
      return { status: answer.statusCode, headers: answer.headers, body: answer.body }
    } catch (error) {
      throw toOutboundError(url, error as Error, signal)
    }
  }

  return {
    check: guard.check,
    open,
    async send(url, asked, mostBytes) {
      const { body, ...answer } = await open(url, asked)
      try {
        return { ...answer, body: await firstBytes(body, mostBytes) }
      } catch (error) {
        throw toOutboundError(new URL(url), error as Error, asked.signal)
      }
    },
    close: () => agent.destroy(),
  }
}

async function firstBytes(body: Readable, most: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  // Leaving the loop destroys the stream, and with it the connection that would bring the rest.
  for await (const piece of body as AsyncIterable<Buffer>) {
    pieces.push(piece)
    size += piece.length
    if (size >= most) break
  }
  return Buffer.concat(pieces).subarray(0, most)
}

function toOutboundError(url: URL, error: Error, signal: AbortSignal | undefined): Error {
  if (signal?.aborted) return signal.reason instanceof Error ? signal.reason : error
  const refusal = [error, error.cause].find((one) => one instanceof AddressRefused || one instanceof UrlRefused)
  return (refusal as Error | undefined) ?? new NoAnswer(url.host, error)
}
