// Tokens that a running task gets. There is one for every attempt of every task, so none of them is a row: a token says
// what it is limited to, for which attempt and until when, and is signed. It is good while the attempt runs; the time is
// for the case that nobody learns of the attempt's end. Why so: docs/decisions/0013-access.md.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Db } from '../db/index.ts'
import type { Identity, Limit } from './identity.ts'
import { makeSigningKey, readSigningKey } from './tokens.sql.ts'

/** What a token was given to: a task or node, and which performance of it. */
export type Holder = { readonly limit: Limit; readonly attempt: string }

/** Says whether the attempt is under way. Asked at every request with such a token. */
export type IsLive = (holder: Holder) => Promise<boolean>

export type TaskTokenRequest = Holder & { readonly ttlSeconds: number }

export type TaskTokens = {
  issue(request: TaskTokenRequest, now?: number): string
  /** Who holds the token; undefined for one that is forged, late, or of an attempt that has ended. */
  verify(token: string, now?: number): Promise<Identity | undefined>
}

const FORM = /^mrt_([\w-]{1,2000})\.([\w-]{43})$/

/** The key that all servers on this database sign with, made at the first start. */
export async function signingKey(db: Db): Promise<Buffer> {
  await makeSigningKey(db, { key: randomBytes(32) })
  return (await readSigningKey(db, {})).key
}

export function createTaskTokens(key: Buffer, isLive: IsLive): TaskTokens {
  const sign = (claims: string) => createHmac('sha256', key).update(`task-token ${claims}`).digest('base64url')
  return {
    issue({ limit, attempt, ttlSeconds }, now = Date.now()) {
      const until = Math.ceil(now / 1000 + ttlSeconds)
      const claims = Buffer.from(JSON.stringify([limit.to, limit.name, attempt, until])).toString('base64url')
      return `mrt_${claims}.${sign(claims)}`
    },
    async verify(token, now = Date.now()) {
      const [, claims, signature] = FORM.exec(token) ?? []
      if (claims === undefined || signature === undefined) return undefined
      if (!timingSafeEqual(Buffer.from(sign(claims)), Buffer.from(signature))) return undefined
      // Signed by this program: of the form in which it was written.
      const [to, name, attempt, until] = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims
      if (until * 1000 <= now) return undefined
      const limit: Limit = { to, name }
      if (!(await isLive({ limit, attempt }))) return undefined
      return { name: `${to}:${name}`, role: null, limit, via: 'token' }
    },
  }
}

type Claims = [to: Limit['to'], name: string, attempt: string, until: number]
