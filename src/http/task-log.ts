import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { routes } from '../api/index.ts'
import type { Attempt, Millrace } from '../engine/index.ts'
import type { FollowOptions, OutputPiece, ReadOptions } from '../storage/index.ts'
import { type Asked, addRoute } from './add-route.ts'
import { findTask } from './find-task.ts'
import { credentialsOf } from './identity.ts'
import { Problem } from './problems.ts'
import { onClose } from './wait.ts'

/** What tasks have printed. */
export type Outputs = {
  read(options: ReadOptions): Promise<OutputPiece>
  follow(options: FollowOptions): AsyncIterable<OutputPiece>
}

/** Each looks for more five times a second. */
const MOST_FOLLOWERS = 200
const CHECK_MS = 60_000

export type FollowersOptions = {
  /** How many logs are followed at once, at most. */
  readonly most?: number
  /** How often it is looked whether a follower may still be here. */
  readonly checkMs?: number
}

/** `/v1/tasks/{id}/log`: a part of what a task's attempt printed, or all of it as it comes. */
export function addTaskLog(
  app: FastifyInstance,
  millrace: Millrace,
  outputs: Outputs,
  options: FollowersOptions = {},
): void {
  const followers = new Followers(app, options)
  addRoute(app, routes.tasks.log, async (asked) => {
    const { query, reply, request } = asked
    const task = await findTask(millrace, asked)
    const attempt = await findAttempt(millrace, task, query.attempt)
    reply.type('application/octet-stream').header('x-attempt', String(attempt?.number ?? 0))
    const isOver = async (of: Attempt) => !(await millrace.isUnderWay(task, of.epoch))
    if (query.follow === '1') {
      const signal = followers.add(request, reply, asked.signal)
      // Who follows a task that has not begun yet waits for its first attempt.
      const followed = attempt ?? (await firstAttempt(millrace, task, asked.wait))
      if (followed === undefined) return reply.send(Buffer.alloc(0))
      reply.header('x-attempt', String(followed.number))
      const { stream, start } = query
      const pieces = outputs.follow({
        task,
        attempt: followed.epoch,
        stream,
        start,
        hasEnded: () => isOver(followed),
        signal,
      })
      return reply.send(Readable.from(bytesOf(pieces), { objectMode: false }))
    }
    if (attempt === undefined) {
      const { finishedAt } = await millrace.task(task)
      reply.header('x-next-start', '0').header('x-complete', String(finishedAt !== null))
      return reply.send(Buffer.alloc(0))
    }
    // Asked before the output is read: what is stored when it has ended is then all there is.
    const hasEnded = await isOver(attempt)
    const { bytes, next, isEnd } = await readRange(outputs, { ...query, task, attempt: attempt.epoch })
    reply.header('x-next-start', String(next)).header('x-complete', String(hasEnded && isEnd))
    return reply.send(bytes)
  })
}

/** Those who follow logs: so many at most, and each as long as it may. */
class Followers {
  readonly #app: FastifyInstance
  readonly #most: number
  readonly #checkMs: number
  #count = 0

  constructor(app: FastifyInstance, { most = MOST_FOLLOWERS, checkMs = CHECK_MS }: FollowersOptions) {
    this.#app = app
    this.#most = most
    this.#checkMs = checkMs
  }

  /** Aborts also when the token or session of the follower has ended. */
  add(request: FastifyRequest, reply: FastifyReply, signal: AbortSignal): AbortSignal {
    // The caller left while its task was looked up: nobody would ever take it off the count.
    if (reply.raw.closed) return signal
    if (this.#count >= this.#most) {
      throw new Problem('not_ready', `${this.#most} logs are followed on this server, and it takes no more`)
    }
    this.#count += 1
    const ended = new AbortController()
    const check = async () => {
      const found = await this.#app.access.authenticate(credentialsOf(request)).catch(() => request.identity)
      if (found === undefined) ended.abort(new Error('the token or session has ended'))
    }
    const timer = setInterval(() => void check(), this.#checkMs).unref()
    onClose(reply, () => {
      clearInterval(timer)
      this.#count -= 1
    })
    return AbortSignal.any([signal, ended.signal])
  }
}

async function* bytesOf(pieces: AsyncIterable<OutputPiece>): AsyncGenerator<Buffer> {
  for await (const { bytes } of pieces) yield bytes
}

/** The store answers pieces of a bounded size; this puts together as many as were asked for. */
async function readRange(
  outputs: Outputs,
  { task, attempt, stream, start, limit }: Required<ReadOptions>,
): Promise<Pick<OutputPiece, 'bytes' | 'next' | 'isEnd'>> {
  const parts: Buffer[] = []
  let next = start
  for (;;) {
    const piece = await outputs.read({ task, attempt, stream, start: next, limit: start + limit - next })
    parts.push(piece.bytes)
    next = piece.next
    const isFull = next >= start + limit
    if (piece.isEnd || isFull) return { bytes: Buffer.concat(parts), next, isEnd: piece.isEnd }
  }
}

/** The attempt of that number, or the last one; undefined when there was none yet. */
export async function findAttempt(
  millrace: Millrace,
  task: string,
  number: number | undefined,
): Promise<Attempt | undefined> {
  const [last] = await millrace.attempts(task, { last: 1 })
  if (number === undefined || number === last?.number) return last
  const [found] = await millrace.attempts(task, { number })
  if (found === undefined) {
    throw new Problem('not_found', `task ${task} has no attempt ${number}; it has had ${last?.number ?? 0} so far`)
  }
  return found
}

type Wait = Asked<typeof routes.tasks.log>['wait']

/** Undefined when the caller goes, or the task ends without ever having begun. */
async function firstAttempt(millrace: Millrace, task: string, wait: Wait): Promise<Attempt | undefined> {
  const look = async () => {
    const [attempt] = await millrace.attempts(task, { last: 1 })
    return { attempt, isOver: attempt !== undefined || (await millrace.task(task)).finishedAt !== null }
  }
  const { attempt } = await wait(look, ({ isOver }) => isOver, { waitMs: Number.POSITIVE_INFINITY })
  return attempt
}
