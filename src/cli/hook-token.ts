import { randomBytes, randomUUID } from 'node:crypto'
import { check, type HookedRepository, listInstalled } from '../hooks/index.ts'
import type { Server } from './context.ts'

export type HookToken = { readonly token: string; readonly tokenId: string | undefined }

type Asking = { readonly server: Server; readonly signal: AbortSignal }

/** The token that the hook has, if it works; else a new one, which is good for announcing to the archive alone. */
export async function hookToken(asking: Asking, repository: HookedRepository, archive: string): Promise<HookToken> {
  const before = (await listInstalled(repository)).find((one) => one.archive === archive)
  if (before !== undefined && (await check(before.folder, repository.owner)).status === 200) {
    const token = await before.readToken()
    if (token !== undefined) return { token, tokenId: before.tokenId }
  }
  return makeToken(asking, archive)
}

async function makeToken({ server: { client, routes }, signal }: Asking, archive: string): Promise<HookToken> {
  const shown = archive.replaceAll(/[^\p{L}\p{N} ._@/-]/gu, '-').slice(0, 60)
  const body = {
    name: `hook of ${shown} ${randomBytes(4).toString('hex')}`,
    limit: { to: 'archive' as const, name: archive },
  }
  try {
    const made = await client.call(routes.tokens.create, { body }, { signal, idempotencyKey: randomUUID() })
    return { token: made.secret ?? '', tokenId: made.id }
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== 'forbidden' && code !== 'unauthorized') throw error
    throw new TokenNeeded(archive)
  }
}

/** Only an administrator makes tokens. */
class TokenNeeded extends Error {
  readonly code = 'not_signed_in'
  readonly remedy: string
  constructor(archive: string) {
    super('the hook needs a token, and only an administrator makes one')
    const limit = `archive:${archive}`
    this.remedy = `have one made with \`millrace token create NAME --limit ${limit}\`, and pipe it in with --token-stdin`
  }
}
