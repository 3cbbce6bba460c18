// One stream for all tabs of a browser. HTTP/1.1 allows six connections to a server in all: a stream per tab would use
// them up. The tab that holds a lock has the stream and tells the others; when it goes, the next takes the lock over and
// goes on where it was. Where there are no locks (plain HTTP on other hosts) every tab has its own stream.
import { EventStream, type LiveEvent, type StreamOptions, type StreamState } from './stream.ts'

type Message =
  | { readonly say: 'events'; readonly events: readonly LiveEvent[]; readonly position: string }
  | { readonly say: 'reset'; readonly position: string }
  | { readonly say: 'state'; readonly state: StreamState; readonly position: string | undefined }
  | { readonly say: 'wanted'; readonly tab: string; readonly scopes: readonly string[] | undefined }
  | { readonly say: 'who' }

const NOTHING = 'millrace:nothing'

export type Channel = {
  post(message: Message): void
  onMessage(listen: (message: Message) => void): void
  close(): void
}

export type ShareOptions = StreamOptions & {
  readonly tab: string
  /** Undefined: there is nothing to share by. */
  readonly channel: Channel | undefined
  /** Calls `work` once this tab leads, and answers what to call to lead no more. Undefined: it leads at once. */
  readonly lead: ((work: () => void) => () => void) | undefined
}

export class SharedStream {
  readonly #options: ShareOptions
  readonly #stream: EventStream
  /** What every tab wants, by tab; kept by the one that leads. */
  readonly #wanted = new Map<string, readonly string[]>()
  #own: readonly string[] = []
  #state: StreamState = { is: 'connecting' }
  #position: string | undefined
  #toldAt = 0
  #isLeading = false
  #resign: (() => void) | undefined

  constructor(options: ShareOptions) {
    this.#options = options
    this.#stream = new EventStream({
      ...options,
      onEvents: (events, position) => {
        options.channel?.post({ say: 'events', events, position })
        this.#hear(events, position)
      },
      onReset: (position) => {
        this.#goTo(position)
        options.channel?.post({ say: 'reset', position })
        options.onReset(position)
      },
      onState: (state) => {
        this.#state = state
        this.#goTo(this.#stream.position)
        options.channel?.post({ say: 'state', state, position: this.#stream.position })
        options.onState(state)
      },
    })
    options.channel?.onMessage((message) => this.#receive(message))
  }

  start(): void {
    if (this.#resign !== undefined) return
    // Whatever happened since an earlier stop is not read event by event: who starts fetches what it shows.
    this.#position = undefined
    this.#tellWanted(this.#own)
    if (this.#options.lead === undefined) {
      this.#resign = () => {}
      this.#begin()
    } else this.#resign = this.#options.lead(() => this.#begin())
    this.#options.channel?.post({ say: 'who' })
  }

  stop(): void {
    this.#tellWanted(undefined)
    this.#stream.stop()
    this.#isLeading = false
    this.#resign?.()
    this.#resign = undefined
  }

  /** Which scopes this tab shows. `*` stands for all. */
  follow(scopes: readonly string[]): void {
    this.#own = scopes
    if (this.#resign !== undefined) this.#tellWanted(scopes)
  }

  get #isStarted(): boolean {
    return this.#resign !== undefined
  }

  #begin(): void {
    this.#isLeading = true
    this.#wanted.set(this.#options.tab, this.#own)
    this.#options.channel?.post({ say: 'who' })
    this.#followAll()
    this.#stream.start(this.#position, this.#toldAt)
  }

  /** The same position again is no news: its age is that of what happened last. */
  #goTo(position: string | undefined): void {
    if (position === undefined || position === this.#position) return
    this.#position = position
    this.#toldAt = (this.#options.now ?? Date.now)()
  }

  #hear(events: readonly LiveEvent[], position: string): void {
    this.#goTo(position)
    this.#options.onEvents(events, position)
  }

  #tellWanted(scopes: readonly string[] | undefined): void {
    const { tab, channel } = this.#options
    channel?.post({ say: 'wanted', tab, scopes })
    this.#want(tab, scopes)
  }

  #want(tab: string, scopes: readonly string[] | undefined): void {
    if (scopes === undefined) this.#wanted.delete(tab)
    else this.#wanted.set(tab, scopes)
    if (this.#isLeading) this.#followAll()
  }

  #followAll(): void {
    const all = [...new Set([...this.#wanted.values()].flat())].sort()
    // To name no scope is to ask for all; where nobody shows anything, one is named that nothing has.
    const named = all.length === 0 ? [NOTHING] : all
    this.#stream.follow(all.includes('*') || all.length > 40 ? [] : named)
  }

  #receive(message: Message): void {
    if (message.say === 'wanted') this.#want(message.tab, message.scopes)
    else if (message.say === 'who') this.#answerWho()
    else if (this.#isStarted && !this.#isLeading) this.#learn(message)
  }

  #answerWho(): void {
    const { channel, tab } = this.#options
    if (this.#isStarted) channel?.post({ say: 'wanted', tab, scopes: this.#own })
    if (this.#isLeading) channel?.post({ say: 'state', state: this.#state, position: this.#stream.position })
  }

  /** What the tab with the stream tells. */
  #learn(message: Extract<Message, { say: 'events' | 'reset' | 'state' }>): void {
    this.#goTo(message.position)
    if (message.say === 'events') this.#options.onEvents(message.events, message.position)
    else if (message.say === 'reset') this.#options.onReset(message.position)
    else this.#options.onState(message.state)
  }
}
