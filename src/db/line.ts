// A connection that is held for one kind of question: a dispatcher's steps. What a pool does around every query, and
// what the driver does to describe an answer whose shape is known, would be a third of the client's part of a step.
import type pg from 'pg'
import { serialize } from 'pg-protocol'
import { LazyTimer } from './lazy-timer.ts'
import { type Client, type Pool, setPatience } from './pool.ts'
import { isPreparing, prepareWhereDirect } from './prepare.ts'
import type { Question } from './statement.ts'

/** The part of the driver's connection that a prepared statement is sent with. */
type Wire = {
  readonly stream: { write(bytes: Buffer): void; cork(): void; uncork(): void }
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
}

const SHORT_BYTES = 1024
const EXECUTE_AND_SYNC = Buffer.concat([serialize.execute({}), serialize.sync()])

// A server on glibc gives memory back to the system at the end of each transaction and asks for it again with the next, a
// tenth of a short one's time. Once a process has let go of a block of this size, it keeps up to twice as much.
const KEEP_MEMORY = "select octet_length(repeat(repeat(' ', 4000), 1000))"

export class Line {
  readonly #pool: Pool
  #client: Client | undefined
  #isAsking = false
  #isClosed = false
  #asked: { handleError(error: Error): void } | undefined
  /** The driver's own would be made anew for each question. */
  readonly #patience = new LazyTimer(() => {
    const asked = this.#asked
    this.#asked = undefined
    asked?.handleError(new Error('Query read timeout'))
  })
  readonly #hear = (error: Error): void => {
    if (this.#client !== undefined) this.#drop(this.#client, error)
  }

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Whether what is asked on it stays planned. */
  get isPreparing(): boolean {
    return isPreparing(this.#pool)
  }

  /** Finds out whether its pool leads straight to the server, and takes its connection before the first question needs it. */
  async open(): Promise<void> {
    if (this.#client !== undefined) return
    await this.#busy(async () => {
      await prepareWhereDirect(this.#pool)
      await this.#connected()
    })
  }

  /**
   * Asks a question whose answer is one JSON value. `read` may be called before the server has committed, so it must only
   * take the answer apart; the promise resolves after the commit. One question at a time.
   */
  ask<V, T>(question: Question<V>, values: V, read: (answer: unknown) => T): Promise<T> {
    if (this.#client !== undefined && isPreparing(this.#pool))
      return this.#askPrepared(this.#client, question, values, read)
    return this.#busy(() => this.#askFirst(question, values, read))
  }

  async #busy<T>(body: () => Promise<T>): Promise<T> {
    this.#isAsking = true
    try {
      return await body()
    } finally {
      this.#isAsking = false
      if (this.#isClosed) this.close()
    }
  }

  /** On a new connection, or where nothing may be prepared. */
  async #askFirst<V, T>(question: Question<V>, values: V, read: (answer: unknown) => T): Promise<T> {
    const client = this.#client ?? (await this.#connected())
    if (isPreparing(this.#pool)) return this.#askPrepared(client, question, values, read)
    try {
      const text = question.statement.text
      const { rows } = await client.query<[unknown]>({ text, values: question.bind(values), rowMode: 'array' })
      return read(rows[0]?.[0])
    } catch (error) {
      this.#drop(client, error as Error)
      throw error
    }
  }

  /** The way of nearly all questions: one promise and one timer that stays, whatever the number of hops. */
  #askPrepared<V, T>(client: Client, question: Question<V>, values: V, read: (answer: unknown) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const asking = new Asking(question.statement, question.bind(values), read)
      this.#isAsking = true
      asking.callback = (error, answer) => {
        asking.callback = undefined
        this.#asked = undefined
        this.#isAsking = false
        this.#patience.callOff()
        if (error !== null) this.#drop(client, error)
        if (this.#isClosed) this.close()
        if (error === null) resolve(answer as T)
        else reject(error)
      }
      const patienceMs = this.#pool.options.query_timeout
      if (patienceMs) this.#patience.set(patienceMs)
      this.#asked = asking
      try {
        client.query(asking as unknown as pg.Submittable) // as `pg-cursor` does
      } catch (error) {
        asking.handleError(error as Error)
      }
    })
  }

  async #connected(): Promise<Client> {
    const client = await this.#connect()
    try {
      if (isPreparing(this.#pool)) {
        await client.query(KEEP_MEMORY)
        setPatience(client, undefined)
      }
      return client
    } catch (error) {
      this.#drop(client, error as Error)
      throw error
    }
  }

  #connect(): Promise<Client> {
    return new Promise((resolve, reject) => {
      this.#pool.connect((error, client) => {
        if (client === undefined) return reject(error ?? new Error('the pool answered no client'))
        this.#client = client
        // Heard from this very moment on: unheard it would end the process.
        client.on('error', this.#hear)
        return resolve(client)
      })
    })
  }

  /** The next question takes another connection. */
  #drop(client: Client, error?: Error): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.removeListener('error', this.#hear)
    setPatience(client, this.#pool.options.query_timeout)
    client.release(error)
  }

  /** Gives the connection back, once the question that is asked is answered. */
  close(): void {
    this.#isClosed = true
    if (this.#isAsking) return
    this.#patience.close()
    if (this.#client !== undefined) this.#drop(this.#client)
  }
}

/** Arrays and JSON are text already: statements write them. */
const toText = (value: unknown) => (value === null ? null : String(value as string | number | boolean))

/** What the driver asks of something that it submits. */
class Asking<T> {
  readonly name: string
  readonly text: string
  callback: ((error: Error | null, answer?: T) => void) | undefined
  readonly #values: unknown[]
  readonly #read: (answer: unknown) => T
  #answer: T | undefined
  #failure: Error | undefined

  constructor(
    { name, text }: { readonly name: string; readonly text: string },
    values: unknown[],
    read: (answer: unknown) => T,
  ) {
    this.name = name
    this.text = text
    this.#values = values
    this.#read = read
  }

  /** In one piece where that is short: written message by message it takes longer to send. */
  submit(wire: Wire): void {
    const { name, text } = this
    const isKnown = (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined
    const bound = serialize.bind({ statement: name, values: this.#values, valueMapper: toText })
    if (isKnown && bound.length < SHORT_BYTES) {
      wire.stream.write(Buffer.concat([bound, EXECUTE_AND_SYNC]))
      return
    }
    wire.stream.cork()
    if (!isKnown) {
      wire.stream.write(serialize.parse({ name, text }))
      wire.submittedNamedStatements[name] = text
    }
    wire.stream.write(bound)
    wire.stream.write(EXECUTE_AND_SYNC)
    wire.stream.uncork()
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#answer = this.#read(JSON.parse(fields[0] ?? 'null'))
    } catch (error) {
      this.#failure = error as Error
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback?.(error)
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.callback?.(null, this.#answer as T)
    else this.callback?.(this.#failure)
  }
}
