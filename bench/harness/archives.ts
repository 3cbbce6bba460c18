import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from './server.ts'

/** The example of the document that archives come from. */
export const WORKFLOW = `
- { name: indexing, command: make index, depends: PREV }
- { name: build-PDF, command: make pdf, depends: indexing, cancels: PREV }
`

export type Repository = {
  readonly url: string
  /** Makes one revision that changes one file. */
  commit(text: string): void
  remove(): void
}

/** In memory where there is such a place: the disk is not what is measured. */
const makePlace = () => mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'millrace-bench-svn-'))

/** A server that plans and performs nothing: what it plans is left to the bench. */
export const PLANS_ONLY = { MILLRACE_RATE_LIMIT: '0', MILLRACE_QUEUES: 'nothing-of-this-server' }
/** It looks at repositories only when told. */
export const NO_POLLING = { MILLRACE_POLL_SECONDS: '86400' }

/** A repository of Subversion. */
export async function makeRepository(revisions: number, workflow = WORKFLOW): Promise<Repository> {
  const place = makePlace()
  const path = join(place, 'repository')
  execFileSync('svnadmin', ['create', path])
  await load(path, dump(revisions, workflow))
  const url = `file://${path}`
  const working = join(place, 'working')
  execFileSync('svn', ['checkout', '--quiet', url, working])
  return {
    url,
    commit(text) {
      execFileSync('sh', [
        '-c',
        'printf %s "$1" > "$2/a.txt" && svn commit --quiet -m change "$2"',
        'sh',
        text,
        working,
      ])
    },
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
}

/**
 * Many repositories at their first revision, and a second one in each that comes when it is called for. A commit to
 * Subversion's file system ends with the number of the youngest revision: all else is there before, so that a thousand
 * commits take no longer than a thousand small files.
 */
export async function makeRepositories(count: number) {
  const place = makePlace()
  const first = join(place, 'first')
  execFileSync('svnadmin', ['create', first])
  await load(first, dump(2, WORKFLOW))
  rmSync(join(first, 'hooks'), { recursive: true }) // ten samples, which nobody needs a thousand times
  const paths = Array.from({ length: count }, (_, i) => join(place, `repository-${i}`))
  const setYoungest = (path: string, revision: number) => writeFileSync(join(path, 'db', 'current'), `${revision}\n`)
  setYoungest(first, 1)
  for (const path of paths) cpSync(first, path, { recursive: true })
  return {
    urls: paths.map((path) => `file://${path}`),
    commitToAll: () => {
      for (const path of paths) setYoungest(path, 2)
    },
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
}

async function load(path: string, text: string): Promise<void> {
  const loading = spawn('svnadmin', ['load', '--quiet', '--no-flush-to-disk', path], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = new Promise((resolve) => loading.once('close', resolve))
  loading.stdin.end(text)
  if ((await ended) !== 0) throw new Error('svnadmin could not load the history')
}

/** A dump whose first revision has the workflow and whose others change one file. */
function dump(count: number, workflow: string): string {
  const lines = ['SVN-fs-dump-format-version: 2', '']
  const node = (path: string, action: string, text: string) => {
    lines.push(`Node-path: ${path}`, 'Node-kind: file', `Node-action: ${action}`)
    lines.push(`Text-content-length: ${text.length}`, `Content-length: ${text.length}`, '', text, '')
  }
  for (let number = 1; number <= count; number += 1) {
    const log = `revision ${number}`
    const properties = `K 7\nsvn:log\nV ${log.length}\n${log}\nPROPS-END\n`
    const { length } = properties
    lines.push(
      `Revision-number: ${number}`,
      `Prop-content-length: ${length}`,
      `Content-length: ${length}`,
      '',
      properties,
    )
    if (number === 1) {
      lines.push('Node-path: _workflows', 'Node-kind: dir', 'Node-action: add', '', '')
      node('_workflows/a.yaml', 'add', workflow)
    }
    node('a.txt', number === 1 ? 'add' : 'change', `${number}\n`)
  }
  return lines.join('\n')
}

type Dispatcher = { started: Promise<void>; stop(): Promise<void> }
type Library = {
  connect(options: {
    databaseUrl: string
  }): Promise<{ dispatch(workers: unknown[], options: object): Dispatcher; close(): Promise<void> }>
  defineWorker(worker: object): unknown
}

/** Loaded by its path, so that this file is checked before the library is built. */
const library = (): Promise<Library> => import(join(import.meta.dirname, '..', '..', 'dist', 'index.js'))

/** Takes tasks of archives, says which one began, and is done with it. */
export async function performArchives(databaseUrl: string, onStart: (task: { scope: string; key: string }) => void) {
  const { connect, defineWorker } = await library()
  const millrace = await connect({ databaseUrl })
  const anything = { '~standard': { version: 1, vendor: 'bench', validate: (value: unknown) => ({ value }) } }
  const work = ({ task }: { task: { scope: string; key: string } }) => onStart(task)
  const dispatcher = millrace.dispatch([defineWorker({ kind: 'archive.task', payload: anything, work })], {
    concurrency: 50,
  })
  await dispatcher.started
  return async () => {
    await dispatcher.stop()
    await millrace.close()
  }
}

type Archive = { planned: { number: number } }

/** Waits until the archive is planned up to a revision. */
export async function planned(server: Server, name: string, number: number): Promise<void> {
  while ((await server.ask<Archive>('GET', `/v1/archives/${name}`)).planned.number < number) await sleep(20)
}

export const register = (server: Server, name: string, source: object, from: 'head' | number) =>
  server.ask('PUT', `/v1/archives/${name}`, { source, from })
