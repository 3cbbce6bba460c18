/** A number in Subversion; in git, whatever the archive counts its commits by. */
export type Revision = number | string

export type TaskKey = {
  readonly archive: string
  readonly rev: Revision
  readonly name: string
  /** Set for a run by schedule or by hand: a revision has one of each task by commit, and any number of others. */
  readonly run?: string | undefined
}

/** The key as it is written: `My-Project@12:index`, and `My-Project@12:index#7` for a run by schedule or by hand. */
export function formatKey({ archive, rev, name, run }: TaskKey): string {
  return `${archive}@${rev}:${name}${run === undefined ? '' : `#${run}`}`
}

/** Where the engine has the task of a written key: `My-Project@12:index` is key `12:index` of scope `archive:My-Project`. */
export function toEngineKey(key: string): { readonly scope: string; readonly key: string } {
  const at = key.lastIndexOf('@')
  return { scope: `archive:${key.slice(0, at)}`, key: key.slice(at + 1) }
}

/** The parts of a written key. The name of an archive may hold any sign; what follows its last `@` may not. */
export function parseKey(key: string): TaskKey | undefined {
  const [, archive, rev, name, run] = /^(.+)@([^@:#]+):([^@:#]+)(?:#([^@#]+))?$/s.exec(key) ?? []
  if (archive === undefined || rev === undefined || name === undefined) return undefined
  return { archive, rev: /^(0|[1-9]\d{0,14})$/.test(rev) ? Number(rev) : rev, name, run }
}
