import { type Client, LONG_MS, type Pool, transaction, unhurried } from '../db/index.ts'
import type { Content, Entry, Repository, Revision } from '../vcs/index.ts'
import { addTexts, findStaged, findTexts, stageFiles, stageGone } from './index-build.sql.ts'
import type { Touched } from './index-gather.ts'
import { TEXT_BYTES, textOf, wordsOf } from './index-words.ts'

const FILES = 500 // of one batch: a transaction of some milliseconds
const HEAD_BYTES = 8 * 1024 * 1024 // of one batch, in memory
const LONGEST_PATH = 2048 // bytes: what an index of the database can order, with the numbers beside it

export type Staging = {
  readonly pool: Pool
  readonly repository: Repository
  readonly build: string
  readonly revision: Revision
  readonly touched: Touched
  readonly signal: AbortSignal
}

export type Staged = { readonly files: number; readonly leftOut: number }

/**
 * Reads from the repository what was touched and stages it, batch by batch. An attempt that goes on after another one
 * reads only what is not staged yet.
 */
export async function stage(at: Staging): Promise<Staged> {
  const counts = { files: 0, leftOut: 0 }
  const { touched, revision, repository } = at
  const paths = [...touched.paths, ...touched.trees]
  const known = paths.filter(isIndexable)
  counts.leftOut += paths.length - known.length
  const entries = touched.isWhole ? wholeTree(at) : touchedEntries(at, known)
  const contents = repository.contents(unstaged(at, entries, counts), revision, { headBytes: TEXT_BYTES })
  for await (const batch of inBatches(contents)) {
    at.signal.throwIfAborted()
    await stageBatch(at, batch)
    counts.files += batch.length
  }
  return counts
}

async function* wholeTree(at: Staging): AsyncGenerator<Entry, void> {
  await stageGone(unhurried(at.pool), { build: at.build, paths: [''], trees: [true] })
  yield* at.repository.list('', at.revision, { recursive: true })
}

async function* touchedEntries(at: Staging, paths: readonly string[]): AsyncGenerator<Entry, void> {
  const { trees } = at.touched
  const gone = new Set(paths)
  const folders: string[] = []
  const files: Entry[] = []
  for await (const entry of at.repository.find(paths, at.revision)) {
    if (entry.kind === 'folder') {
      if (trees.has(entry.path)) folders.push(entry.path)
      continue
    }
    gone.delete(entry.path)
    files.push(entry)
  }
  const missing = [...gone]
  await stageGone(unhurried(at.pool), {
    build: at.build,
    paths: missing,
    trees: missing.map((path) => trees.has(path)),
  })
  yield* files
  for (const folder of folders) yield* at.repository.list(folder, at.revision, { recursive: true })
}

/** Longer paths cannot be ordered, and what is not UTF-8 has no name that could be shown or asked for. */
function isIndexable(path: string): boolean {
  return !path.includes('\ufffd') && (path.length * 3 <= LONGEST_PATH || Buffer.byteLength(path) <= LONGEST_PATH)
}

/** The entries that an attempt before has not staged. */
async function* unstaged(at: Staging, entries: AsyncIterable<Entry>, counts: { files: number; leftOut: number }) {
  let piece: Entry[] = []
  const rest = async () => {
    const staged = await findStaged(at.pool, { build: at.build, paths: piece.map(({ path }) => path) })
    const known = new Set(staged.map(({ path }) => path))
    counts.files += known.size
    const left = piece.filter(({ path }) => !known.has(path))
    piece = []
    return left
  }
  for await (const entry of entries) {
    if (entry.kind === 'folder') continue
    if (!isIndexable(entry.path)) {
      counts.leftOut += 1
      continue
    }
    piece.push(entry)
    if (piece.length >= FILES) yield* await rest()
  }
  yield* await rest()
}

async function* inBatches(contents: AsyncIterable<Content>): AsyncGenerator<Content[], void> {
  let batch: Content[] = []
  let bytes = 0
  for await (const content of contents) {
    batch.push(content)
    bytes += content.head.length
    if (batch.length < FILES && bytes < HEAD_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

async function stageBatch({ pool, build, revision, touched }: Staging, batch: readonly Content[]): Promise<void> {
  const written = await newTexts(pool, batch)
  const work = async (tx: Client) => {
    if (written.length > 0) {
      await addTexts(tx, {
        digests: written.map(({ digest }) => digest),
        cuts: written.map(({ isCut }) => isCut),
        texts: written.map(({ text }) => text),
        words: written.map(({ text }) => [...wordsOf(text)].join(' ')),
      })
    }
    await stageFiles(tx, {
      build,
      paths: batch.map(({ path }) => path),
      kinds: batch.map(({ kind }) => kind),
      trees: batch.map(({ path }) => touched.trees.has(path)),
      sizes: batch.map(({ size }) => (size === undefined ? null : String(size))),
      digests: batch.map(({ digest }) => digest ?? null),
      changed: batch.map(({ path, lastChanged }) => {
        const number = lastChanged ?? touched.lastChanged(path)
        return number === null ? null : String(number ?? revision.number)
      }),
      properties: batch.map(({ properties }) => storable(properties)),
      words: batch.map(({ path }) => [...wordsOf(path)].join(' ')),
    })
  }
  await transaction(pool, work, { statementMs: LONG_MS })
}

/** Values of properties may be any bytes; the database takes no U+0000. */
const storable = (properties: Readonly<Record<string, string>>) =>
  JSON.stringify(properties, (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value,
  )

/** The texts in the batch that the database does not have, each once. */
async function newTexts(pool: Pool, batch: readonly Content[]) {
  const files = new Map<string, Content & { digest: Buffer }>()
  for (const content of batch) {
    const { kind, digest, size = 0 } = content
    if (kind === 'file' && digest && size > 0) files.set(digest.toString('hex'), { ...content, digest })
  }
  const known = await findTexts(pool, { digests: [...files.values()].map(({ digest }) => digest) })
  for (const { digest } of known) files.delete(digest.toString('hex'))
  return [...files.values()].flatMap(({ digest, head, size = 0 }) => {
    const text = textOf(head)
    return text === undefined ? [] : [{ digest, text, isCut: size > head.length }]
  })
}
