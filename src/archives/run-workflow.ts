// Runs the tasks of workflow files on this machine, without a server: with the same runner and the same variables, one
// after another, in the folder that the person works in.
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { attend, createContainerRunner, createProcessRunner, type Ending, type Stream } from '../runners/index.ts'
import { UnknownTask } from './definition/errors.ts'
import { COMMIT } from './definition/names.ts'
import type { Definition } from './definition/read-definition.ts'
import type { Dependency, TaskDefinition } from './definition/workflow.ts'
import { findFiles } from './find-files.ts'
import type { ArchiveTask } from './payload.ts'
import { artifactsOf, prepareCommand } from './task-command.ts'
import { SKIPPED } from './task-ending.ts'
import type { Room } from './task-room.ts'

export type AskedRun = {
  /** Where the tasks run. */
  readonly folder: string
  /** These and what they depend on; none: all. */
  readonly tasks: readonly string[]
  readonly archive: string
  readonly rev: number
  /** Also stands for secrets. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly onOutput: (task: string, stream: Stream, bytes: Buffer) => void
  readonly onEnd: (ran: RanTask) => void
}

export type RanTask = {
  readonly name: string
  readonly state: 'succeeded' | 'failed' | 'skipped'
  /** As a shell would say it, for what has none of its own as well; 0 for what was skipped. */
  readonly exitCode: number
  readonly seconds: number
  /** Why it was skipped or failed, unless the exit code says it all. */
  readonly reason: string | null
}

const GRACE_MS = 10_000
const LIMITS = { count: 10_000, bytes: 1024 ** 3 }

/** Runs the tasks; answers what became of each, in order. Throws `UnknownTask`. */
export async function runWorkflow(definition: Definition, asked: AskedRun): Promise<RanTask[]> {
  const order = inOrder(definition, asked.tasks)
  const [processes, containers] = [createProcessRunner(), createContainerRunner()]
  const base = await mkdtemp(join(await realpath(tmpdir()), 'millrace-run-'))
  const ran = new Map<string, RanTask>()
  try {
    for (const task of order) {
      asked.signal.throwIfAborted()
      const room = await makeRoom(join(base, task.name), asked.folder)
      await copyArtifacts(task, order, { room, ran })
      const runner = task.image === null ? processes : containers
      const one = unmet(task, ran) ?? (await runTask(task, asked, { room, runner }))
      ran.set(task.name, one)
      asked.onEnd(one)
    }
  } finally {
    await processes.close()
    await containers.close().catch(() => {})
    await rm(base, { recursive: true, force: true })
  }
  return [...ran.values()]
}

/** What was asked for with what it depends on, each after what it depends on. */
function inOrder({ workflows }: Definition, names: readonly string[]): TaskDefinition[] {
  const all = workflows.flatMap(({ tasks }) => tasks)
  const byName = new Map(all.map((task) => [task.name, task]))
  const order = new Set<TaskDefinition>()
  // The checks of the definition have found no cycle.
  const visit = (task: TaskDefinition) => {
    for (const { name } of task.depends.filter(isHere)) {
      const needed = byName.get(name)
      if (needed !== undefined && !order.has(needed)) visit(needed)
    }
    order.add(task)
  }
  for (const name of names.length > 0 ? names : byName.keys()) {
    const task = byName.get(name)
    if (task === undefined) throw new UnknownTask(name, [...byName.keys()])
    visit(task)
  }
  return [...order]
}

const isHere = ({ name, isPrevious }: Dependency) => !isPrevious && name !== COMMIT

/** The task as skipped when something that it depends on did not end as it asks. */
function unmet({ name, depends, run }: TaskDefinition, ran: ReadonlyMap<string, RanTask>): RanTask | undefined {
  const skip = (reason: string): RanTask => ({ name, state: 'skipped', exitCode: 0, seconds: 0, reason })
  for (const { name: needed, when } of depends.filter(isHere)) {
    const state = ran.get(needed)?.state
    const isMet = state === undefined || when === 'finished' || when === state
    if (!isMet) return skip(`${needed} ${state === 'skipped' ? 'was skipped' : `has not ${when}`}`)
  }
  // What is built in needs a server; those that depend on it go on.
  return run.type === 'uses' ? { ...skip(`"${run.uses}" is done by a server`), state: 'succeeded' } : undefined
}

