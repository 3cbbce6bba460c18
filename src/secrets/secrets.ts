// Named secrets, of one archive or for all of them. A value leaves this folder by `read` alone, which is for whoever gives
// it to a command or a repository.
import { join } from 'node:path'
import { type Pool, transaction } from '../db/index.ts'
import {
  SecretAltered,
  SecretChanged,
  SecretKeyMissing,
  SecretKeyWrong,
  SecretMissing,
  SecretNameReserved,
  SecretNotFound,
} from './errors.ts'
import { makeKey, readKey, type SecretKey, toKey } from './key.ts'
import { whyReserved } from './reserved.ts'
import { open, seal } from './seal.ts'
import {
  anySecret,
  deleteSecret,
  examineKeys,
  listSecrets,
  lockSecrets,
  putSecret,
  readSecrets,
  versionOf,
} from './secrets.sql.ts'

/** What is told of a secret. */
export type Secret = {
  readonly id: string
  /** Empty: it is for every archive. */
  readonly archive: string
  readonly name: string
  readonly version: number
  readonly createdAt: Date
  readonly createdBy: string
  readonly changedAt: Date
  readonly changedBy: string
}

/** Which secret, for whom it is changed, and at which version it is expected. */
export type SecretChange = {
  readonly archive: string
  readonly name: string
  readonly actor: string
  readonly version?: number | undefined
}

export type ListSecrets = {
  /** Those of this archive and those for all. Default: all there are. */
  readonly archive?: string | undefined
  readonly after?: string | undefined
  readonly limit: number
}

export type Secrets = {
  /**
   * The values of the names, an archive's own before those for all. Throws `SecretMissing`, `SecretNameReserved`,
   * `SecretKeyMissing` or `SecretKeyWrong`.
   */
  read(archive: string, names: readonly string[]): Promise<Record<string, string>>
  /** Throws `SecretNameReserved`, `SecretChanged`, or one of the errors about keys. */
  set(change: SecretChange & { readonly value: string }): Promise<Secret>
  /** The oldest first. */
  list(options: ListSecrets): Promise<Secret[]>
  /** Needs no key. Throws `SecretNotFound` or `SecretChanged`. */
  remove(change: SecretChange): Promise<void>
}

export type SecretsOptions = {
  readonly pool: Pool
  /** Where the key is kept unless one is given. */
  readonly dataDir: string
  /** The key, where several servers share one. */
  readonly key?: string | undefined
}

const FILE_NAME = 'secret-key'

export function createSecrets({ pool, dataDir, key: given }: SecretsOptions): Secrets {
  const file = join(dataDir, FILE_NAME)
  const find = async (): Promise<SecretKey | undefined> =>
    given === undefined ? readKey(file) : toKey(given, 'MILLRACE_SECRET_KEY')
  /** The first secret of all makes the key; later ones must not, or those before could not be opened. */
  const findOrMake = async () => {
    const found = await find()
    if (found !== undefined) return found
    if (!(await anySecret(pool, {})).is_any) return makeKey(file)
    // The first one may have been set meanwhile, with a key that is here by now.
    const made = await find()
    if (made === undefined) throw new SecretKeyMissing(file)
    return made
  }
  return {
    async read(archive, names) {
      if (names.length === 0) return {}
      for (const name of names) requireFree(name)
      const rows = await readSecrets(pool, { archive, names: [...new Set(names)] })
      const chosen = new Map(rows.map((row) => [row.name, row]))
      const missing = names.filter((name) => !chosen.has(name))
      if (missing.length > 0) throw new SecretMissing(archive, missing)
      const key = await find()
      if (key === undefined) throw new SecretKeyMissing(file)
      return Object.fromEntries([...chosen].map(([name, row]) => [name, openRow(key, row)]))
    },
    async set({ archive, name, value, actor, version: expected }) {
      requireFree(name)
      const key = await findOrMake()
      return transaction(pool, async (tx) => {
        await lockSecrets(tx, {})
        const { is_other: isOther } = await examineKeys(tx, { key: key.fingerprint })
        if (isOther) throw new SecretKeyWrong('a secret that is there already')
        const there = (await versionOf(tx, { archive, name }))?.version ?? 0
        if (expected !== undefined && expected !== there) throw new SecretChanged(name, there)
        const place = { archive, name, version: there + 1 }
        const sealed = seal(key.key, place, value)
        return toSecret(await putSecret(tx, { ...place, by: actor, key: key.fingerprint, sealed }))
      })
    },
    async list({ archive, after = '0', limit }) {
      const rows = await listSecrets(pool, { archive: archive ?? null, after, limit })
      return rows.map(toSecret)
    },
    async remove({ archive, name, version: expected }) {
      await transaction(pool, async (tx) => {
        const gone = await deleteSecret(tx, { archive, name })
        if (gone === undefined) throw new SecretNotFound(archive, name)
        if (expected !== undefined && expected !== gone.version) throw new SecretChanged(name, gone.version)
      })
    },
  }
}

/** One that was set before its name was reserved is not handed out. Throws `SecretNameReserved`. */
function requireFree(name: string): void {
  const reason = whyReserved(name)
  if (reason !== undefined) throw new SecretNameReserved(name, reason)
}

type Row = Awaited<ReturnType<typeof readSecrets>>[number]

function openRow({ key, fingerprint }: SecretKey, { sealed, key: needed, ...place }: Row): string {
  if (!needed.equals(fingerprint)) throw new SecretKeyWrong(`secret ${place.name}`)
  try {
    return open(key, place, sealed)
  } catch {
    throw new SecretAltered(place.name)
  }
}

const toSecret = (row: Awaited<ReturnType<typeof putSecret>>): Secret => ({
  id: row.id,
  archive: row.archive,
  name: row.name,
  version: row.version,
  createdAt: row.created_at,
  createdBy: row.created_by,
  changedAt: row.changed_at,
  changedBy: row.changed_by,
})
