import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { type IndexedItem, readIndex } from '../src/archives/index-read.ts'
import { createArchiveIndexWorker } from '../src/archives/index-worker.ts'
import type { Pool } from '../src/db/index.ts'
import type { AnyWorker } from '../src/engine/index.ts'
import { collect, type Repository, type Revision } from '../src/vcs/index.ts'
import type { TestEngine } from './engine.ts'
import { waitFor } from './processes.ts'

export type IndexedArchive = {
  readonly name: string
  readonly worker: AnyWorker
  /** Indexes a revision, as a task of its own, and answers what it left. */
  index(rev: number | Revision): Promise<{ id: string; output: unknown }>
  add(rev: number | Revision): Promise<string>
  /** All files that the index has at a revision, in order. */
  files(number: number): Promise<Shown[]>
}

export type Shown = Omit<IndexedItem, 'snippet' | 'next'>

let count = 0
const opened = new Map<string, Repository>()
const workers = new WeakMap<TestEngine, AnyWorker>()

/** An engine knows one worker of a kind: it serves all archives of the test file. */
function workerOf(engine: TestEngine): AnyWorker {
  const of = async (name: string) => opened.get(name) as Repository
  const worker = workers.get(engine) ?? createArchiveIndexWorker({ pool: engine.pool, repositories: { of } })
  workers.set(engine, worker)
  return worker
}

/** An archive on the repository whose revisions are indexed when told to. */
export async function anArchive(engine: TestEngine, repository: Repository): Promise<IndexedArchive> {
  count += 1
  const name = `archive-${count}`
  await insertArchive(engine.pool, name)
  opened.set(name, repository)
  const worker = workerOf(engine)
  const add = async (asked: number | Revision) => {
    const rev = typeof asked === 'number' ? await repository.revision(asked) : asked
    return engine.add(worker, { scope: `archive:${name}` }, { archive: name, rev })
  }
  return {
    name,
    worker,
    add,
    async index(rev) {
      const id = await add(rev)
      await engine.drain(worker)
      const task = await engine.millrace.task(id)
      expect(task.state, JSON.stringify(task.error)).toBe('succeeded')
      return { id, output: task.output }
    },
    files: (number) => allFiles(engine.pool, name, number),
  }
}

export async function insertArchive(pool: Pool, name: string): Promise<void> {
  await pool.query(
    `insert into millrace.archive (name, created_by, first_number, planned_number, youngest_number, source, planned_id)
     values ($1, 'test', 1, 0, 0, '{}', '0')`,
    [name],
  )
}

/** Page by page, so that lists are tried as well. */
export async function allFiles(pool: Pool, archive: string, number: number, limit = 7): Promise<Shown[]> {
  const all: Shown[] = []
  let start: string | undefined
  for (;;) {
    const { items } = await readIndex(pool, { archive, rev: String(number), isRecursive: true, start, limit })
    for (const { path, kind, size, digest, lastChanged, properties } of items) {
      all.push({ path, kind, size, digest, lastChanged, properties })
    }
    start = items.at(-1)?.next
    if (items.length < limit) return all
  }
}

/** What a look at every file of the repository finds. `lastChanged` says it for git, which does not know itself. */
export async function scan(
  repository: Repository,
  revision: Revision,
  lastChanged: ReadonlyMap<string, number> = new Map(),
): Promise<Shown[]> {
  const files: Shown[] = []
  for (const entry of await collect(repository.list('', revision, { recursive: true }))) {
    if (entry.kind === 'folder') continue
    const bytes = await repository.read(entry.path, revision)
    files.push({
      path: entry.path,
      kind: entry.kind,
      size: bytes.length,
      digest: createHash('sha256').update(bytes).digest('hex'),
      lastChanged: entry.lastChanged ?? lastChanged.get(entry.path) ?? -1,
      properties: await repository.properties(entry.path, revision),
    })
  }
  return files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
}

/** Lets a build stage something and then stands in its way until the answer is called. */
export async function stopStaging(pool: Pool): Promise<() => Promise<void>> {
  await waitFor(async () => {
    const { rows } = await pool.query('select 1 from millrace.index_staged where kind is not null limit 1')
    return rows.length > 0 ? true : undefined
  })
  const client = await pool.connect()
  await client.query('begin')
  await client.query('lock table millrace.index_staged in exclusive mode')
  return async () => {
    await client.query('rollback')
    client.release()
  }
}

export async function countRows(pool: Pool, table: string): Promise<number> {
  const { rows } = await pool.query(`select count(*)::int as n from millrace.${table}`)
  return rows[0].n
}
