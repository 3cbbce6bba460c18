import type { Outbound } from '../outbound/index.ts'
import { type Message, sign } from './sign.ts'

export type ToSend = Message & { readonly url: string; readonly secrets: readonly string[] }

/** What came of one sending. */
export type Sent = {
  readonly at: Date
  readonly durationMs: number
  readonly status: number | null
  /** Null: the receiver took it. */
  readonly error: string | null
  readonly answer: string | null
  /** What the receiver asked to be waited for. */
  readonly retryAfterSeconds: number | undefined
}

const LIMIT_MS = 20_000 // Standard Webhooks recommends 15 to 30 seconds
const ANSWER_BYTES = 1_000 // enough to recognize an error page by
const LONGEST_ERROR = 500

/** Sends a message once. Throws only when `signal` says so: whatever the receiver does is a result. */
export async function send(outbound: Outbound, message: ToSend, signal?: AbortSignal): Promise<Sent> {
  const at = new Date()
  const begun = performance.now()
  const told = (facts: Partial<Sent>): Sent => ({
    at,
    durationMs: Math.round(performance.now() - begun),
    status: null,
    error: null,
    answer: null,
    retryAfterSeconds: undefined,
    ...facts,
  })
  try {
    const { status, headers, body } = await outbound.send(
      message.url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'millrace-webhooks/1',
          ...sign(message, message.secrets),
        },
        body: message.body,
        limitMs: LIMIT_MS,
        ...(signal === undefined ? {} : { signal }),
      },
      ANSWER_BYTES,
    )
    const isTaken = status >= 200 && status < 300
    return told({
      status,
      answer: toText(body),
      error: isTaken ? null : `the receiver answered ${status}`,
      retryAfterSeconds: isTaken ? undefined : toSeconds(headers['retry-after']),
    })
  } catch (error) {
    signal?.throwIfAborted()
    return told({ error: (error as Error).message.slice(0, LONGEST_ERROR) })
  }
}

/** What PostgreSQL can keep of the bytes. */
const toText = (body: Buffer) => (body.length === 0 ? null : body.toString('utf8').replaceAll('\u0000', '\uFFFD'))

/** The header's number of seconds, or the time until its date. */
function toSeconds(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000)
}
