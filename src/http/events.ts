import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Identity } from '../access/index.ts'
import { routes } from '../api/index.ts'
import type { EventBatch, Subscription } from '../engine/index.ts'
import { addRoute } from './add-route.ts'
import { type EventSource, type Selection, toJson, toSelection } from './event-selection.ts'
import { EventStream, toFrame } from './event-stream.ts'
import { credentialsOf } from './identity.ts'
import { Problem } from './problems.ts'

const BEAT_MS = 15_000
const RETRY_MS = 2_000
const STALL_MS = 300_000
const PIECE = 65_536
const MOST_STREAMS = 5_000
/** Who reads is asked for again at one beat in so many. */
const BEATS_TO_CHECK = 4

/** A stream and what it is fed by. */
type Fed = {
  readonly stream: EventStream
  readonly subscription: Subscription
  readonly request: FastifyRequest
  /** The place in the line that the reader was last told. */
  position: string
}

/** `GET /v1/events`: a stream of events, or a page of them. */
export function addEvents(app: FastifyInstance, source: EventSource, beatMs = BEAT_MS): void {
  const feeds = new Set<Fed>()
  let beats = 0
  const timer = setInterval(() => {
    beats += 1
    let i = 0
    for (const fed of feeds) {
      i += 1
      beat(fed)
      if ((i + beats) % BEATS_TO_CHECK === 0) void checkReader(app, fed)
    }
  }, beatMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  addRoute(app, routes.events.stream, async ({ query, identity, request, reply }) => {
    const selection = await toSelection(source, query, identity)
    if (wantsPage(request)) return page(source, selection, query)
    // A stream would go on for ever without sending anything.
    if (request.method === 'HEAD') return reply.type('text/event-stream').send()
    if (feeds.size >= MOST_STREAMS) {
      reply.header('retry-after', '30')
      throw new Problem('not_ready', `${MOST_STREAMS} streams are open on this server, and it takes no more`)
    }
    const given = request.headers['last-event-id']
    const after = given === undefined || given === '' ? query.after : String(given)
    const fed = await feed(source, { selection, after, request }, () => new EventStream(reply))
    feeds.add(fed)
    const forget = app.onDrain(() => fed.stream.end(bye('the server is stopping')))
    fed.stream.onClose(() => {
      forget()
      fed.subscription.unsubscribe()
      feeds.delete(fed)
    })
    return reply
  })
}

const bye = (reason: string) => toFrame({ event: 'bye', data: JSON.stringify({ reason }) })

/** A browser's EventSource and a bare `curl` get the stream. */
function wantsPage({ headers }: FastifyRequest): boolean {
  const accept = headers.accept ?? ''
  return accept.includes('application/json') && !accept.includes('text/event-stream')
}

async function page(
  source: EventSource,
  { filter, isWanted }: Selection,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
) {
  if (after === 'newest') return { items: [], next_cursor: null, position: await newest(source) }
  const { events, next, hasMore } = await source.events({ after: after ?? 'oldest', limit, filter })
  const items = events.filter(isWanted).map((event) => ({ ...event, at: event.at.toISOString() }))
  return { items, next_cursor: hasMore ? next : null, position: next }
}

async function newest(source: EventSource): Promise<string> {
  const subscription = await source.subscribe({}, async () => {})
  subscription.unsubscribe()
  return subscription.position
}

type Wanted = {
  readonly selection: Selection
  readonly after: string | undefined
  readonly request: FastifyRequest
}

/** Subscribes, opens the stream, says hello, and only then lets events through. */
async function feed(source: EventSource, wanted: Wanted, open: () => EventStream): Promise<Fed> {
  const { after, request } = wanted
  const { filter, isWanted } = wanted.selection
  let begin: (fed: Fed) => void = () => {}
  const begun = new Promise<Fed>((resolve) => {
    begin = resolve
  })
  const onEvents = async (batch: EventBatch) => {
    const fed = await begun
    await tell(fed, { ...batch, events: batch.events.filter(isWanted) })
  }
  // A browser sends back whatever it was given, perhaps by another server: refusing it would end its attempts for good.
  const isKnowable = after === undefined || /^(oldest|newest|\d{1,18})$/.test(after)
  const from = isKnowable && after !== 'newest' ? after : undefined
  const subscription = await source.subscribe({ filter, ...(from === undefined ? {} : { after: from }) }, onEvents)
  const { position } = subscription
  const fed: Fed = { stream: openOr(subscription, open), subscription, request, position }
  const data = JSON.stringify({ position })
  const id = after === 'oldest' ? undefined : position
  await fed.stream.write(toFrame({ event: 'hello', id, retryMs: RETRY_MS, data }))
  if (!isKnowable) await fed.stream.write(toFrame({ event: 'reset', id, data }))
  begin(fed)
  return fed
}

function openOr(subscription: Subscription, open: () => EventStream): EventStream {
  try {
    return open()
  } catch (error) {
    subscription.unsubscribe()
    throw error
  }
}

/** Writes a batch piece by piece: a slow reader holds up its own batch, and the next one is not read before. */
async function tell(fed: Fed, { events, position, isReset }: EventBatch): Promise<void> {
  if (isReset) {
    await fed.stream.write(toFrame({ event: 'reset', id: position, data: JSON.stringify({ position }) }))
    fed.position = position
    return
  }
  let text = ''
  for (const event of events) {
    if (!fed.stream.isOpen) return
    text += toFrame({ id: event.id, data: toJson(event) })
    fed.position = event.id
    if (text.length < PIECE) continue
    await fed.stream.write(text)
    text = ''
  }
  if (text !== '') await fed.stream.write(text)
}

/** Keeps the connection open, and moves the reader's place past what does not concern it. */
function beat(fed: Fed): void {
  const { stream, subscription } = fed
  if (stream.stalledMs > STALL_MS) stream.destroy()
  if (stream.stalledMs > 0) return
  const { position } = subscription
  const isFurther = BigInt(position) > BigInt(fed.position)
  if (isFurther) fed.position = position
  void stream.write(`: beat\n${toFrame({ id: isFurther ? position : undefined })}`)
}

/** Ends a stream whose reader was signed out, or whose token was revoked or has expired. */
async function checkReader(app: FastifyInstance, { request, stream }: Fed): Promise<void> {
  const before = request.identity
  const now = await app.access.authenticate(credentialsOf(request)).catch(() => before)
  if (now === undefined || isOther(now, before)) stream.end(bye('the token or session has ended'))
}

const isOther = (now: Identity, before: Identity | undefined) =>
  now.role !== before?.role || now.limit?.name !== before.limit?.name
