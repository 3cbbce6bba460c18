import { Option } from 'commander'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { TimedOut } from '../exit.ts'
import { createLookAgain } from '../look-again.ts'
import { mapAtOnce } from '../map-at-once.ts'
import { aDuration } from '../numbers.ts'
import { openAgain } from '../open-again.ts'
import { clean, count } from '../render/text.ts'
import { duration } from '../render/time.ts'
import { exitOfTasks, ID, isFinal, paintState, refOf, type Task, type TaskState, taskStates } from '../task.ts'
import { createWaitingLine } from '../waiting-line.ts'
import { withTimeout } from '../with-timeout.ts'

type Options = { readonly for: 'done' | TaskState; readonly timeout?: number }

/** Waits for tasks; the exit code says how they ended. */
export const wait: CommandFile = {
  usage: 'ID... [--for STATE] [--timeout DURATION]',
  examples: ['millrace wait 118 119 --timeout 10m', 'millrace wait My-Project@12:index --for running'],
  prints: 'list',
  define(command) {
    command
      .argument('<id...>', ID)
      .addOption(
        new Option('--for <state>', 'wait for this state; `done` is any end')
          .choices(['done', ...taskStates])
          .default('done'),
      )
      .option('--timeout <duration>', 'wait at most this long: 90s, 10m, 2h', aDuration)
  },
  async run(context, ids, options: Options) {
    const server = await context.server()
    const refs = [...new Set(ids.map((id) => refOf(id, server.connection.url)))]
    const tasks = await waitFor(context, server, refs, options)
    if (context.output.format !== 'text') {
      await context.output.list(
        tasks.map(({ id, state }) => ({ id, state })),
        [
          { title: 'id', of: ({ id }) => id, importance: 'key' },
          { title: 'state', of: ({ state }) => state },
        ],
        { id: ({ id }) => id, none: '' },
      )
    }
    const reached = tasks.map((task) => (hasReached(task, options.for) ? 'succeeded' : task.state))
    return exitOfTasks(options.for === 'done' ? tasks.map(({ state }) => state) : reached)
  },
}

async function waitFor(context: Context, server: Server, refs: readonly string[], options: Options): Promise<Task[]> {
  const { client, routes } = server
  const { output } = context
  const line = createWaitingLine(context)
  const ended = new Map<string, Task>()
  const begun = Date.now()
  const seen = new Map<string, Task>()
  const late = () => {
    const open = [...seen].filter(([ref]) => !ended.has(ref)).map(([, task]) => task)
    const each = open.map(({ id, state, why }) => `${id} is ${state} (${clean(why)})`)
    const what = `${refs.length - ended.size} of ${refs.length} are not there`
    return new TimedOut(`after ${duration(Date.now() - begun)} ${what}: ${each.join(', ')}`)
  }
  using limited = withTimeout(context.signal, options.timeout, late)
  const { signal } = limited
  using again = createLookAgain(context, server, refs)
  await openAgain({ output, signal }, async (_, onOpen) => {
    for (;;) {
      const open = refs.filter((ref) => !ended.has(ref))
      const tasks = await mapAtOnce(open, 8, (id) => client.call(routes.tasks.get, { params: { id } }, { signal }))
      onOpen()
      for (const [at, task] of tasks.entries()) {
        const ref = open[at] ?? task.id
        seen.set(ref, task)
        if (!isFinal(task.state) && !hasReached(task, options.for)) continue
        ended.set(ref, task)
        line.clear()
        if (output.format === 'text') output.line(`${task.id} ${paintState(output.style, task.state)}`)
      }
      if (ended.size === refs.length) return
      line.say(count(refs.length - ended.size, 'task'))
      await again.wait(signal)
    }
  }).finally(() => line.clear())
  return refs.flatMap((ref) => ended.get(ref) ?? [])
}

/** Whether the task is in the state, or was: one that runs may have ended between two looks. */
function hasReached({ state, started_at, ready_at }: Task, wanted: Options['for']): boolean {
  if (wanted === 'done') return isFinal(state)
  if (wanted === 'running') return state === 'running' || started_at !== null
  if (wanted === 'ready') return state === 'ready' || ready_at !== null || started_at !== null
  return state === wanted
}
