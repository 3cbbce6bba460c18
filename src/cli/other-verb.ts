// Which command is meant where another one was given: to ask again is `retry` or `rerun`, as the task has ended.
import { UsageError } from './exit.ts'
import { clean } from './render/text.ts'
import { revisionOf } from './revision.ts'
import type { Refusal } from './tell-acted.ts'

/** Throws where a whole revision is named, with what does that to all of it. */
export function requireTask(id: string, verb: string): void {
  const revision = revisionOf(id)
  if (revision === undefined) return
  const all = `--filter 'scope:"archive:${revision.name}" key:${revision.rev}:*'`
  const again = `\`millrace rerun ${quoted(id)} --only failed\``
  throw new UsageError(
    `${id} is a revision and not a task`,
    verb === 'retry' ? `ask for what failed of it with ${again}` : `name a task (${id}:NAME), or all with ${all}`,
  )
}

/** The refusal, with the verb that the state of the task asks for. */
export function withOtherVerb(error: Refusal, verb: string, id: string): Refusal {
  if (error.code !== 'state_refused') return error
  const [, state = ''] = / is (\w+) and cannot be /.exec(error.message) ?? []
  const name = quoted(clean(id))
  if (verb === 'retry' && state === 'succeeded') {
    return Object.assign(error, { remedy: `run again what succeeded with \`millrace rerun ${name}\`` })
  }
  if (verb === 'rerun' && ['failed', 'canceled', 'skipped'].includes(state)) {
    return Object.assign(error, { remedy: `ask again for what did not succeed with \`millrace retry ${name}\`` })
  }
  return error
}

const quoted = (id: string) => (/^[\w@:#./-]+$/.test(id) ? id : `'${id}'`)
