import type { CommandFile } from '../command.ts'
import type { Output } from '../output.ts'
import { clean, cleanLines } from '../render/text.ts'
import { ago, duration } from '../render/time.ts'
import { type Twig, tree } from '../render/tree.ts'
import { describeRevision, revisionOf } from '../revision.ts'
import { ID, nameOf, paintState, ranFor, refOf, type Task } from '../task.ts'

/** Shows a task with its neighbours, its attempts and why it stands where it stands; or a revision of an archive. */
export const show: CommandFile = {
  usage: 'ID',
  examples: ['millrace show My-Project@12', 'millrace show My-Project@12:index --json'],
  prints: 'one',
  define: (command) => void command.argument('<id>', ID),
  async run({ output, server }, [id = '']) {
    const { client, routes, connection } = await server()
    const revision = revisionOf(id)
    if (revision !== undefined) {
      const shown = await client.call(routes.archives.revision, { params: revision })
      return output.one(shown, () => describeRevision(revision.name, shown, output))
    }
    const task = await client.call(routes.tasks.get, { params: { id: refOf(id, connection.url) } })
    output.one(task, () => describeTask(task, output))
  },
}

function describeTask(task: Task, { style }: Output): string[] {
  const pairs: [string, string | null][] = [
    ['kind', task.kind ?? '(milestone)'],
    ['queue', task.queue],
    ['why', task.why === task.state ? null : task.why],
    ['created', `${ago(task.created_at)}${task.created_by === null ? '' : ` by ${task.created_by}`}`],
    ['added by', task.creator === null ? null : `task ${task.creator}`],
    ['not before', task.not_before],
    ['started', task.started_at === null ? null : ago(task.started_at)],
    ['ran', task.started_at === null ? null : ranFor(task)],
    ['worker', task.worker],
    ['superseded by', task.superseded_by === null ? null : `task ${task.superseded_by}`],
    ['held by', task.held_by],
    ['priority', task.priority === 0 ? null : String(task.priority)],
    ['payload', compact(task.payload)],
    ['output', compact(task.output)],
  ]
  return [
    `${style.bold(`task ${task.id}`)}  ${clean(nameOf(task))}  ${paintState(style, task.state)}`,
    ...pairs.flatMap(([name, value]) => (value === null ? [] : [`  ${style.dim(name.padEnd(13))} ${clean(value)}`])),
    ...block('error', errorLines(task.error), style.red),
    ...block('waits for', tree(task.requirements.map((one) => neighbour(one, style)))),
    ...block('waited for by', tree(task.dependents.map((one) => neighbour(one, style)))),
    ...block('attempts', tree(task.attempts.map((one) => attempt(one)))),
  ]
}

function block(title: string, lines: readonly string[], paint = (text: string) => text): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${paint(line)}`)]
}

const compact = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))

type Neighbour = Task['dependents'][number]

const neighbour = (one: Neighbour, style: Output['style']): Twig => ({
  label: `${one.id} ${paintState(style, one.state)}  ${clean(nameOf(one))}${one.when === 'succeeded' ? '' : ` (until ${one.when})`}`,
  below: [],
})

function attempt({ number, started_at, ended_at, outcome, worker, error }: Task['attempts'][number]): Twig {
  const ran =
    started_at === null ? '' : ` ${duration((ended_at ? Date.parse(ended_at) : Date.now()) - Date.parse(started_at))}`
  const where = worker === null ? '' : ` on ${clean(worker)}`
  const below = errorLines(error).map((label) => ({ label, below: [] }))
  return { label: `${number} ${outcome ?? 'under way'}${ran}${where}`, below }
}

/** The message of an error as it was stored, without its stack. */
function errorLines(error: unknown): string[] {
  if (error === null || error === undefined) return []
  const { message } = error as { message?: unknown }
  return cleanLines(typeof message === 'string' ? message : JSON.stringify(error)).slice(0, 20)
}
