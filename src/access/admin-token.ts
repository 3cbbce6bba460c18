import { randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashOf, matches, randomSecret } from './secret.ts'

export type AdminToken = {
  /** Says whether `given` is the token. */
  matches(given: string): boolean
  /** Where the token is kept; undefined when it was given as a setting. */
  readonly file: string | undefined
}

const FILE_NAME = 'admin-token'
const PRIVATE = 0o600

/**
 * The administrator's token: the one given, or else the one kept in the data directory, which is made at
 * first start. Its file is readable by its owner alone, and is made so again when somebody opened it up.
 */
export async function adminToken(options: { given?: string | undefined; dataDir: string }): Promise<AdminToken> {
  if (options.given !== undefined) return check(options.given, undefined)
  const file = join(options.dataDir, FILE_NAME)
  const kept = (await readToken(file)) ?? (await makeToken(file, options.dataDir))
  return check(kept, file)
}

function check(token: string, file: string | undefined): AdminToken {
  const hash = hashOf(token)
  return { matches: (given) => matches(given, hash), file }
}

async function readToken(file: string): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return undefined
  if ((found.mode & 0o777) !== PRIVATE) await chmod(file, PRIVATE)
  const token = (await readFile(file, 'utf8')).trim()
  // An empty file would be a token that everybody knows.
  if (token === '') await rm(file)
  return token === '' ? undefined : token
}

/** Writes the token under another name and links it: two processes that start at once end up with one token. */
async function makeToken(file: string, dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `mr_${randomSecret()}\n`, { mode: PRIVATE, flag: 'wx' })
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(file, 'utf8')).trim()
}
