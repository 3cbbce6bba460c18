import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, normalize, resolve, sep } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { routes as apiRoutes, BodyAnswered } from '../../api/index.ts'
import type { CommandFile } from '../command.ts'
import type { Context, Server } from '../context.ts'
import { UsageError } from '../exit.ts'
import { clean, count } from '../render/text.ts'
import { ID, refOf } from '../task.ts'

type Artifact = BodyAnswered<(typeof apiRoutes)['artifacts']['list']>['items'][number]
type Options = { readonly get?: boolean; readonly to: string; readonly force?: boolean }

/** Lists the files that a task has left behind, or fetches them. */
export const artifacts: CommandFile = {
  usage: 'ID [PATH...] [--get] [--to FOLDER] [--force]',
  examples: ['millrace artifacts My-Project@12:build-PDF', 'millrace artifacts 118 out/book.pdf --get --to /tmp'],
  prints: 'list',
  define(command) {
    command
      .argument('<id>', ID)
      .argument('[path...]', 'files to list or fetch (default: all)')
      .option('--get', 'fetch the files')
      .option('--to <folder>', 'folder to fetch into', '.')
      .option('--force', 'replace existing files')
  },
  async run(context, [id = '', ...paths], options: Options) {
    const server = await context.server()
    const task = refOf(id, server.connection.url)
    const all = await listAll(context, server, task)
    const missing = paths.filter((path) => !all.some((one) => one.path === path))
    if (missing.length > 0)
      throw new UsageError(
        `task ${id} has left no ${missing.join(', ')} behind`,
        `look with \`millrace artifacts ${id}\``,
      )
    const chosen = paths.length === 0 ? all : all.filter(({ path }) => paths.includes(path))
    if (options.get) await fetchAll(context, server, { task, chosen, ...options })
    await context.output.list(
      chosen,
      [
        { title: 'path', of: ({ path }) => clean(path), importance: 'key' },
        { title: 'bytes', of: ({ size }) => String(size), align: 'right' },
        { title: 'sha256', of: ({ sha256 }) => sha256.slice(0, 12), plain: ({ sha256 }) => sha256 },
      ],
      { id: ({ path }) => path, none: 'no artifacts' },
    )
    if (options.get) context.output.note(`fetched ${count(chosen.length, 'file')} into ${options.to}`)
  },
}

async function listAll({ signal }: Context, { client, routes }: Server, id: string): Promise<Artifact[]> {
  const items: Artifact[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.call(routes.artifacts.list, { params: { id }, query }, { signal })
    items.push(...page.items)
    cursor = page.next_cursor
  }
  return items
}

type Fetching = Options & { readonly task: string; readonly chosen: readonly Artifact[] }

async function fetchAll(context: Context, server: Server, { task, chosen, to, force }: Fetching): Promise<void> {
  const folder = resolve(context.world.workingDirectory ?? process.cwd(), to)
  const files = chosen.map((artifact) => ({ artifact, file: within(folder, artifact.path) }))
  for (const { file } of force ? [] : files) {
    const isThere = await stat(file).catch(() => undefined)
    if (isThere) throw new UsageError(`${file} is there already`, 'add --force, or choose another folder with --to')
  }
  for (const { artifact, file } of files) await fetchOne(context, server, { task, artifact, file })
}

/** A server that is not to be trusted could send a path that leads elsewhere. */
function within(folder: string, path: string): string {
  const file = normalize(join(folder, path))
  if (file.startsWith(folder === sep ? sep : folder + sep)) return file
  throw new UsageError(`"${path}" leads out of the folder`, 'fetch the other files by their names')
}

/** The file appears when it is whole, and what it should be. */
async function fetchOne(
  { signal }: Context,
  { client, routes }: Server,
  of: { task: string; artifact: Artifact; file: string },
): Promise<void> {
  const { task, artifact, file } = of
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}.part`
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform(bytes: Buffer, _, done) {
      hash.update(bytes)
      done(null, bytes)
    },
  })
  try {
    const answer = await client.open(routes.artifacts.get, { params: { id: task, path: artifact.path } }, { signal })
    const body = answer.body === null ? Readable.from([]) : Readable.from(answer.body)
    await pipeline(body, hashing, createWriteStream(draft, { mode: artifact.executable ? 0o777 : 0o666 }), { signal })
    if (hash.digest('hex') !== artifact.sha256)
      throw new Error(`${artifact.path} arrived damaged, or was replaced meanwhile`)
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}
