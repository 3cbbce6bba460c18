// What goes on while the database goes away: commands of nodes, tasks of library programs, requests that add more.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { shell } from '../nodes.ts'
import { waitFor } from '../processes.ts'
import { ADMIN } from '../server.ts'
import type { Fleet } from './outage-fleet.ts'

/** A server answers each request within this time, whatever the database does. */
export const REQUEST_LIMIT_SECONDS = 30
/** After that the client gives a request up. */
const GIVEN_UP_SECONDS = REQUEST_LIMIT_SECONDS + 5
const PAUSE_MS = 250

export type Asked = { readonly seconds: number; readonly status: number | undefined }

/** What a command has written into its file. */
export const linesIn = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []

export class Work {
  /** The files of acknowledged nodes by the tasks of these. */
  readonly nodes = new Map<string, string>()
  /** Acknowledged tasks of the library. */
  readonly tasks = new Set<string>()
  readonly requests: Asked[] = []
  readonly #fleet: Fleet
  #isOver = true
  #adding: Promise<unknown> = Promise.resolve()

  constructor(fleet: Fleet) {
    this.#fleet = fleet
  }

  /** Adds short work, at every server and without one, until `stop`. */
  start(): void {
    this.#isOver = false
    const { servers } = this.#fleet
    this.#adding = Promise.all([
      ...servers.map((_, i) => this.#repeat(() => this.#addNode(Math.random() * 1.5, i))),
      this.#repeat(() => this.#addTask(Math.random() * 1.5)),
    ])
  }

  /** Resolves when everything that was begun to be added is acknowledged. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#adding
  }

  /** Adds a node at each server and two tasks for every duration, and waits until all of them have begun. */
  async begin(durations: readonly number[]): Promise<void> {
    const { servers } = this.#fleet
    const nodes = durations.flatMap((seconds) => servers.map((_, i) => this.#addNode(seconds, i)))
    const tasks = [...durations, ...durations].map((seconds) => this.#addTask(seconds))
    for (const file of await Promise.all(nodes)) await waitFor(() => linesIn(file)[0])
    for (const task of await Promise.all(tasks)) await waitFor(() => (this.timesBegun(task) > 0 ? true : undefined))
  }

  timesBegun(task: string): number {
    const said = this.#fleet.libraries.flatMap(({ program }) => program.stdout().split('\n'))
    return said.filter((line) => line === `begun ${task}`).length
  }

  async #repeat(add: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) {
      await add()
      await sleep(2 * PAUSE_MS)
    }
  }

  /** Asks one server after the other under the same key until one has acknowledged it. Returns the command's file. */
  async #addNode(seconds: number, first: number): Promise<string> {
    const { servers, folder } = this.#fleet
    const key = randomUUID()
    const file = join(folder, key)
    const body = JSON.stringify([shell(`echo begun >> ${file}; sleep ${seconds}; echo ended >> ${file}`)])
    for (let turn = first; ; turn += 1) {
      const task = await this.#post(`${servers[turn % servers.length]?.url}/v1/nodes`, { key, body })
      if (task !== undefined) {
        this.nodes.set(task, file)
        return file
      }
      await sleep(PAUSE_MS)
    }
  }

  async #post(url: string, { key, body }: { key: string; body: string }): Promise<string | undefined> {
    const asked = performance.now()
    const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json', 'idempotency-key': key }
    const signal = AbortSignal.timeout(GIVEN_UP_SECONDS * 1000)
    const reply = await fetch(url, { method: 'POST', headers, body, signal })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => undefined)
    this.requests.push({ seconds: (performance.now() - asked) / 1000, status: reply?.status })
    if (reply?.status !== 201) return undefined
    return (JSON.parse(reply.text) as { metadata: { task: string } }[])[0]?.metadata.task
  }

  async #addTask(seconds: number): Promise<string> {
    for (;;) {
      const added = await this.#fleet.millrace.add('crash.timed', { ms: seconds * 1000 }).catch(() => undefined)
      if (added !== undefined) {
        this.tasks.add(added.id)
        return added.id
      }
      await sleep(PAUSE_MS)
    }
  }
}
