// One connection over which a client subscribes and unsubscribes. Each subscription waits for its own messages to be
// taken before it is given more: a slow client costs what is in flight and no more.
import type { RawData, WebSocket } from 'ws'
import type { Identity } from '../access/index.ts'
import { type SocketMessage, socketMessage } from '../api/index.ts'
import type { EventBatch, Subscription } from '../engine/index.ts'
import { type EventSource, type Selection, toJson, toSelection } from './event-selection.ts'

export type EventSocketOptions = {
  readonly source: EventSource
  /** Undefined: the client has not said yet who it is. */
  readonly identity: Identity | undefined
  /** Tells who has this token, and counts it when nobody has. */
  readonly authenticate: (token: string) => Promise<Identity | undefined>
  /** Tells whether the client may still be here. */
  readonly isStillGood: () => Promise<boolean>
}

/** Why a connection is closed, as RFC 6455 numbers it: https://www.iana.org/assignments/websocket. */
const CLOSED = { stopping: 1001, policy: 1008, unauthorized: 4401 } as const

const MOST_SUBSCRIPTIONS = 100
const MESSAGES_PER_SECOND = 20
const BURST = 150 // all its subscriptions at once, and then some
const AUTH_MS = 10_000
const STALL_BEATS = 20

type Open = { subscription: Subscription | undefined; isEnded: boolean; position: string }

export class EventSocket {
  readonly #socket: WebSocket
  readonly #options: EventSocketOptions
  readonly #open = new Map<string, Open>()
  readonly #authTimer: NodeJS.Timeout
  #identity: Identity | undefined
  /** Messages are answered one after another, in the order in which they came. */
  #last: Promise<void> = Promise.resolve()
  #credit = BURST
  #creditedAt = performance.now()
  #silentBeats = 0
  #fullBeats = 0

