import type { BodyAnswered, routes } from '../../api/index.ts'
import type { CommandFile } from '../command.ts'
import type { Server } from '../context.ts'
import { positiveInteger } from '../numbers.ts'
import type { Column } from '../render/table.ts'

type Options = {
  readonly rev?: string
  readonly path?: string
  readonly search?: string
  readonly recursive?: boolean
  readonly limit: number
  readonly all?: boolean
}
type Item = BodyAnswered<typeof routes.archiveIndex.read>['items'][number]
type Asked = { readonly rev?: string; readonly path?: string; readonly q?: string; readonly recursive?: '1' }

const PAGE = 500 // the most that the server gives at once

const columns: readonly Column<Item>[] = [
  { title: 'size', of: ({ size }) => (size === null ? '-' : String(size)), align: 'right' },
  { title: 'changed', of: ({ last_changed }) => (last_changed === null ? '-' : String(last_changed)), align: 'right' },
  { title: 'sha-256', of: ({ sha256 }) => sha256?.slice(0, 12) ?? '-', plain: ({ sha256 }) => sha256 ?? '-' },
  { title: 'path', of: ({ path, kind }) => (kind === 'folder' ? `${path}/` : path), importance: 'key' },
]
const place: Column<Item> = {
  title: 'found',
  of: ({ snippet }) => (snippet === null ? '' : `${snippet.line}: ${snippet.text}`),
  least: 20,
}

/** Lists the files of an archive at a revision, or searches in them. */
export const archiveIndex: CommandFile = {
  usage: 'NAME [--rev REVISION] [--path PATH] [--search WORDS] [--recursive] [--limit NUMBER] [--all]',
  examples: [
    'millrace archive index My-Project --rev 12 --path chapters',
    "millrace archive index My-Project --search 'water mill*' --json=path,snippet",
  ],
  prints: 'list',
  define(command) {
    command
      .argument('<name>', 'the archive')
      .option('--rev <revision>', 'a number, or a commit of git (default: the newest that is indexed)')
      .option('--path <path>', 'a file, or a folder whose contents are listed or searched')
      .option('--search <words>', 'find files with all these words in the path or the text; `word*` matches a prefix')
      .option('--recursive', 'list all files below the folder')
      .option('--limit <number>', 'list at most so many', positiveInteger, 100)
      .option('--all', 'list all')
  },
  async run(context, [name = ''], { rev, path, search, recursive, limit, all }: Options) {
    const { output, signal } = context
    const asked: Asked = {
      ...(rev === undefined ? {} : { rev }),
      ...(path === undefined ? {} : { path }),
      ...(search === undefined ? {} : { q: search }),
      ...(recursive ? { recursive: '1' } : {}),
    }
    const most = all ? Number.POSITIVE_INFINITY : limit
    const { items, number, hasMore } = await readAll(await context.server(), { name, asked, most, signal })
    const shown = search === undefined ? columns : [...columns, place]
    const none = search === undefined ? `revision ${number} has no files` : `not found in revision ${number}`
    await output.list(items, shown, { id: (item) => item.path, none })
    if (hasMore) output.note(`these are the first ${limit}; for more: --limit, or --all`)
  },
}

type Wanted = { readonly name: string; readonly asked: Asked; readonly most: number; readonly signal: AbortSignal }

async function readAll({ client, routes: { archiveIndex } }: Server, { name, asked, most, signal }: Wanted) {
  const items: Item[] = []
  let cursor: string | undefined
  let number: number
  do {
    const limit = Math.min(PAGE, most - items.length)
    const query = { ...asked, limit, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.call(archiveIndex.read, { params: { name }, query }, { signal })
    items.push(...page.items)
    number = page.rev.number
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && items.length < most)
  return { items, number, hasMore: cursor !== undefined }
}
