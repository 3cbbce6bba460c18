import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { NoHook } from './errors.ts'
import { findBlock } from './hook-file.ts'
import { type InstalledHook, listInstalled } from './list-installed.ts'
import { check, flush, runBare } from './notifier.ts'
import type { HookedRepository } from './repository.ts'

export type Tried = {
  readonly archive: string
  /** What was announced; null where the repository has nothing yet, and the server was only asked who the token is. */
  readonly announced: string | null
  /** The status of the server's answer; 0: none came. */
  readonly status: number
  readonly sender: string
  /** How long a committer would have waited. */
  readonly tookMs: number
  readonly waiting: number
}

const PATIENCE_MS = 30_000
const LOOK_MS = 20

/**
 * Does what the hook does for the youngest revision, with nothing but what the hook would have: its block alone is run,
 * so that whatever else the hook does happens once. The server has heard of that revision before; it does not mind.
 */
export async function tryHook(repository: HookedRepository): Promise<Tried[]> {
  const { hooksDir, hooks, kind, path, owner } = repository
  const file = join(hooksDir, hooks[0] ?? '')
  const block = findBlock(await readFile(file, 'latin1').catch(() => ''))
  const before = await listInstalled(repository)
  if (block === undefined || before.length === 0) throw new NoHook(path)
  const rev = kind === 'svn' ? await youngest(path) : '0'
  if (kind === 'git') for (const { folder } of before) await rm(join(folder, 'announced'), { force: true })
  const began = performance.now()
  // A hook of Subversion: the repository, the revision and the transaction. A hook of git looks for itself.
  await runBare(['-c', block, file, path, rev, ''], owner)
  const tookMs = performance.now() - began
  return Promise.all(before.map((one) => hear(repository, one, tookMs)))
}

/** Waits for what comes of the notice. */
async function hear(repository: HookedRepository, before: InstalledHook, tookMs: number): Promise<Tried> {
  const { archive, folder } = before
  const look = async () => (await listInstalled(repository)).find((one) => one.folder === folder)
  const first = await look()
  const isAnnounced = first !== undefined && (first.spooled > 0 || isNew(first, before))
  if (!isAnnounced) {
    const asked = await check(folder, repository.owner)
    return { archive, announced: null, ...asked, tookMs, waiting: first?.spooled ?? 0 }
  }
  const end = Date.now() + PATIENCE_MS
  let now: InstalledHook | undefined = first
  while (now !== undefined && !isNew(now, before) && Date.now() < end) {
    await sleep(LOOK_MS)
    now = await look()
  }
  const { left } = await flush(folder, repository.owner)
  const { status = 0, sender = 'nothing', name = '' } = now?.last ?? {}
  return { archive, announced: shown(name), status, sender, tookMs, waiting: left }
}

/** Times are kept to the second: the file that is replaced says more. */
const isNew = (now: InstalledHook, before: InstalledHook) => now.lastChangedMs !== before.lastChangedMs

/** `000000000000012` is revision 12, `20261116…-abc` is the commit abc. */
const shown = (name: string) => (/^\d+$/.test(name) ? `r${Number(name)}` : name.replace(/^\d+-/, ''))

/** Of a repository whose youngest cannot be read: 0, which is not announced. */
async function youngest(path: string): Promise<string> {
  const text = await readFile(join(path, 'db', 'current'), 'utf8').catch(() => '')
  return /^\d+/.exec(text)?.[0] ?? '0'
}
