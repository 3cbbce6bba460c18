import type { Db } from '../db/index.ts'
import { toTaskId } from './add.ts'
import { AmbiguousTask, TaskNotFound } from './errors.ts'
import { findKeyed } from './lists.sql.ts'
import { read } from './read.ts'
import type { TaskId } from './task.ts'

const LONGEST = 2200
const MOST_READINGS = 64

/**
 * The id of the task that a person named: by its number; as `scope/key`; or as `My-Project@12:index`, which is key
 * `12:index` of scope `archive:My-Project`. A name that can be read in several ways is the task that exists. Throws
 * `TaskNotFound`, or `AmbiguousTask` when several do.
 */
export async function resolveTask(db: Db, name: string): Promise<TaskId> {
  if (/^\d+$/.test(name)) return (await read(db, toTaskId(name))).id
  const readings = name.length > LONGEST || name.includes('\u0000') ? [] : readingsOf(name)
  const found = readings.length === 0 ? [] : await findKeyed(db, toColumns(readings))
  const [first, ...others] = new Set(found.map((row) => row.id))
  if (first === undefined) throw new TaskNotFound(name.slice(0, LONGEST))
  if (others.length > 0) throw new AmbiguousTask(name, [first, ...others])
  return first
}

/** How a task of an archive is named, or `scope/key`; null for a task without a key. */
export function nameOfTask(task: { readonly scope: string; readonly key: string | null }): string | null {
  if (task.key === null) return null
  const [, archive] = /^archive:(.+)$/s.exec(task.scope) ?? []
  return archive !== undefined && task.key.includes(':') ? `${archive}@${task.key}` : `${task.scope}/${task.key}`
}

type Reading = { readonly scope: string; readonly key: string }

function readingsOf(name: string): Reading[] {
  return [...name.matchAll(/[@/]/g)].slice(0, MOST_READINGS).flatMap(({ 0: sign, index }) => {
    const [before, key] = [name.slice(0, index), name.slice(index + 1)]
    if (before === '' || key === '') return []
    if (sign === '/') return [{ scope: before, key }]
    return key.includes(':') ? [{ scope: `archive:${before}`, key }] : []
  })
}

const toColumns = (readings: readonly Reading[]) => ({
  scopes: readings.map((reading) => reading.scope),
  keys: readings.map((reading) => reading.key),
})
