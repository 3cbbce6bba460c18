import type { Db } from '../db/index.ts'
import { TaskNotFound } from './errors.ts'
import { read } from './read.ts'
import type { TaskId } from './task.ts'

/**
 * The id of the task that a text names: its number, the natural key of an archive's task (`My-Project@12:index` is the key
 * `12:index` in the scope `archive:My-Project`), or `scope/key` for any other. Throws `TaskNotFound`.
 */
export async function resolveTask(db: Db, text: string): Promise<TaskId> {
  if (/^\d+$/.test(text)) return (await read(db, text)).id
  // An archive's name holds no @, the name of a task may.
  const natural = /^([^@/]+)@(\d+:.+)$/s.exec(text)
  if (natural !== null) return (await read(db, { scope: `archive:${natural[1]}`, key: natural[2] ?? '' })).id
  // A scope holds no slash unless the key holds none: the last one divides.
  const slash = text.lastIndexOf('/')
  if (slash <= 0 || slash === text.length - 1) throw new TaskNotFound(text)
  return (await read(db, { scope: text.slice(0, slash), key: text.slice(slash + 1) })).id
}
