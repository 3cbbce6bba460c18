import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { type EventFilter, followEvents, type TaskEvent } from '../event-stream.ts'
import { UsageError } from '../exit.ts'
import { positiveInteger } from '../numbers.ts'
import type { Output } from '../output.ts'
import { clean } from '../render/text.ts'
import { ID, nameOf, paintState, refOf, type TaskState } from '../task.ts'

type Options = Omit<EventFilter, 'task'> & { readonly follow?: boolean; readonly limit: number }

/** Prints what happens to tasks: as it happens, as far back as it is kept, or the whole story of one. */
export const events: CommandFile = {
  usage: '[ID] [-f] [--scope SCOPE] [--topics NAMES] [--after POSITION] [--limit NUMBER]',
  examples: ["millrace events --follow --scope 'archive:*'", 'millrace events My-Project@12:index --ndjson'],
  prints: 'stream',
  define(command) {
    command
      .argument('[id]', ID)
      .option('-f, --follow', 'follow new events')
      .option('--scope <scope>', 'print only this scope; `scope*` matches a prefix')
      .option('--topics <names>', 'print only events with these names, separated by commas')
      .option('--after <position>', 'start after this event; `oldest` starts with the first that is kept')
      .option('--limit <number>', 'print at most so many, without --follow', positiveInteger, 100)
  },
  async run(context, [id], { follow, limit, scope, topics, after }: Options) {
    const server = await context.server()
    const ref = id === undefined ? undefined : refOf(id, server.connection.url)
    const given = Object.entries({ scope, topics, after, task: ref }).filter(([, value]) => value !== undefined)
    const filter: EventFilter = Object.fromEntries(given)
    if (follow) return hear(context, server, filter)
    if (ref === undefined) return printPage(context, server, filter, limit)
    if (given.length > 1) {
      throw new UsageError('the story of one task is told whole', 'leave --scope, --topics and --after out, or add -f')
    }
    return tellStory(context, server, ref)
  },
}

async function hear(context: Context, server: Server, filter: EventFilter): Promise<void> {
  const { output } = context
  await followEvents(context, server, filter, {
    onEvent: (event) => output.item(event, () => lineOf(event, output)),
    onReset: () => output.note('some events were missed: they are no longer kept'),
  })
}

async function printPage(context: Context, server: Server, filter: EventFilter, limit: number): Promise<void> {
  const { output, signal } = context
  const { client, routes } = server
  const headers = { accept: 'application/json' }
  let left = limit
  for (let after = filter.after; left > 0; ) {
    const query = { ...filter, limit: Math.min(left, 1000), ...(after === undefined ? {} : { after }) }
    const page = (await client.call(routes.events.stream, { query }, { signal, headers })) as Page
    for (const event of page.items) output.item(event, () => lineOf(event, output))
    left -= page.items.length
    if (page.next_cursor === null) return
    after = page.next_cursor
    if (left <= 0) output.note(`there are more: --after ${after}, or a higher --limit`)
  }
}

type Page = { readonly items: readonly TaskEvent[]; readonly next_cursor: string | null }

async function tellStory({ output, signal }: Context, { client, routes }: Server, id: string): Promise<void> {
  const { items } = await client.call(routes.tasks.events, { params: { id } }, { signal })
  for (const item of items) {
    output.item(item, () => sentence({ ...item, by: item.actor ?? item.worker }, output))
  }
}

const lineOf = (event: TaskEvent, output: Output): string => {
  const about = event.task === null ? clean(event.scope) : `${event.task} ${clean(nameOf(event))}`
  return sentence({ ...event, about, by: event.actor }, output)
}

type Told = {
  readonly at: string
  readonly name: string
  readonly to: TaskState | null
  readonly cause: string | null
  readonly by: string | null
  readonly about?: string
}

function sentence({ at, name, to, cause, by, about }: Told, { style }: Output): string {
  const parts = [
    style.dim(at),
    about === undefined ? '' : about,
    to === null ? clean(name) : paintState(style, to, clean(name)),
    by === null ? '' : `by ${clean(by)}`,
    cause === null ? '' : style.dim(clean(cause)),
  ]
  return parts.filter(Boolean).join('  ')
}
