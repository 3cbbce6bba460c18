// A revision that is asked for again. The server says which of its tasks that concerns, before and after.
import type { BodyAnswered, routes } from '../api/index.ts'
import type { Context, Server } from './context.ts'
import { confirm } from './prompt.ts'
import { clean, count } from './render/text.ts'

type Revision = { readonly name: string; readonly rev: string }
type Options = {
  readonly only: 'failed' | 'all'
  readonly run?: string
  readonly cause?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}
type Again = BodyAnswered<typeof routes.runs.rerun>['tasks']

const MOST_NAMED = 20

export async function rerunRevision(context: Context, revision: Revision, options: Options): Promise<void> {
  const server = await context.server()
  const send = (more: More) => askAgain(context, server, { revision, options, ...more })
  const isLookedAt = options.dryRun === true || options.yes !== true
  const found = isLookedAt ? await send({ isDryRun: true }) : undefined
  if (options.dryRun) {
    await list(context, found ?? [])
    if (found?.length) context.output.note(`would rerun ${count(found.length, 'task')}; nothing was changed`)
    return
  }
  if (found !== undefined && found.length > 1) await ask(context, found)
  // What ended while the person thought about it was not asked about.
  const again = found?.length === 0 ? found : await send(found === undefined ? {} : { expected: found.length })
  await list(context, again)
  if (again.length > 0) context.output.note(`asked again for ${count(again.length, 'task')}`)
}

type More = { readonly isDryRun?: boolean; readonly expected?: number }
type Asked = More & { readonly revision: Revision; readonly options: Options }

async function askAgain({ signal }: Context, { client, routes }: Server, asked: Asked): Promise<Again> {
  const { revision, expected, isDryRun } = asked
  const { only, run, cause } = asked.options
  const body = {
    only,
    ...(run === undefined ? {} : { run }),
    ...(cause === undefined ? {} : { cause }),
    ...(expected === undefined ? {} : { expected_count: expected }),
  }
  const query = isDryRun ? { query: { dry_run: '1' as const } } : {}
  return (await client.call(routes.runs.rerun, { params: revision, ...query, body }, { signal })).tasks
}

async function ask(context: Context, found: Again): Promise<void> {
  for (const { id, key } of found.slice(0, MOST_NAMED)) context.output.note(`  ${id}  ${clean(key)}`)
  if (found.length > MOST_NAMED) context.output.note(`  … and ${found.length - MOST_NAMED} more`)
  await confirm(context, `rerun these ${found.length} tasks?`, { hasDryRun: true })
}

function list({ output }: Context, tasks: Again): Promise<void> {
  const columns = [
    { title: 'id', of: ({ id }: Again[number]) => id, align: 'right' as const },
    { title: 'task', of: ({ key }: Again[number]) => clean(key), importance: 'name' as const },
  ]
  return output.list(tasks, columns, { id: ({ id }) => id, none: 'nothing to run again' })
}
