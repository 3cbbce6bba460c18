import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SecretKeyUnusable } from './errors.ts'

/** What opens and closes secrets, and by what a sealed one says which key it needs. */
export type SecretKey = { readonly key: Buffer; readonly fingerprint: Buffer }

const PRIVATE = 0o600
const SHORTEST = 32
const KEY_BYTES = 32
const FINGERPRINT_BYTES = 8

/** The key that a text stands for. Throws `SecretKeyUnusable`. */
export function toKey(text: string, where: string): SecretKey {
  const trimmed = text.trim()
  if (trimmed.length < SHORTEST) throw new SecretKeyUnusable(`the key of the secrets in ${where} is too short`)
  const derive = (use: string, length: number) => Buffer.from(hkdfSync('sha256', trimmed, '', use, length))
  return {
    key: derive('millrace secrets', KEY_BYTES),
    fingerprint: derive('millrace secrets fingerprint', FINGERPRINT_BYTES),
  }
}

/** The key in a file; undefined when there is none. It is made readable by its owner alone when somebody opened it up. */
export async function readKey(file: string): Promise<SecretKey | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new SecretKeyUnusable(`the key of the secrets in ${file} cannot be read: ${error.code}`)
  })
  if (found === undefined) return undefined
  if ((found.mode & 0o777) !== PRIVATE) await chmod(file, PRIVATE)
  return toKey(await readFile(file, 'utf8'), file)
}

/** Writes the key under another name and links it: two processes that begin at once end up with one key. */
export async function makeKey(file: string): Promise<SecretKey> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, {
    mode: PRIVATE,
    flag: 'wx',
    flush: true,
  })
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return toKey(await readFile(file, 'utf8'), file)
}
