import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { live } from '../live.ts'
import { createLookAgain } from '../look-again.ts'
import { mapAtOnce } from '../map-at-once.ts'
import { openAgain } from '../open-again.ts'
import type { Output } from '../output.ts'
import { clean } from '../render/text.ts'
import { type Twig, tree } from '../render/tree.ts'
import { exitOfTasks, ID, isFinal, nameOf, paintState, ranFor, refOf, stateAndWhy, type Task } from '../task.ts'

const MOST_SHOWN = 10

/** Shows tasks as they change, with what they wait for, until all have ended; the exit code says how. */
export const watch: CommandFile = {
  usage: 'ID...',
  examples: ['millrace watch 118', 'millrace watch 118 119 --ndjson'],
  prints: 'stream',
  define: (command) => void command.argument('<id...>', ID),
  async run(context, ids) {
    const server = await context.server()
    const refs = [...new Set(ids.map((id) => refOf(id, server.connection.url)))]
    const tasks = context.output.isLive
      ? await live(context, ({ draw }) => look(context, server, refs, (found) => draw(frameOf(found, context.output))))
      : await look(context, server, refs, printChanges(context.output))
    return exitOfTasks(tasks.map(({ state }) => state))
  },
}

/** Looks at the tasks again and again until all have ended. */
async function look(
  context: Context,
  server: Server,
  refs: readonly string[],
  show: (tasks: readonly Task[]) => void | Promise<void>,
): Promise<readonly Task[]> {
  const { client, routes } = server
  const { signal, output } = context
  using again = createLookAgain(context, server, refs)
  let tasks: readonly Task[] = []
  await openAgain({ signal, output }, async (_, onOpen) => {
    for (;;) {
      tasks = await mapAtOnce(refs, 8, (id) => client.call(routes.tasks.get, { params: { id } }, { signal }))
      onOpen()
      await show(tasks)
      if (tasks.every(({ state }) => isFinal(state))) return
      await again.wait(signal)
    }
  })
  return tasks
}

/** One line for each change, for whoever reads a pipe. */
function printChanges(output: Output): (tasks: readonly Task[]) => void {
  const before = new Map<string, string>()
  return (tasks) => {
    for (const task of tasks) {
      const { id, state, why } = task
      const now = `${state} ${why}`
      if (before.get(id) === now) continue
      before.set(id, now)
      const at = new Date().toISOString()
      output.item({ at, id, state, why }, () => `${at} ${id} ${stateAndWhy(output.style, task)}`)
    }
  }
}

function frameOf(tasks: readonly Task[], output: Output): string[] {
  const { style } = output
  return tasks.flatMap((task) => {
    const ran = task.started_at === null ? '' : `  ${style.dim(ranFor(task))}`
    const open = task.requirements.filter(({ is_met }) => !is_met)
    const twigs: Twig[] = open.slice(0, MOST_SHOWN).map((one) => ({
      label: `${one.id} ${paintState(style, one.state)}  ${clean(nameOf(one))}`,
      below: [],
    }))
    if (task.unmet > twigs.length && twigs.length > 0)
      twigs.push({ label: `… ${task.unmet - twigs.length} more`, below: [] })
    return [
      `${style.bold(task.id)} ${paintState(style, task.state)}  ${clean(nameOf(task))}${ran}`,
      ...(task.why === task.state ? [] : [`  ${style.dim(clean(task.why))}`]),
      ...tree(twigs).map((line) => `  ${line}`),
    ]
  })
}
