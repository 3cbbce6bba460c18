import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { type Counts, countsLine, countTasks } from '../count-tasks.ts'
import { live } from '../live.ts'
import { aDuration } from '../numbers.ts'
import { openAgain } from '../open-again.ts'
import type { Output } from '../output.ts'
import { type Column, table } from '../render/table.ts'
import { clean } from '../render/text.ts'
import { ago, duration } from '../render/time.ts'
import { nameOf, paintState, ranFor, stateText, type TaskSummary } from '../task.ts'

const COUNTED = 100

/** Shows what runs, what is next and what failed, until it is ended. */
export const top: CommandFile = {
  usage: '[--interval DURATION]',
  examples: ['millrace top', 'millrace top --interval 5s --ndjson'],
  prints: 'stream',
  define: (command) => void command.option('--interval <duration>', 'how often it looks', aDuration, 1000),
  async run(context, _, { interval }: { interval: number }) {
    const server = await context.server()
    if (!context.output.isLive) return look(context, server, interval, printChanges(context.output))
    return live(context, ({ draw }) => {
      const { world, output } = context
      const show = async (counts: Counts) =>
        draw(await frameOf(counts, server.connection.url, output, world.stdout.rows ?? 24))
      return look(context, server, interval, show)
    })
  },
}

async function look(
  { signal, output }: Context,
  server: Server,
  intervalMs: number,
  show: (counts: Counts) => void | Promise<void>,
): Promise<void> {
  await openAgain({ signal, output }, async (_, onOpen) => {
    for (;;) {
      const counts = await countTasks(server, COUNTED, signal)
      onOpen()
      await show(counts)
      await sleep(Math.max(intervalMs, 100), undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  })
}

/** One line for each task that came into a state, for whoever reads a pipe. */
function printChanges(output: Output): (counts: Counts) => void {
  let before: ReadonlyMap<string, TaskSummary> = new Map()
  return ({ newest }) => {
    const now = new Map(Object.values(newest).flatMap((tasks) => tasks.map((task) => [task.id, task] as const)))
    for (const [id, task] of now) {
      if (before.get(id)?.state === task.state) continue
      const at = new Date().toISOString()
      output.item({ at, ...task }, () => `${at} ${id} ${paintState(output.style, task.state)}  ${clean(nameOf(task))}`)
    }
    before = now
  }
}

async function frameOf(counts: Counts, url: string, output: Output, rows: number): Promise<string[]> {
  const { style, width } = output
  const { running, ready, failed } = counts.newest
  const columns: Column<TaskSummary>[] = [
    { title: 'id', of: ({ id }) => id, align: 'right' },
    { title: 'state', of: ({ state }) => stateText(state), paint: (text, { state }) => paintState(style, state, text) },
    { title: 'kind', of: ({ kind }) => kind ?? '(milestone)', least: 10 },
    { title: 'name', of: nameOf, least: 12 },
    { title: 'for', of: sinceThen, align: 'right' },
  ]
  const oldest = [...running].reverse()
  const room = Math.max(3, rows - 6)
  const shown = [...oldest, ...failed.slice(0, 5), ...ready.slice(0, 5)].slice(0, room)
  const lines = shown.length === 0 ? [] : ['', ...(await table(shown, columns, { style, width }))]
  return [
    `${style.bold('millrace')} ${url}  ${style.dim(new Date().toLocaleTimeString('en-GB'))}  ${style.dim('q to leave')}`,
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
