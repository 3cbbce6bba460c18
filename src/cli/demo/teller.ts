import { setTimeout as sleep } from 'node:timers/promises'
import type { BodyAnswered, routes } from '../../api/index.ts'
import type { Context, Server } from '../context.ts'
import { clean } from '../render/text.ts'

type Revision = BodyAnswered<typeof routes.archives.revision>
export type DemoTask = Revision['tasks'][number]

const LOOK_MS = 250
const PATIENCE_MS = 120_000

/** What was waited for did not happen: the demonstration is broken, not the person. */
export class DemoStuck extends Error {
  readonly code = 'demo_stuck'
  readonly remedy = 'look at the tasks with `millrace ls`, and start the demonstration again: it goes on'
  constructor(what: string) {
    super(`${what} did not happen`)
  }
}

/** Says in plain sentences what becomes of the tasks of an archive. */
export class Teller {
  readonly #context: Context
  readonly #server: Server
  readonly #archive: string
  readonly #known = new Map<string, string>()

  constructor(context: Context, server: Server, archive: string) {
    this.#context = context
    this.#server = server
    this.#archive = archive
  }

  say(text: string): void {
    this.#context.output.item({ text }, () => text)
  }

  /** Waits until the revision is planned and its tasks are as `isEnough` says, and tells what happens meanwhile. */
  async until(what: string, revs: readonly number[], isEnough: (tasks: readonly DemoTask[]) => boolean): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
      const tasks = (await Promise.all(revs.map((rev) => this.#look(rev)))).flat()
      // What has ended made room for what began.
      for (const task of tasks.filter(isOver)) this.#tell(task)
      for (const task of tasks.filter((one) => !isOver(one))) this.#tell(task)
      if (isEnough(tasks)) return
      await sleep(LOOK_MS, undefined, { signal: this.#context.signal })
    }
    throw new DemoStuck(what)
  }

  /** What has happened so far is not news. */
  async catchUp(revs: readonly number[]): Promise<void> {
    for (const rev of revs) for (const { key, state } of await this.#look(rev)) this.#known.set(key, state)
  }

  async #look(rev: number): Promise<readonly DemoTask[]> {
    const { client, routes } = this.#server
    const params = { name: this.#archive, rev }
    try {
      return (await client.call(routes.archives.revision, { params }, { signal: this.#context.signal })).tasks
    } catch (error) {
      // It is not planned yet.
      if ((error as { code?: string }).code === 'revision_not_planned') return []
      throw error
    }
  }

  #tell(task: DemoTask): void {
    const before = this.#known.get(task.key)
    this.#known.set(task.key, task.state)
    const sentence = before === task.state ? undefined : sentenceOf(task)
    if (sentence !== undefined) this.say(`  ${clean(sentence)}`)
  }
}

export const isOver = ({ state }: DemoTask) => ['succeeded', 'failed', 'canceled', 'skipped'].includes(state)

function sentenceOf({ key, name, state, superseded_by: by }: DemoTask): string | undefined {
  if (name === 'COMMIT') return state === 'succeeded' ? `${key}: the revision is planned` : undefined
  if (state === 'running') return `${key} runs`
  if (state === 'succeeded') return `${key} is done`
  if (state === 'failed') return `${key} failed`
  if (state === 'skipped') return `${key} is skipped: what it needs did not succeed`
  if (state === 'canceled')
    return by === null ? `${key} was canceled` : `${key} was stopped: a newer one takes its place`
  return undefined
}
