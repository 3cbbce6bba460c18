import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Claim, figures, freshStore, perSecond, quantile, ratioBar } from '../harness/bench.ts'
import { type Server, startServer } from '../harness/server.ts'

const SMALL = 1_000
const CHANGED = 10 // files of each later revision
const REVISIONS = 10
const RATIO = 1.5
const WORKFLOW = '- name: indexing\n  uses: index\n  depends: [PREV]\n'

type Type = 'svn' | 'git'
type Files = readonly (readonly [path: string, text: string])[]

const pathOf = (i: number) => `folder ${Math.floor(i / 1000)}/part ${Math.floor(i / 100) % 10}/file ${i}.txt`

/** About 2 KB of words, different in each file. */
const textOf = (i: number, version: number) =>
  Array.from(
    { length: 40 },
    (_, line) => `file ${i} line ${line} of version ${version}: word${(i * 31 + line) % 5000}`,
  ).join('\n')

const firstFiles = (count: number): Files => [
  ['_workflows/index.yaml', WORKFLOW],
  ...Array.from({ length: count - 1 }, (_, i) => [pathOf(i), textOf(i, 1)] as const),
]

/** The same folders of each size are changed, spread over the archive. */
const changedFiles = (count: number, revision: number): Files =>
  Array.from({ length: CHANGED }, (_, n) => {
    const i = (n * Math.floor(count / CHANGED) + revision) % (count - 1)
    return [pathOf(i), textOf(i, revision)] as const
  })

/** The revisions in which the files come: Subversion keeps a file on the disk for each one of a commit under way. */
function firstRevisions(type: Type, count: number): Files[] {
  const files = firstFiles(count)
  const most = type === 'git' ? count : SMALL
  return Array.from({ length: Math.ceil(count / most) }, (_, i) => files.slice(i * most, (i + 1) * most))
}

/** Commits, written as the program reads them from standard input; the first of them has the number `from`. */
async function commit(type: Type, repository: string, revisions: readonly Files[], from: number): Promise<void> {
  const [program, args] =
    type === 'git'
      ? ['git', ['-C', repository, 'fast-import', '--quiet', '--force']]
      : ['svnadmin', ['load', '--quiet', '--ignore-uuid', '--no-flush-to-disk', repository]]
  const child = spawn(program as string, args as string[], { stdio: ['pipe', 'inherit', 'inherit'] })
  const write = async (text: string) => {
    if (!child.stdin.write(text)) await once(child.stdin, 'drain')
  }
  const ended = once(child, 'close')
  const folders = new Set<string>()
  for (const [i, files] of revisions.entries()) {
    const isChange = from > 1
    const stream =
      type === 'git' ? gitStream(files, from + i) : svnStream(files, from + i, isChange ? undefined : folders)
    for (const text of stream) await write(text)
  }
  child.stdin.end()
  const [code] = await ended
  if (code !== 0) throw new Error(`${program} ended with ${code}`)
}

function* gitStream(files: Files, revision: number): Generator<string> {
  yield `commit refs/heads/main\ncommitter bench <bench@example.org> ${1_700_000_000 + revision} +0000\ndata 5\nbench\n`
  if (revision > 1) yield 'from refs/heads/main^0\n'
  for (const [path, text] of files) yield `M 644 inline "${path}"\ndata ${Buffer.byteLength(text)}\n${text}\n`
  yield '\n'
}

/** With `folders`, the ones that are there already, the files are new; without, they are changed. */
function* svnStream(files: Files, revision: number, folders: Set<string> | undefined): Generator<string> {
  if (revision === 1 || !folders) yield 'SVN-fs-dump-format-version: 2\n\n'
  yield `Revision-number: ${revision}\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n`
  for (const [path, text] of files) {
    const parts = path.split('/')
    for (let depth = 1; folders && depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/')
      if (folders.has(folder)) continue
      folders.add(folder)
      yield `Node-path: ${folder}\nNode-kind: dir\nNode-action: add\n\n`
    }
    const bytes = Buffer.byteLength(text)
    yield `Node-path: ${path}\nNode-kind: file\nNode-action: ${folders ? 'add' : 'change'}\n`
    yield `Text-content-length: ${bytes}\nContent-length: ${bytes}\n\n${text}\n\n`
  }
}

