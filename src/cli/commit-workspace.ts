import { request } from 'node:http'
import { type OwnTask, readOwnTask } from '../config/index.ts'
import type { Context } from './context.ts'
import { UsageError } from './exit.ts'

export type Committed = {
  /** Null: nothing in the workspace is different. */
  readonly revision: { readonly number: number; readonly id: string } | null
  /** False: an earlier attempt of the task had made it. */
  readonly is_new: boolean
}

type Refusal = { readonly code?: string; readonly detail?: string; readonly remedy?: string }

/** The commit was not made. */
class CommitFailed extends Error {
  readonly code: string
  readonly remedy: string | undefined
  constructor({ code = 'commit_failed', detail = 'the commit was not made', remedy }: Refusal) {
    super(detail)
    this.code = code
    this.remedy = remedy
  }
}

/** Commits the workspace of the task inside which this runs, by asking whoever performs the task. */
export async function commitWorkspace(
  { world, signal }: Context,
  asked: { readonly message: string; readonly author?: string },
): Promise<Committed> {
  const own = readOwnTask(world.environment)
  if (own === undefined) {
    throw new UsageError(
      'this is not inside a task',
      'name the archive and the revision to announce, or commit as you are used to',
    )
  }
  if (own.commitSocket === undefined) {
    throw new UsageError(
      'the archive of this task has no repository to commit to',
      'commit where its revisions come from',
    )
  }
  const { status, body } = await send({ ...own, commitSocket: own.commitSocket }, JSON.stringify(asked), signal)
  const answer = JSON.parse(body) as Committed & Refusal
  if (status !== 200) throw new CommitFailed(answer)
  return answer
}

type Door = OwnTask & { readonly commitSocket: string }

function send({ commitSocket, token }: Door, body: string, signal: AbortSignal) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const asking = request(
      { socketPath: commitSocket, path: '/commit', method: 'POST', headers, signal },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }),
        )
      },
    )
    asking.on('error', reject)
    asking.end(body)
  })
}