async function makeRoom(folder: string, path: string): Promise<Room> {
  await mkdir(join(folder, 'tmp'), { recursive: true })
  await mkdir(join(folder, 'artifacts'))
  const nothing = { repository: undefined, workspace: undefined }
  return { ...nothing, path, place: path, folder, [Symbol.asyncDispose]: async () => {} }
}

type Place = { readonly room: Room; readonly ran: ReadonlyMap<string, RanTask> }

/** What its dependencies have left lies in the same folder; it is copied to where a task finds it on a server. */
async function copyArtifacts(
  task: TaskDefinition,
  order: readonly TaskDefinition[],
  { room, ran }: Place,
): Promise<void> {
  const names = new Set(task.depends.filter(isHere).map(({ name }) => name))
  for (const { name, artifacts } of order) {
    if (!names.has(name) || artifacts.length === 0 || ran.get(name)?.state !== 'succeeded') continue
    for (const path of (await findFiles(room.path, artifacts, LIMITS)).paths) {
      const target = join(artifactsOf(room), name, path)
      await mkdir(dirname(target), { recursive: true })
      await cp(join(room.path, path), target)
    }
  }
}

type Means = { readonly room: Room; readonly runner: ReturnType<typeof createProcessRunner> }

async function runTask(task: TaskDefinition, asked: AskedRun, { room, runner }: Means): Promise<RanTask> {
  const { name, image, secrets } = task
  const begun = performance.now()
  const end = (exitCode: number, reason: string | null): RanTask => {
    const state = exitCode === 0 ? 'succeeded' : 'failed'
    return { name, state, exitCode, seconds: (performance.now() - begun) / 1000, reason }
  }
  const missing = secrets.filter((secret) => asked.env[secret] === undefined)
  if (missing.length > 0) return end(1, `secret ${missing.join(', ')} is not given; add --env ${missing[0]}=…`)
  const marker = `millrace-run-${process.pid}.${name}`
  const facts = { work: toWork(task, asked), task: '', room, door: undefined, image, changed: [], secrets: {} }
  const command = await prepareCommand({ ...facts, token: '', url: '', marker, graceMs: GRACE_MS })
  const running = await runner.start(command, { sink: (stream, bytes) => asked.onOutput(name, stream, bytes) })
  const ending = await attend(running, asked.signal, { graceMs: GRACE_MS, outlives: false })
  asked.signal.throwIfAborted()
  const { exitCode, reason } = toExit(ending)
  return end(exitCode, reason)
}

function toWork(task: TaskDefinition, { archive, rev, env }: AskedRun): ArchiveTask {
  const { name, run, image, secrets, artifacts, timeoutSeconds } = task
  const trigger = { type: 'manual', run: 'local', by: 'local', inputs: {} } as const
  const at = { archive, rev: { number: rev, id: String(rev) }, previous: null, workflow: 'local', depth: 0 }
  return { ...at, name, run, image, env: { ...task.env, ...env }, secrets, artifacts, timeoutSeconds, trigger }
}

function toExit(ending: Ending): { readonly exitCode: number; readonly reason: string | null } {
  switch (ending.type) {
    case 'exited':
      return { exitCode: ending.code === SKIPPED ? 0 : ending.code, reason: null }
    case 'signaled':
      return { exitCode: 128 + (constants.signals[ending.signal] ?? 0), reason: `ended by ${ending.signal}` }
    case 'timed_out':
      return { exitCode: 124, reason: `timed out after ${ending.afterMs / 1000} s` }
    case 'spawn_failed':
      return { exitCode: 127, reason: `could not be started: ${ending.reason}` }
    case 'lost':
      return { exitCode: 1, reason: `lost: ${ending.reason}` }
    case 'stopped':
      return { exitCode: 1, reason: 'stopped' }
  }
}