  constructor(socket: WebSocket, options: EventSocketOptions) {
    this.#socket = socket
    this.#options = options
    this.#identity = options.identity
    this.#authTimer = setTimeout(() => this.#requireIdentity(), AUTH_MS)
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    socket.on('pong', () => {
      this.#silentBeats = 0
    })
    // Told of by `close`, which follows.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(this.#authTimer)
      for (const id of this.#open.keys()) this.#end(id)
    })
  }

  /** Whether the client has said who it is. */
  get isKnown(): boolean {
    return this.#identity !== undefined
  }

  /** A last word, and the end. */
  bye(reason: string): void {
    void this.#send({ type: 'bye', reason })
    this.#socket.close(CLOSED.stopping, reason)
  }

  /** Called now and then: sees whether the client is still there, takes what it is sent, and may be here. */
  async beat(): Promise<void> {
    this.#fullBeats = this.#socket.bufferedAmount > 0 ? this.#fullBeats + 1 : 0
    this.#silentBeats += 1
    // One that takes nothing cannot answer either: a pong waits behind what it has not read.
    if (this.#fullBeats > STALL_BEATS || (this.#silentBeats > 2 && this.#fullBeats === 0))
      return this.#socket.terminate()
    this.#socket.ping()
    if (this.#fullBeats === 0) this.#tellPositions()
    if (this.#identity === undefined || (await this.#options.isStillGood().catch(() => true))) return
    this.#refuse('unauthorized', 'the token or session has ended', CLOSED.unauthorized)
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (!this.#takeCredit()) {
      this.#refuse('rate_limited', `more than ${MESSAGES_PER_SECOND} messages a second`, CLOSED.policy)
      return
    }
    this.#last = this.#last.then(() => this.#answer(data, isBinary)).catch((error: unknown) => this.#tellError(error))
  }

  #takeCredit(): boolean {
    const now = performance.now()
    this.#credit = Math.min(BURST, this.#credit + ((now - this.#creditedAt) / 1000) * MESSAGES_PER_SECOND)
    this.#creditedAt = now
    this.#credit -= 1
    return this.#credit >= 0
  }

  async #answer(data: RawData, isBinary: boolean): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    const message = isBinary || !Buffer.isBuffer(data) ? undefined : parse(data.toString())
    if (message === undefined) return this.#tell('bad_request', 'a message is one JSON object as text')
    const parsed = socketMessage.safeParse(message)
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      return this.#tell('invalid', `${issue?.path.join('.') || 'message'}: ${issue?.message}`, idOf(message))
    }
    if (parsed.data.type === 'auth') return this.#authenticate(parsed.data.token)
    if (parsed.data.type === 'ping') return void this.#send({ type: 'pong' })
    if (this.#identity === undefined) return this.#requireIdentity()
    if (parsed.data.type === 'unsubscribe') {
      this.#end(parsed.data.id)
      return void this.#send({ type: 'unsubscribed', id: parsed.data.id })
    }
    await this.#subscribe(parsed.data, this.#identity)
  }

  async #authenticate(token: string): Promise<void> {
    if (this.#identity !== undefined) return this.#tell('conflict', 'the client has said already who it is')
    const identity = await this.#options.authenticate(token)
    if (identity === undefined) return this.#refuse('unauthorized', 'the token is not valid here', CLOSED.unauthorized)
    this.#identity = identity
    clearTimeout(this.#authTimer)
    void this.#send({ type: 'authenticated', name: identity.name })
  }

  #requireIdentity(): void {
    if (this.#identity === undefined) this.#refuse('unauthorized', 'say first who you are', CLOSED.unauthorized)
  }

  async #subscribe(wish: Extract<SocketMessage, { type: 'subscribe' }>, identity: Identity): Promise<void> {
    const { id, after } = wish
    if (this.#open.has(id)) return this.#tell('conflict', `there is a subscription ${id} already`, id)
    if (this.#open.size >= MOST_SUBSCRIPTIONS) {
      return this.#tell('rate_limited', `a connection has ${MOST_SUBSCRIPTIONS} subscriptions at most`, id)
    }
    const open: Open = { subscription: undefined, isEnded: false, position: '0' }
    this.#open.set(id, open)
    try {
      const selection = await toSelection(this.#options.source, wish, identity)
      await this.#begin(id, open, selection, after)
    } catch (error) {
      this.#end(id)
      this.#tellError(error, id)
    }
  }

  async #begin(id: string, open: Open, { filter, isWanted }: Selection, after: string | undefined): Promise<void> {
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const options = { filter, ...(after === undefined || after === 'newest' ? {} : { after }) }
    const subscription = await this.#options.source.subscribe(options, async (batch) => {
      await begun
      await this.#tellEvents(id, open, { ...batch, events: batch.events.filter(isWanted) })
    })
    open.subscription = subscription
    // Closed or ended while it was begun.
    if (open.isEnded) return subscription.unsubscribe()
    open.position = subscription.position
    void this.#send({ type: 'subscribed', id, position: open.position })
    begin()
  }

  /** Moves the client's places past what does not concern it. */
  #tellPositions(): void {
    for (const [id, open] of this.#open) {
      const position = open.subscription?.position ?? '0'
      if (BigInt(position) <= BigInt(open.position)) continue
      open.position = position
      void this.#send({ type: 'position', subscription: id, position })
    }
  }

  async #tellEvents(id: string, open: Open, { events, position, isReset }: EventBatch): Promise<void> {
    if (open.isEnded) return
    if (isReset) {
      open.position = position
      return this.#send({ type: 'reset', subscription: id, position })
    }
    const head = `{"type":"event","subscription":${JSON.stringify(id)},`
    let taken: Promise<void> | undefined
    for (const event of events) {
      // Unsubscribed meanwhile: after the answer to that no event may follow.
      if (open.isEnded) return
      open.position = event.id
      taken = this.#sendText(head + toJson(event).slice(1))
      if (this.#socket.bufferedAmount > 0) await taken
    }
    await taken
  }

  #end(id: string): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    open.isEnded = true
    open.subscription?.unsubscribe()
    this.#open.delete(id)
  }

  #refuse(code: string, detail: string, status: number): void {
    this.#tell(code, detail)
    this.#socket.close(status, detail)
  }

  #tellError(error: unknown, subscription?: string): void {
    const { code, message } = error as { code?: string; message?: string }
    const isOurs = typeof code === 'string' && /^[a-z_]+$/.test(code)
    this.#tell(
      isOurs ? code : 'internal',
      isOurs ? (message ?? '') : 'something went wrong on the server',
      subscription,
    )
  }

  #tell(code: string, detail: string, subscription?: string): void {
    void this.#send({ type: 'error', code, detail, ...(subscription === undefined ? {} : { subscription }) })
  }

  #send(message: Record<string, unknown>): Promise<void> {
    return this.#sendText(JSON.stringify(message))
  }

  /** Resolves when it has left for the client, or never will. */
  #sendText(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text, () => resolve())
      else resolve()
    })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const idOf = (message: unknown) => {
  const { id } = (message ?? {}) as { id?: unknown }
  return typeof id === 'string' ? id.slice(0, 100) : undefined
}
