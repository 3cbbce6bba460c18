import { isMapping } from './is-mapping.ts'
import { COMMIT, parseReference, type Reference } from './names.ts'
import { MOST_ENTRIES } from './schema.ts'
import type { Path, Tree } from './tree.ts'

/** An entry of `depends` or `cancels`. */
export type Entry = Reference & {
  readonly text: string
  readonly path: Path
  /** As it is written; undefined when it is not. */
  readonly when: string | undefined
}

export type OutlineTask = {
  readonly file: OutlineFile
  readonly path: Path
  /** Undefined when the task has none, or one that is not text. */
  readonly name: string | undefined
  readonly value: Readonly<Record<string, unknown>>
  readonly depends: readonly Entry[]
  readonly cancels: readonly Entry[]
}

/**
 * What can be understood of a file whose shape may be wrong in places, so that all that is wrong with its meaning is
 * reported in the same round. What is malformed is missing here; the shape's findings tell of it.
 */
export type OutlineFile = {
  readonly tree: Tree
  readonly workflow: string
  readonly value: Readonly<Record<string, unknown>>
  readonly tasks: readonly OutlineTask[]
  /** Those of the whole file, as they are for a task of that name. */
  cancelsFor(own: string): readonly Entry[]
}

export function outline(tree: Tree): OutlineFile {
  const value = isMapping(tree.value) ? tree.value : {}
  const [list, path]: [unknown, Path] = Array.isArray(tree.value) ? [tree.value, []] : [value['tasks'], ['tasks']]
  const tasks: OutlineTask[] = []
  const file: OutlineFile = {
    tree,
    workflow: typeof value['name'] === 'string' ? value['name'] : baseName(tree.source.file),
    value,
    tasks,
    cancelsFor: (own) => entries(value['cancels'], ['cancels'], own),
  }
  for (const [i, item] of (Array.isArray(list) ? list : []).entries())
    if (isMapping(item) && !isDefaults(item)) tasks.push(toTask(item, [...path, i], file))
  return file
}

/** Defaults that stand among the tasks of a list, where they are no task with mistakes. */
export const isDefaults = (item: unknown): boolean => isMapping(item) && 'defaults' in item && !('name' in item)

function toTask(value: Readonly<Record<string, unknown>>, path: Path, file: OutlineFile): OutlineTask {
  const name = typeof value['name'] === 'string' ? value['name'] : undefined
  return {
    file,
    path,
    name,
    value,
    depends: entries(value['depends'], [...path, 'depends'], name),
    cancels: entries(value['cancels'], [...path, 'cancels'], name),
  }
}

function entries(value: unknown, path: Path, own: string | undefined): Entry[] {
  const items = Array.isArray(value)
    ? value.slice(0, MOST_ENTRIES).map((item, i) => ({ item, at: [...path, i] }))
    : [{ item: value, at: path }]
  return items.flatMap(({ item, at }) => {
    const text = isMapping(item) ? item['task'] : item
    const reference = typeof text === 'string' ? parseReference(text, own ?? '') : undefined
    if (reference === undefined || typeof text !== 'string') return []
    const when = isMapping(item) && typeof item['when'] === 'string' ? item['when'] : undefined
    return [{ ...reference, text, when, path: isMapping(item) ? [...at, 'task'] : at }]
  })
}

/** What is waited for: a task of the same revision must have succeeded, an earlier one must be over. */
export function whenOf({ when, isPrevious }: Pick<Entry, 'when' | 'isPrevious'>): string {
  return when ?? (isPrevious ? 'finished' : 'succeeded')
}

export const isCommit = ({ name }: { readonly name: string | undefined }) => name === COMMIT

/** The name of a file without its folder and its ending: that of the workflow when it gives itself none. */
export function baseName(file: string): string {
  return (file.split('/').at(-1) ?? file).replace(/\.(ya?ml|json)$/, '')
}
