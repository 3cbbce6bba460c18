import type { Route } from '../api/index.ts'
import type { Millrace } from '../engine/index.ts'
import type { Asked } from './add-route.ts'
import { Problem } from './problems.ts'

/** The id of the task that the path names, when the caller may see it. */
export async function findTask<R extends Route>(millrace: Millrace, asked: Asked<R>): Promise<string> {
  const { id: ref } = asked.params as { id: string }
  const id = await millrace.resolve(ref)
  const { identity } = asked
  if (identity.limit !== null && identity.limit.name !== id) {
    throw new Problem('forbidden', `${identity.name} is limited to another task`)
  }
  return id
}
