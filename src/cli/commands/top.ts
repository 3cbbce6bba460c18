import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { type Counts, countsLine } from '../count-tasks.ts'
import { live } from '../live.ts'
import { aDuration } from '../numbers.ts'
import { openAgain } from '../open-again.ts'
import type { Output } from '../output.ts'
import { type Column, table } from '../render/table.ts'
import { clean, count } from '../render/text.ts'
import { ago, duration } from '../render/time.ts'
import { nameOf, paintState, ranFor, stateText, type TaskSummary } from '../task.ts'

const SHOWN = { running: 100, failed: 5, ready: 5, succeeded: 5 } as const
type Shown = keyof typeof SHOWN

/** What there is to see at one moment. */
type Sight = {
  readonly counts: Counts
  readonly workers: number
  /** The newest tasks of each state, those that run without end. */
  readonly tasks: Readonly<Record<Shown, readonly TaskSummary[]>>
}

/** Shows what runs, what is next and what failed, until it is ended. */
export const top: CommandFile = {
  usage: '[--interval DURATION]',
  examples: ['millrace top', 'millrace top --interval 5s --ndjson'],
  prints: 'stream',
  define: (command) => void command.option('--interval <duration>', 'refresh this often (default: 1s)', aDuration),
  async run(context, _, { interval = 1000 }: { interval?: number }) {
    const server = await context.server()
    if (!context.output.isLive) return watchAll(context, server, interval, printChanges(context.output))
    return live(context, ({ draw }) => {
      const { world, output } = context
      const show = async (sight: Sight) =>
        draw(await frameOf(sight, server.connection.url, output, world.stdout.rows ?? 24))
      return watchAll(context, server, interval, show)
    }).catch((error: unknown) => {
      // It has no other end.
      if ((error as { code?: string }).code !== 'left') throw error
    })
  },
}

async function watchAll(
  { signal, output }: Context,
  server: Server,
  intervalMs: number,
  show: (sight: Sight) => void | Promise<void>,
): Promise<void> {
  await openAgain({ signal, output }, async (_, onOpen) => {
    for (;;) {
      const sight = await look(server, signal)
      onOpen()
      await show(sight)
      await sleep(Math.max(intervalMs, 100), undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  })
}

async function look({ client, routes }: Server, signal: AbortSignal): Promise<Sight> {
  const newest = async (state: Shown) =>
    (await client.call(routes.tasks.list, { query: { state, limit: SHOWN[state] } }, { signal })).items
  const [counts, workers, running, failed, ready, succeeded] = await Promise.all([
    client.call(routes.tasks.counts, {}, { signal }),
    client.call(routes.workers.list, {}, { signal }),
    newest('running'),
    newest('failed'),
    newest('ready'),
    newest('succeeded'),
  ])
  return {
    counts: counts.states,
    workers: new Set(workers.items.map(({ name }) => name)).size,
    tasks: { running, failed, ready, succeeded },
  }
}

/** One line for each task that came into a state, for whoever reads a pipe. */
function printChanges(output: Output): (sight: Sight) => void {
  let before: ReadonlyMap<string, TaskSummary> = new Map()
  return ({ tasks }) => {
    const now = new Map(Object.values(tasks).flatMap((some) => some.map((task) => [task.id, task] as const)))
    for (const [id, task] of now) {
      if (before.get(id)?.state === task.state) continue
      const at = new Date().toISOString()
      output.item({ at, ...task }, () => `${at} ${id} ${paintState(output.style, task.state)}  ${clean(nameOf(task))}`)
    }
    before = now
  }
}

async function frameOf(
  { counts, workers, tasks }: Sight,
  url: string,
  output: Output,
  rows: number,
): Promise<string[]> {
  const { style, width } = output
  const columns: Column<TaskSummary>[] = [
    { title: 'id', of: ({ id }) => id, align: 'right' },
    { title: 'state', of: ({ state }) => stateText(state), paint: (text, { state }) => paintState(style, state, text) },
    { title: 'kind', of: ({ kind }) => kind ?? '(milestone)', least: 10 },
    { title: 'name', of: nameOf, importance: 'name' },
    { title: 'since', of: sinceThen, align: 'right' },
  ]
  // What has run longest is what somebody looks for.
  const oldest = tasks.running.toReversed()
  const room = Math.max(3, rows - 6)
  const shown = [...oldest, ...tasks.failed, ...tasks.ready, ...tasks.succeeded].slice(0, room)
  const lines = shown.length === 0 ? [] : ['', ...(await table(shown, columns, { style, width }))]
  const now = new Date().toLocaleTimeString('en-GB')
  return [
    `${style.bold('millrace')} ${url}  ${style.dim(`${count(workers, 'worker')}  ${now}  q to leave`)}`,
    countsLine(counts, style),
    ...lines,
  ]
}

/** How long it has been in its state, as far as a list tells. */
function sinceThen(task: TaskSummary): string {
  if (task.state === 'running') return ranFor(task)
  if (task.finished_at !== null) return ago(task.finished_at)
  return duration(Date.now() - Date.parse(task.created_at))
}
