import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { orRefuse } from './errors.ts'
import type { HookedRepository } from './repository.ts'

/** What is installed for one archive. */
export type InstalledHook = {
  readonly archive: string
  readonly folder: string
  /** The folder came here by copying a repository. */
  readonly isCopy: boolean
  readonly tokenId: string | undefined
  /** Notices that wait to be sent. */
  readonly spooled: number
  /** What came of the last notice; undefined before the first. */
  readonly last:
    | { readonly at: string; readonly status: number; readonly sender: string; readonly name: string }
    | undefined
  /** When the last notice was answered, or not, by the clock of the file system. */
  readonly lastChangedMs: number | undefined
  /** Of the file with the token. */
  readonly tokenMode: number
  readonly readToken: () => Promise<string | undefined>
}

/** The archives that the hooks of the repository tell. Throws `HookRefused` where this user may not look. */
export async function listInstalled({ folder }: HookedRepository): Promise<InstalledHook[]> {
  const names = await orRefuse(folder, () => readdir(folder)).catch((error: { code?: string }) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const all = await Promise.all(names.map((name) => readInstalled(join(folder, name))))
  return all.filter((one) => one !== undefined).sort((a, b) => (a.archive < b.archive ? -1 : 1))
}

async function readInstalled(folder: string): Promise<InstalledHook | undefined> {
  const read = async (name: string) => (await readFile(join(folder, name), 'utf8').catch(() => '')).trim()
  const archive = parse(await read('archive'))
  if (archive === undefined) return undefined
  const [at, status, sender, name] = (await read('last')).split(' ')
  const waiting = await readdir(join(folder, 'spool')).catch(() => [])
  return {
    archive,
    folder,
    isCopy: !(await read('settings')).endsWith(`\ninode='${(await stat(folder, { bigint: true })).ino}'`),
    tokenId: (await read('token-id')) || undefined,
    spooled: waiting.filter((one) => !one.startsWith('.')).length,
    last: at && sender && name ? { at, status: Number(status), sender, name } : undefined,
    lastChangedMs: (await stat(join(folder, 'last')).catch(() => undefined))?.mtimeMs,
    tokenMode: (await stat(join(folder, 'token')).catch(() => undefined))?.mode ?? 0,
    readToken: async () => (await read('token')) || undefined,
  }
}

function parse(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
