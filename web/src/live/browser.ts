// What the stream needs of the browser.
import { call, routes } from '../api.ts'
import { basePath } from '../base-path.ts'
import type { Channel } from './share.ts'
import type { Opened, StreamHandlers } from './stream.ts'

const NAME = `millrace-live:${basePath}`

export function openEventSource(
  { after, scopes }: { after: string | undefined; scopes: readonly string[] },
  handlers: StreamHandlers,
): Opened {
  const query = new URLSearchParams()
  if (after !== undefined) query.set('after', after)
  for (const scope of scopes) query.append('scope', scope)
  const source = new EventSource(`${basePath}/v1/events?${query.toString()}`)
  const position = (event: Event) => JSON.parse((event as MessageEvent<string>).data).position as string
  source.addEventListener('hello', (event) => handlers.onHello(position(event)))
  source.addEventListener('reset', (event) => handlers.onReset(position(event)))
  source.addEventListener('bye', () => handlers.onBroken())
  source.onmessage = (event: MessageEvent<string>) => handlers.onEvent(JSON.parse(event.data))
  // The stream is opened anew by ourselves: a browser gives up for good after some answers, and tells nobody.
  source.onerror = () => handlers.onBroken()
  return { close: () => source.close() }
}

export const readPage = ({ after, scopes }: { after: string; scopes: readonly string[] }) =>
  call(routes.events.stream, {
    query: { after, limit: 1000, ...(scopes.length === 0 ? {} : { scope: scopes.join(',') }) },
  })

export function openChannel(): Channel | undefined {
  if (typeof BroadcastChannel === 'undefined' || !hasLocks()) return undefined
  const channel = new BroadcastChannel(NAME)
  return {
    post: (message) => channel.postMessage(message),
    onMessage: (listen) => {
      channel.onmessage = ({ data }) => listen(data)
    },
    close: () => channel.close(),
  }
}

/** Browsers have locks only for pages of this machine and over HTTPS. */
const hasLocks = () => 'locks' in navigator && navigator.locks !== undefined

/** Calls `work` when this tab holds the lock; undefined where there are no locks. */
export const leadByLock = hasLocks()
  ? (work: () => void) => {
      const ended = new AbortController()
      const held = new Promise<void>((resolve) => ended.signal.addEventListener('abort', () => resolve()))
      navigator.locks
        .request(NAME, { signal: ended.signal }, () => {
          work()
          return held
        })
        .catch(() => undefined)
      return () => ended.abort()
    }
  : undefined
