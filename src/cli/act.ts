// The commands that change tasks. All of them take ids or a filter, show what they would do, ask where that cannot be
// undone, and say of each task what came of it.
import type { Command, Option } from 'commander'
import type { Client, routes } from '../api/index.ts'
import type { CommandFile } from './command.ts'
import type { Context, Server } from './context.ts'
import { exitCodes, UsageError } from './exit.ts'
import { listTasks } from './list-tasks.ts'
import { mapAtOnce } from './map-at-once.ts'
import { requireTask, withOtherVerb } from './other-verb.ts'
import { createProgress } from './progress.ts'
import { confirm } from './prompt.ts'
import { clean, count } from './render/text.ts'
import { ID, nameOf, paintState, refOf, type TaskSummary, taskColumns } from './task.ts'
import { type Acted, type Refusal, tellActed } from './tell-acted.ts'

type Verb = 'retry' | 'rerun' | 'cancel' | 'hold' | 'release' | 'skip' | 'prioritize'

export type Action = {
  readonly verb: Verb
  /** What has happened when it is done: `canceled 3 tasks`. */
  readonly past: string
  /** Work may be lost by it: it is not done unasked. */
  readonly isDestructive: boolean
  /** What to do next, where something is left to do. */
  readonly next: string
  readonly examples: CommandFile['examples']
  /** An option that must be given, and what it adds to the request. */
  readonly needs?: {
    readonly usage: string
    readonly option: Option
    readonly body: (options: Readonly<Record<string, unknown>>) => object
  }
}

type Options = { readonly filter?: string; readonly dryRun?: boolean; readonly yes?: boolean; readonly cause?: string }

const AT_ONCE = 8
// More than a person can have meant: then the filter is too wide, or it takes a program that knows what it does.
const MOST = 100_000

export function actionCommand(action: Action): CommandFile {
  return {
    usage: `[ID...] ${action.needs === undefined ? '' : `${action.needs.usage} `}[--filter FILTER] [--cause TEXT] [--dry-run] [--yes]`,
    examples: action.examples,
    prints: 'list',
    define: (command: Command) => {
      if (action.needs !== undefined) command.addOption(action.needs.option)
      command
        .argument('[id...]', ID)
        .option('--filter <filter>', 'act on all tasks that this search finds: state:failed scope:x')
        .option('--cause <text>', 'reason, kept in the history')
        .option('--dry-run', 'list the tasks and change nothing')
        .option('-y, --yes', 'do not ask')
    },
    run: (context, ids, options: Options) => act(context, action, ids, options),
  }
}

async function act(context: Context, action: Action, ids: readonly string[], options: Options): Promise<number> {
  if (ids.length > 0 === (options.filter !== undefined)) {
    throw new UsageError('say which tasks are meant', 'give their ids, or --filter with a search, and not both')
  }
  for (const id of ids) requireTask(id, action.verb)
  const server = await context.server()
  const mustAsk = !options.yes && (action.isDestructive || ids.length !== 1)
  const refs = [...new Set(ids.map((id) => refOf(id, server.connection.url)))]
  // A single task that is not asked about is acted on as it is named, without being read first.
  const chosen =
    options.dryRun || options.filter !== undefined || mustAsk ? await choose(context, server, refs, options) : undefined
  if (options.dryRun) return listChosen(context, action, chosen ?? [])
  if (chosen?.length === 0) {
    context.output.note('no tasks: nothing to do')
    return exitCodes.done
  }
  if (mustAsk && chosen !== undefined) await ask(context, action, chosen)
  const acted = await actOnAll(context, server, { action, refs: chosen?.map(({ id }) => id) ?? refs, options })
  return tellActed(context.output, action, acted)
}

/** The tasks that are meant, exactly as they will be acted on. */
async function choose(
  context: Context,
  server: Server,
  refs: readonly string[],
  options: Options,
): Promise<TaskSummary[]> {
  const { signal } = context
  if (options.filter === undefined) {
    const read = (id: string) => server.client.call(server.routes.tasks.get, { params: { id } }, { signal })
    const tasks = await mapAtOnce(refs, AT_ONCE, read)
    // A number and a key may name the same one.
    return [...new Map(tasks.map((task) => [task.id, task])).values()]
  }
  const { items, hasMore } = await listTasks(server, { q: options.filter }, { most: MOST, signal })
  if (hasMore) throw new UsageError(`--filter finds more than ${MOST} tasks`, 'make the search narrower')
  return items
}

async function listChosen({ output }: Context, { verb }: Action, chosen: readonly TaskSummary[]): Promise<number> {
  await output.list(chosen, taskColumns(output.style), { id: ({ id }) => id, none: 'no tasks: nothing to do' })
  if (chosen.length > 0) output.note(`would ${verb} ${count(chosen.length, 'task')}; nothing was changed`)
  return exitCodes.done
}

async function ask(context: Context, { verb }: Action, chosen: readonly TaskSummary[]): Promise<void> {
  const { output } = context
  for (const task of chosen.slice(0, 20)) {
    output.note(`  ${task.id} ${paintState(output.errorStyle, task.state)}  ${clean(nameOf(task))}`)
  }
  if (chosen.length > 20) output.note(`  … and ${chosen.length - 20} more`)
  await confirm(context, `${verb} ${chosen.length === 1 ? 'this task' : `these ${chosen.length} tasks`}?`, {
    hasDryRun: true,
  })
}

type Work = { readonly action: Action; readonly refs: readonly string[]; readonly options: Options }

async function actOnAll(
  context: Context,
  { client, routes }: Server,
  { action, refs, options }: Work,
): Promise<Acted[]> {
  const given = { ...action.needs?.body(options), ...(options.cause === undefined ? {} : { cause: options.cause }) }
  const body = Object.keys(given).length === 0 ? {} : { body: given }
  const progress = createProgress(context, refs.length)
  try {
    return await mapAtOnce(refs, AT_ONCE, async (id) => {
      const asked = { verb: action.verb, params: { id }, ...body }
      const acted = await actOnOne(client, routes.tasks[action.verb], asked, context.signal)
      progress.step(`${action.verb} ${refs.length} tasks`)
      return acted
    })
  } catch (error) {
    if (progress.done > 0) context.output.note(`stopped after ${progress.done} of ${refs.length} tasks`)
    throw error
  } finally {
    progress.end()
  }
}

type Asked = { readonly verb: Verb; readonly params: { readonly id: string }; readonly body?: object }

/** A refusal concerns this task alone: the others are still acted on. A server that is gone concerns all. */
async function actOnOne(
  client: Client,
  route: (typeof routes)['tasks'][Verb],
  { verb, ...asked }: Asked,
  signal: AbortSignal,
): Promise<Acted> {
  try {
    const { id, state } = await client.call(route as (typeof routes)['tasks']['cancel'], asked, { signal })
    return { id, state, error: undefined }
  } catch (error) {
    const { status } = error as Refusal
    if (status === undefined || status === 401 || status >= 500) throw error
    return { id: asked.params.id, state: null, error: withOtherVerb(error as Refusal, verb, asked.params.id) }
  }
}
