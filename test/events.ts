// A client of the event stream, as a program would be one.
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { onTestFinished } from 'vitest'
import { PATIENCE_MS } from './processes.ts'
import { ADMIN } from './server.ts'

export type Told = EventSourceMessage & {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  readonly json: any
}

export type Listening = {
  readonly response: Response
  /** Everything that came, the stream's own words too. */
  readonly told: readonly Told[]
  readonly comments: readonly string[]
  /** The whole text. */
  readonly text: () => string
  /** The events that came, without the stream's own words. */
  events(): Told['json'][]
  /** Resolves with the first event that meets the condition; fails loudly when none comes. */
  until(isMeant: (told: Told) => boolean): Promise<Told>
  /** Resolves when so many events came. */
  count(wanted: number): Promise<Told['json'][]>
  /** Resolves when the stream has ended; true when it was properly ended by the server. */
  readonly ended: Promise<boolean>
  close(): void
}

export type ListenOptions = {
  readonly lastEventId?: string
  readonly token?: string | null
  readonly headers?: Record<string, string>
}

/** Opens the stream at `url`; closed when the test is over. */
export async function listenTo(url: string, options: ListenOptions = {}): Promise<Listening> {
  const { lastEventId, token = ADMIN, headers = {} } = options
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const response = await fetch(url, {
    signal: stop.signal,
    headers: {
      accept: 'text/event-stream',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...headers,
    },
  })
  const told: Told[] = []
  const comments: string[] = []
  const hearers = new Set<() => void>()
  let text = ''
  const parser = createParser({
    onEvent: (event) => {
      told.push({ ...event, json: JSON.parse(event.data) })
      for (const hear of hearers) hear()
    },
    onComment: (comment) => comments.push(comment),
  })
  const read = async () => {
    const decoder = new TextDecoder()
    try {
      for await (const piece of response.body ?? []) {
        const more = decoder.decode(piece, { stream: true })
        text += more
        parser.feed(more)
      }
      return true
    } catch {
      return false
    }
  }
  const ended = response.ok ? read() : Promise.resolve(true)
  const events = () => told.filter(({ event }) => event === undefined).map(({ json }) => json)
  const wait = <T>(look: () => T | undefined, what: string) =>
    new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${what} did not come: ${text.slice(-3000)}`)), PATIENCE_MS)
      const hear = () => {
        const found = look()
        if (found === undefined) return
        clearTimeout(timer)
        hearers.delete(hear)
        resolve(found)
      }
      hearers.add(hear)
      hear()
    })
  return {
    response,
    told,
    comments,
    text: () => text,
    events,
    until: (isMeant) => wait(() => told.find(isMeant), String(isMeant)),
    count: (wanted) => wait(() => (events().length >= wanted ? events() : undefined), `${wanted} events`),
    ended,
    close: () => stop.abort(),
  }
}
