import { mapping, task } from './schema.ts'
import type { Path } from './tree.ts'

const OF_TASK = Object.keys(task.shape)
const OF_DEFAULTS = Object.keys(mapping.shape.defaults.unwrap().shape)

/** Where a key belongs that stands in the wrong place: under `defaults`, in a task, or at the top of the file. */
export function suggestPlace(key: string, path: Path, value: unknown): string | undefined {
  const isAtTop = path.length === 0
  if (key === 'defaults') {
    return path.includes('tasks') || typeof path[0] === 'number'
      ? 'write its keys in the task itself, or defaults once at the top of the file, beside tasks'
      : 'write defaults at the top of the file, beside tasks'
  }
  if (isAtTop && OF_DEFAULTS.includes(key)) {
    const isShort = (typeof value === 'string' && /^[\w./:-]+$/.test(value)) || typeof value === 'number'
    return isShort ? `write defaults: { ${key}: ${value} }` : `indent it under defaults`
  }
  if (path[0] !== 'defaults' || path.length > 1 || !OF_TASK.includes(key)) return undefined
  return key === 'cancels'
    ? 'write cancels at the top of the file, beside defaults'
    : `write ${key} in each task; the keys of defaults are ${OF_DEFAULTS.join(', ')}`
}