type Task = { state: string; started_at: string; finished_at: string; error: unknown }

/** How long the task took that indexed the revision, once it has ended. */
async function indexedMs(server: Server, archive: string, revision: number): Promise<number> {
  for (;;) {
    const task = await server
      .ask<Task>('GET', `/v1/tasks/${encodeURIComponent(`${archive}@${revision}:indexing`)}`)
      .catch(() => undefined)
    if (task?.state === 'succeeded') return Date.parse(task.finished_at) - Date.parse(task.started_at)
    if (task?.state === 'failed') throw new Error(JSON.stringify(task.error))
    await sleep(50)
  }
}

/** An archive of so many files: how long it took to index them all, and then each revision. */
async function measureOne(server: Server, type: Type, count: number) {
  const repository = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  try {
    if (type === 'git') execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', repository])
    else execFileSync('svnadmin', ['create', repository])
    const first = firstRevisions(type, count)
    await commit(type, repository, first, 1)
    const archive = `${type}-${count}`
    const source = type === 'git' ? { type, url: repository, branch: 'main' } : { type, url: `file://${repository}` }
    await server.ask('PUT', `/v1/archives/${archive}`, { source, from: first.length })
    const whole = await indexedMs(server, archive, first.length)
    const each: number[] = []
    for (let n = 1; n <= REVISIONS; n++) {
      const revision = first.length + n
      await commit(type, repository, [changedFiles(count, revision)], revision)
      await server.ask('POST', `/v1/archives/${archive}/commits`, { rev: revision })
      each.push(await indexedMs(server, archive, revision))
    }
    const found: number[] = []
    for (const word of ['word77', 'version', 'nowhere', 'line']) {
      const from = performance.now()
      await server.ask('GET', `/v1/archives/${archive}/index?q=${word}&limit=20`)
      found.push(performance.now() - from)
    }
    return { whole, each: quantile(each, 0.5), search: Math.max(...found) }
  } finally {
    rmSync(repository, { recursive: true, force: true })
  }
}

export const archiveIndex: Claim = {
  name: 'index',
  about: `the index of an archive: all files at first, then revisions that change ${CHANGED} of them`,
  async measure(bench) {
    const found = figures()
    const sizes = [SMALL, bench.sizes.indexed]
    const rate = (type: Type, count: number) => `${type}, ${count.toLocaleString('en-US')} files: at first`
    const later = (type: Type, count: number) => `${type}, ${count.toLocaleString('en-US')} files: a revision`
    const search = (type: Type, count: number) => `${type}, ${count.toLocaleString('en-US')} files: slowest search`
    for (let round = 1; round <= bench.rounds && bench.takesPart('millrace'); round++) {
      console.log(` round ${round} of ${bench.rounds}`)
      const server = await startServer(await freshStore(bench, 'millrace'), { MILLRACE_RATE_LIMIT: '0' })
      try {
        for (const type of ['svn', 'git'] as const) {
          for (const count of sizes) {
            const measured = await measureOne(server, type, count)
            found.note('millrace', rate(type, count), 'files/s', perSecond(count, measured.whole))
            found.note('millrace', later(type, count), 'ms', measured.each)
            found.note('millrace', search(type, count), 'ms', measured.search)
          }
        }
      } finally {
        await server.stop()
      }
    }
    const [small = 0, large = 0] = sizes
    const ratio = (type: Type) => found.of('millrace', later(type, large)) / found.of('millrace', later(type, small))
    const bar = (type: Type) =>
      ratioBar(
        `${type}: a revision in ${large.toLocaleString('en-US')} files <= ${RATIO} x one in ${small.toLocaleString('en-US')}`,
        ratio(type),
        { atMost: RATIO },
      )
    return {
      claim: archiveIndex.about,
      rows: found.rows,
      verdicts: [bar('svn'), bar('git')],
      notes: [
        'Files of 2 KB, a hundred in each folder; repositories on the local disk; the time is that of the task. A search is over HTTP, for the first page: a word of twenty files, one of all, one of none.',
      ],
    }
  },
}
