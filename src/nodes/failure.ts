import { PermanentError } from '../engine/index.ts'
import type { Begun } from './begin.ts'
import type { Failure } from './results.ts'

/** Ends a node as failed, with what is to be seen as its data. */
export class NodeFailure extends PermanentError {
  constructor(message: string, data: Failure = { result: null, error: message }) {
    super(message, { data })
    // Nobody looks for a fault of the program here.
    this.stack = `${this.name}: ${message}`
  }
}

/**
 * Throws when an attempt at this work began and nobody knows how far it came, unless doing it again is harmless: looking at
 * a condition is, and of others the user says so.
 */
export function refuseLost({ type, spec, lost }: Begun): void {
  if (lost === undefined || type === 'condition' || type === 'sleep' || spec.rerun_if_lost) return
  const how = lost.how === 'handed_back' ? 'its server was stopped' : 'its worker died, or lost the database,'
  const error = `lost: ${how} while it ran`
  throw new NodeFailure(error, { result: null, error, attempt: lost.epoch })
}
