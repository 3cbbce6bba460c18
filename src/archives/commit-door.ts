// How a command commits its workspace: it asks the process that performs it, through a socket that exists while the attempt
// is under way. That process has the workspace, the credentials and the lease; the command has none of them.
import { timingSafeEqual } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { newRunnerId } from '../runners/index.ts'
import type { Committer } from './commit-workspace.ts'

const BODY_BYTES = 64 * 1024
const SOCKET = 'commit'

const schema = z.strictObject({ message: z.string().max(50_000), author: z.string().max(500).optional() })

export type CommitDoor = AsyncDisposable & {
  /** The folder that holds the socket alone; a container gets it mounted. */
  readonly folder: string
  readonly socket: string
}

export type DoorOptions = {
  /** Whoever knocks shows it. */
  readonly token: string
  /** Containers have users of their own: then the token alone keeps others out. */
  readonly isForContainer: boolean
}

/** Opens the door, until it is disposed of. */
export async function openCommitDoor(
  committer: Committer,
  { token, isForContainer }: DoorOptions,
): Promise<CommitDoor> {
  // The path of a socket has at most about a hundred characters, which the data folder may need for itself.
  // The runner of commands removes folders of such a name when their process has ended.
  const folder = await mkdtemp(join(tmpdir(), `millrace-${newRunnerId()}-`))
  const socket = join(folder, SOCKET)
  const underWay = new Set<Promise<void>>()
  const server = createServer((request, response) => {
    const answered = answer(request, response, { committer, token }).catch(() => void response.destroy())
    underWay.add(answered)
    void answered.finally(() => underWay.delete(answered))
  })
  const close = async () => {
    server.close()
    await Promise.all(underWay)
    server.closeAllConnections()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve))
    if (isForContainer) await Promise.all([chmod(folder, 0o755), chmod(socket, 0o666)])
  } catch (error) {
    await close()
    throw error
  }
  return { folder, socket, [Symbol.asyncDispose]: close }
}

type Inside = { readonly committer: Committer; readonly token: string }

async function answer(request: IncomingMessage, response: ServerResponse, { committer, token }: Inside): Promise<void> {
  const say = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    response.end(`${JSON.stringify(body)}\n`)
  }
  const refuse = (status: number, code: string, detail: string, remedy?: string) =>
    say(status, { code, detail, remedy })
  const given = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (!isSame(given, token)) return refuse(401, 'unauthorized', 'the token is not the one of this task')
  if (request.method !== 'POST' || request.url !== '/commit')
    return refuse(404, 'not_found', 'only POST /commit is here')
  const body = await readBody(request)
  const asked = schema.safeParse(body)
  if (!asked.success) return refuse(400, 'invalid', 'the body must be {"message": …} or {"message": …, "author": …}')
  try {
    const { revision, isNew } = await committer.commit(asked.data)
    return say(200, { revision: revision ?? null, is_new: isNew && revision !== undefined })
  } catch (error) {
    const { code, message, remedy } = error as { code?: unknown; message: string; remedy?: string }
    return refuse(409, typeof code === 'string' ? code : 'commit_failed', message, remedy)
  }
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Undefined for what is too long or no JSON. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length > BODY_BYTES) return undefined
    parts.push(part)
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch {
    return undefined
  }
}
