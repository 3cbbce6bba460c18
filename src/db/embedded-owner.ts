// PostgreSQL refuses to run as root, and rightly. Started as root, the server runs as the owner of its
// cluster, or for a new cluster as `nobody`: initdb looks its own user up by number, so the id must be one
// that the system knows, and none is created.
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The ids to drop to; undefined when the process is unprivileged already and stays what it is. */
export type Owner = { readonly uid: number; readonly gid: number }

const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** Who runs a server whose cluster does not exist yet. */
export function unprivilegedOwner(): Owner | undefined {
  if (!isRoot()) return undefined
  try {
    const line = readFileSync('/etc/passwd', 'utf8').match(/^nobody:[^:]*:(\d+):(\d+):/m)
    return line ? { uid: Number(line[1]), gid: Number(line[2]) } : NOBODY
  } catch {
    return NOBODY
  }
}

/** Says whether `owner` may enter `folder`, which every folder above it must allow as well. */
export function mayEnter(owner: Owner | undefined, folder: string): boolean {
  if (owner === undefined) return true
  const { uid, gid, mode } = statSync(folder)
  const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001
  if ((mode & bit) === 0) return false
  const above = dirname(folder)
  return above === folder || mayEnter(owner, above)
}
