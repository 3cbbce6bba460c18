import type { BodyAnswered, routes } from '../api/index.ts'
import type { Context, Server } from './context.ts'
import { openAgain, StreamEnded } from './open-again.ts'

type Page = Exclude<BodyAnswered<(typeof routes)['events']['stream']>, string | undefined>
export type TaskEvent = Extract<Page, { items: unknown }>['items'][number]

export type EventFilter = {
  readonly scope?: string
  readonly task?: string
  readonly topics?: string
  readonly after?: string
}

export type EventHearer = {
  /** The stream is open: what happens from now on is heard. Again after each reconnection. */
  readonly onOpen?: () => void
  readonly onEvent: (event: TaskEvent) => void
  /** Events were missed: those after the last one that was heard are no longer kept. */
  readonly onReset?: () => void
}

// The server says something every 15 seconds: a connection that is silent for longer is dead, whatever the system says.
const SILENCE_MS = 60_000

/** Hears events until the signal aborts. After a break it goes on with the event after the last one it heard. */
export async function followEvents(
  context: Pick<Context, 'signal' | 'output'>,
  { client, routes }: Server,
  filter: EventFilter,
  hearer: EventHearer,
): Promise<void> {
  const { createParser } = await import('eventsource-parser')
  let lastId: string | undefined
  await openAgain(context, async (outer, onOpen) => {
    const silence = new AbortController()
    const timer = setTimeout(() => silence.abort(new StreamEnded('the server is silent')), SILENCE_MS)
    const signal = AbortSignal.any([outer, silence.signal])
    const headers = { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) }
    try {
      const answer = await client.open(routes.events.stream, { query: filter }, { signal, headers })
      onOpen()
      const parser = createParser({
        onEvent({ event, id, data }) {
          if (event === 'hello') hearer.onOpen?.()
          else if (event === 'reset') hearer.onReset?.()
          else if (event === undefined) hearer.onEvent(JSON.parse(data) as TaskEvent)
          // After it has been heard: one that was not is sent again.
          if (id !== undefined) lastId = id
        },
      })
      const decoder = new TextDecoder()
      for await (const bytes of answer.body ?? []) {
        timer.refresh()
        parser.feed(decoder.decode(bytes, { stream: true }))
      }
    } catch (error) {
      throw silence.signal.aborted ? silence.signal.reason : error
    } finally {
      clearTimeout(timer)
    }
    throw new StreamEnded('the server ended the stream')
  })
}
