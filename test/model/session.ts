// Several transactions at once, step by step: each session is one connection that runs one statement at a time, and
// the test learns whether that statement has ended or waits for a lock of another session.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export type Outcome<T> = { readonly value: T } | { readonly error: Error & { code?: string } }

export class Session {
  readonly client: pg.Client
  #pid = 0
  #isOpen = false
  #pending: Promise<unknown> | undefined
  #isDone = true

  constructor(databaseUrl: string) {
    this.client = new pg.Client({ connectionString: databaseUrl })
    this.client.on('error', () => {})
  }

  async connect(): Promise<this> {
    await this.client.connect()
    // Deadlocks are part of the game: the server is to notice them at once.
    const { rows } = await this.client.query(
      `select pg_backend_pid() as pid, set_config('deadlock_timeout', '5ms', false)`,
    )
    this.#pid = rows[0].pid
    return this
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isBusy(): boolean {
    return !this.#isDone
  }

  async begin(): Promise<void> {
    await this.client.query('begin')
    this.#isOpen = true
  }

  /** Commits or rolls back. Answers whether it committed: a transaction that failed is rolled back by the server. */
  async end(how: 'commit' | 'rollback'): Promise<boolean> {
    const { command } = await this.client.query(how)
    this.#isOpen = false
    return command === 'COMMIT'
  }

  /** Starts `body` and answers its promise, which never rejects; `settled` tells whether it waits for a lock. */
  start<T>(body: (client: pg.Client) => Promise<T>): Promise<Outcome<T>> {
    this.#isDone = false
    const pending = body(this.client)
      .then(
        (value): Outcome<T> => ({ value }),
        (error: Error): Outcome<T> => ({ error }),
      )
      .finally(() => {
        this.#isDone = true
      })
    this.#pending = pending
    return pending
  }

  /** Resolves when what was started has ended (true) or waits for a lock (false). */
  async settled(monitor: pg.Client): Promise<boolean> {
    for (let round = 0; !this.#isDone; round += 1) {
      await Promise.race([this.#pending, sleep(round < 3 ? 1 : 3)])
      if (this.#isDone) break
      const { rows } = await monitor.query(`select cardinality(pg_blocking_pids($1)) > 0 as waits`, [this.#pid])
      if (rows[0].waits && !this.#isDone) return false
    }
    return true
  }

  /** Ends whatever is under way without regard to its outcome. */
  async abandon(monitor: pg.Client): Promise<void> {
    while (!this.#isDone) {
      await monitor.query('select pg_cancel_backend($1)', [this.#pid])
      await Promise.race([this.#pending, sleep(5)])
    }
    if (this.#isOpen) await this.end('rollback')
  }

  async close(): Promise<void> {
    await this.client.end()
  }
}

export async function sessions(databaseUrl: string, count: number): Promise<Session[]> {
  return Promise.all(Array.from({ length: count }, () => new Session(databaseUrl).connect()))
}
