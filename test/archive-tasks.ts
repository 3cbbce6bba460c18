// Tasks of archives, performed by the real worker on real repositories, without a server.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import type { ArchiveTask, RevisionRef } from '../src/archives/payload.ts'
import { type ArchiveTaskWorker, createArchiveTaskWorker } from '../src/archives/perform-task.ts'
import type { TaskWorkshop } from '../src/archives/task-workshop.ts'
import { type AddOptions, connect, type Dispatcher, type DispatchOptions, type Task } from '../src/engine/index.ts'
import { createProcessRunner } from '../src/runners/index.ts'
import { createSecrets, type Secrets } from '../src/secrets/index.ts'
import { readOutput } from '../src/storage/index.ts'
import { openRepository, type Repository } from '../src/vcs/index.ts'
import { type TestEngine, useEngine } from './engine.ts'
import { waitFor } from './processes.ts'
import { folder, type Ground, type Plain } from './repositories/ground.ts'
import { write } from './repositories/kit.ts'

export const TOKEN = 'the-token-of-the-attempt'

export type Archive = {
  readonly name: string
  readonly plain: Plain
  readonly repository: Repository
  /** Commits files; answers the revision. */
  commit(files: Readonly<Record<string, string>>): Promise<RevisionRef>
}

export type Given = Partial<Omit<ArchiveTask, 'run'>> & {
  /** A script for sh, or the words of a command. */
  readonly run: string | readonly string[]
  readonly options?: AddOptions
}

export type Ended = Task & {
  /** What the last attempt has printed. */
  readonly log: string
}

export type ArchiveTasks = {
  readonly engine: TestEngine
  /** The folder in which the attempts have theirs. */
  readonly scratch: () => string
  readonly secrets: () => Secrets
  /** An archive with one revision, that holds the file `a`. */
  archive(): Promise<Archive>
  workshop(more?: Partial<TaskWorkshop>): TaskWorkshop
  /** Starts to perform tasks. */
  start(
    more?: Partial<TaskWorkshop>,
    options?: DispatchOptions,
  ): Promise<{ readonly worker: ArchiveTaskWorker; readonly dispatcher: Dispatcher }>
  add(archive: Archive, given: Given): Promise<string>
  ended(id: string): Promise<Ended>
  /** Adds a task and waits for its end. */
  run(archive: Archive, given: Given): Promise<Ended>
  log(id: string): Promise<string>
}

const END = new Set(['succeeded', 'failed', 'canceled', 'skipped'])

export function useArchiveTasks(
  makeGround: () => Promise<Ground>,
  defaults: () => Partial<TaskWorkshop> = () => ({}),
): ArchiveTasks {
  const engine = useEngine()
  const archives = new Map<string, Repository>()
  const runner = createProcessRunner()
  let known: ArchiveTaskWorker | undefined
  let ground: Ground
  let place: Awaited<ReturnType<typeof folder>>
  beforeAll(async () => {
    ground = await makeGround()
    place = await folder()
  })
  afterAll(async () => {
    await runner.close()
    await ground[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  })
  const secrets = () => createSecrets({ pool: engine.pool, dataDir: join(place.path, 'data') })
  const workshop: ArchiveTasks['workshop'] = (more = {}) => ({
    pool: engine.pool,
    millrace: engine.millrace,
    repositories: { of: async (name) => archives.get(name) as Repository },
    secrets: secrets(),
    runner,
    scratch: place.path,
    markerPrefix: `millrace-test${process.pid}-`,
    graceMs: 1_000,
    url: async () => 'http://127.0.0.1:1',
    issueToken: () => TOKEN,
    pausesMs: [10],
    ...defaults(),
    ...more,
  })
  const log = async (id: string) => (await readOutput(engine.pool, { task: id, limit: 1 << 20 })).bytes.toString()
  const add: ArchiveTasks['add'] = async (archive, { run, options = {}, ...given }) => {
    const rev = given.rev ?? (await archive.repository.youngest())
    const name = given.name ?? `task-${Math.random().toString(36).slice(2)}`
    const payload: ArchiveTask = {
      archive: archive.name,
      rev,
      previous: null,
      workflow: 'test',
      image: null,
      env: {},
      secrets: [],
      artifacts: [],
      timeoutSeconds: 60,
      trigger: { type: 'commit' },
      depth: 0,
      ...given,
      name,
      run:
        typeof run === 'string'
          ? { type: 'script', script: run, shell: ['sh', '-e'] }
          : { type: 'command', command: run },
    }
    known ??= createArchiveTaskWorker(workshop())
    engine.millrace.define(known)
    const where = { scope: `archive:${archive.name}`, key: `${rev.number}:${name}`, maxAttempts: 1 }
    return (await engine.millrace.add('archive.task', payload, { ...where, ...options })).id
  }
  const ended: ArchiveTasks['ended'] = (id) =>
    waitFor(async () => {
      const task = await engine.millrace.task(id)
      return END.has(task.state) ? { ...task, log: await log(id) } : undefined
    })
  let count = 0
  return {
    engine,
    secrets,
    scratch: () => place.path,
    workshop,
    log,
    add,
    ended,
    async archive() {
      const plain = await ground.create()
      count += 1
      const name = `archive-${count}`
      const repository = openRepository({ ...plain.options, cacheDir: join(place.path, 'cache') })
      archives.set(name, repository)
      const commit: Archive['commit'] = async (files) => {
        await plain.commit(async (copy) => {
          for (const [path, text] of Object.entries(files)) await write(join(copy, path), text)
        }, 'a change')
        return repository.youngest()
      }
      await commit({ a: 'first\n' })
      return { name, plain, repository, commit }
    },
    async start(more, options) {
      // One engine knows one worker of a kind.
      const millrace = await connect({ databaseUrl: engine.databaseUrl })
      const worker = createArchiveTaskWorker(workshop({ millrace, ...more }))
      const dispatcher = millrace.dispatch([worker], { stopSeconds: 0, ...options })
      const stop = async () => {
        await dispatcher.stop()
        await worker.settled()
        await millrace.close()
      }
      onTestFinished(stop)
      await dispatcher.started
      return { worker, dispatcher }
    },
    async run(archive, given) {
      return ended(await add(archive, given))
    },
  }
}

/** What a task's error says and holds. */
export const errorOf = (task: Task) => task.error as { message: string; data?: Record<string, unknown> }

/** A task that was to succeed; its log says why when it did not. */
export function expectSuccess(task: Ended): void {
  expect(task.state, `${task.log}\n${JSON.stringify(task.error)}`).toBe('succeeded')
}
