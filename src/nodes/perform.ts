// What the types of nodes do.
import { access } from 'node:fs/promises'
import { type Later, later } from '../engine/index.ts'
import type { Ending } from '../runners/index.ts'
import type { Begun } from './begin.ts'
import { NodeFailure } from './failure.ts'
import type { Branch } from './node.ts'
import { type Attempt, runCommand, type Workshop } from './run-command.ts'

/** What is kept of a success; of an `if`, also which children run. */
export type Success = { readonly result: number | null; readonly branch?: Branch }

export function performNode(at: Workshop, attempt: Attempt, work: Begun): Promise<Success | Later> {
  switch (work.type) {
    case 'command':
    case 'shell command':
      return performCommand(at, attempt, work)
    case 'if':
      return performIf(at, attempt, work)
    case 'condition':
      return performCondition(at, attempt, work)
    case 'sleep':
      return performSleep(work)
  }
}

async function performCommand(at: Workshop, attempt: Attempt, work: Begun): Promise<Success> {
  const ending = await runCommand(at, attempt, work, work.spec.timeout)
  if (ending.type === 'exited' && ending.code === 0) return { result: 0 }
  throw toFailure(ending)
}

async function performIf(at: Workshop, attempt: Attempt, work: Begun): Promise<Success> {
  const ending = await runCommand(at, attempt, work, work.spec.timeout)
  if (ending.type !== 'exited') throw toFailure(ending)
  return { result: ending.code, branch: ending.code === 0 ? 'then' : 'else' }
}

async function performSleep({ spec, seconds }: Begun): Promise<Success | Later> {
  const left = (spec.seconds ?? 0) - seconds
  return left > 0 ? later({ delaySeconds: left }) : { result: 0 }
}

/** One look. A place is taken up only while looking. */
async function performCondition(at: Workshop, attempt: Attempt, work: Begun): Promise<Success | Later> {
  const { timeout } = work.spec
  const begun = performance.now()
  const leftSeconds = () =>
    timeout === undefined ? Number.POSITIVE_INFINITY : timeout - work.seconds - (performance.now() - begun) / 1000
  const look = await lookOnce(at, attempt, work, leftSeconds())
  if (look.isMet) return { result: look.result }
  const left = leftSeconds()
  if (left > 0) return later({ delaySeconds: Math.max(0.001, Math.min(look.nextSeconds, left)) })
  const error = `timed out: the condition did not come true within ${timeout} s`
  throw new NodeFailure(error, { result: look.result, error })
}

type Look = { readonly isMet: boolean; readonly result: number | null; readonly nextSeconds: number }

async function lookOnce(at: Workshop, attempt: Attempt, work: Begun, leftSeconds: number): Promise<Look> {
  const { spec } = work
  const nextSeconds = spec.interval ?? intervalAfter(work.seconds)
  if (spec.time !== undefined) {
    const left = (new Date(spec.time).getTime() - work.now.getTime()) / 1000
    return { isMet: left <= 0, result: null, nextSeconds: left }
  }
  if (spec.file !== undefined) {
    const isThere = await access(spec.file).then(
      () => true,
      () => false,
    )
    return { isMet: isThere, result: null, nextSeconds }
  }
  if (leftSeconds <= 0) return { isMet: false, result: null, nextSeconds }
  const ending = await runCommand(at, attempt, work, Number.isFinite(leftSeconds) ? leftSeconds : undefined)
  if (ending.type === 'spawn_failed' || ending.type === 'lost') throw toFailure(ending)
  const result = ending.type === 'exited' ? ending.code : null
  return { isMet: result === 0, result, nextSeconds }
}

const LONGEST_INTERVAL = 30

/** Without an interval of the user's: often at first, then at a tenth of the time that was waited. */
const intervalAfter = (seconds: number) => Math.min(LONGEST_INTERVAL, Math.max(1, seconds / 10))

function toFailure(ending: Ending): Error {
  switch (ending.type) {
    case 'exited':
      return new NodeFailure(`exited with ${ending.code}`, { result: ending.code, ...noteOf(ending) })
    case 'signaled':
      return new NodeFailure(`ended by ${ending.signal}`, { result: null, signal: ending.signal, ...noteOf(ending) })
    case 'spawn_failed':
      return new NodeFailure(`could not be started: ${ending.reason}`)
    case 'timed_out':
      return timedOut(ending)
    case 'lost':
      return new NodeFailure(`lost: ${ending.reason}`)
    case 'stopped':
      return new NodeFailure('stopped')
  }
}

function timedOut({ afterMs, signal }: Extract<Ending, { type: 'timed_out' }>): NodeFailure {
  const error = `timed out after ${afterMs / 1000} s`
  return new NodeFailure(error, { result: null, error, ...(signal === undefined ? {} : { signal }) })
}

const noteOf = ({ note }: { readonly note?: string }) => (note === undefined ? {} : { error: note })
