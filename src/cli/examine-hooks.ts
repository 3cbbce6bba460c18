// What `millrace doctor` looks at in the repositories on this machine that the server watches.
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { examineHook, type Place } from '../hooks/index.ts'
import type { Context } from './context.ts'
import type { Finding } from './host.ts'

const PATIENCE_MS = 5_000

/** One finding for each archive whose repository is here. Without a server, or the right to ask it, there is none. */
export async function examineHooks(context: Context): Promise<Finding[]> {
  const archives = await listArchives(context).catch(() => [])
  const findings: Finding[] = []
  for (const { name, source } of archives) {
    const place = await placeOf(source)
    if (place === undefined) continue
    const { state, evidence, fix } = await examineHook(place, name)
    findings.push({ check: 'hook', state, evidence: `${name}: ${evidence}`, fix })
  }
  return findings
}

type Source = { readonly type: string; readonly url?: string | undefined }

async function listArchives(context: Context): Promise<{ readonly name: string; readonly source: Source }[]> {
  const { client, routes } = await context.server()
  const options = { signal: AbortSignal.timeout(PATIENCE_MS) }
  const { items } = await client.call(routes.archives.list, { query: { limit: 100 } }, options)
  return items
}

/** The repository around the folder that is watched, if it is on this machine. */
async function placeOf({ type, url = '' }: Source): Promise<Place | undefined> {
  if (type !== 'svn' && type !== 'git') return undefined
  const isFile = url.startsWith('file://')
  if (!isFile && !url.startsWith('/')) return undefined
  const watched = isFile ? toPath(url) : url
  if (watched === undefined) return undefined
  if (type === 'git') return (await isThere(watched)) ? { kind: 'git', path: watched } : undefined
  for (let path = watched; path !== dirname(path); path = dirname(path)) {
    if (await isThere(`${path}/format`)) return { kind: 'svn', path }
  }
  return undefined
}

function toPath(url: string): string | undefined {
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
