import { randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HookRefused } from './errors.ts'
import type { Owner } from './repository.ts'

export type FileToWrite = {
  readonly path: string
  readonly content: string
  readonly mode: number
  readonly owner: Owner
}

/** Puts a file in place at once and whole: whoever runs a hook meanwhile meets the old one or the new one. */
export async function writeWhole({ path, content, mode, owner }: FileToWrite): Promise<void> {
  const draft = join(dirname(path), `.millrace-${randomBytes(6).toString('hex')}`)
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      // Byte by byte: hook files may be in any encoding, and ours are ASCII.
      await file.writeFile(content, 'latin1')
      if (process.getuid?.() === 0) await file.chown(owner.uid, owner.gid)
      await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** A folder that belongs to the owner. One that leads elsewhere is refused: root could be sent anywhere by it. */
export async function makeFolder(path: string, mode: number, owner: Owner): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found !== undefined && !found.isDirectory()) {
    throw new HookRefused(`${path} is not a folder`, 'remove it, or move it away')
  }
  if (found === undefined) await mkdir(path, { mode })
  if (process.getuid?.() === 0) await chown(path, owner.uid, owner.gid)
  if (found === undefined || found.uid === process.getuid?.() || process.getuid?.() === 0) await chmod(path, mode)
}
