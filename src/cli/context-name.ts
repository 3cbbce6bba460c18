import type { Context, Contexts } from '../config/index.ts'
import { UsageError } from './exit.ts'

/** There is no context of that name. */
class ContextNotFound extends Error {
  readonly code = 'context_not_found'
  readonly remedy: string
  constructor(name: string, known: readonly string[]) {
    super(`there is no context ${name}`)
    this.remedy = known.length === 0 ? '`millrace login --server URL` makes one' : `choose from ${known.join(', ')}`
  }
}

export function contextNamed({ contexts }: Contexts, name: string): Context {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (found === undefined) throw new ContextNotFound(name, Object.keys(contexts))
  return found
}

export function checkName(name: string): void {
  if (!/^[\w][\w.-]{0,63}$/.test(name) || name === '__proto__') {
    throw new UsageError(`${name} cannot be the name of a context`, 'use letters, digits, - _ and .')
  }
}
