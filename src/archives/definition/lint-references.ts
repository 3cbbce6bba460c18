import { type Finding, finding } from './finding.ts'
import { COMMIT, PREV, suggestName } from './names.ts'
import { nearest } from './nearest.ts'
import { type Entry, isCommit, type OutlineFile, type OutlineTask, whenOf } from './outline.ts'
import type { Tree } from './tree.ts'

const MOST_SUGGESTIONS = 100

/**
 * What is wrong with single entries of `depends` and `cancels`. When a file could not be read, its tasks are not known,
 * and a name that is not found may be one of them: `isComplete` is false then.
 */
export function lintReferences(files: readonly OutlineFile[], isComplete: boolean): Finding[] {
  // A malformed name is reported as such; whoever refers to what it should be is not wrong.
  const names = new Set(files.flatMap((file) => file.tasks.flatMap(({ name = '' }) => suggestName(name) ?? [])))
  let suggestions = 0
  // Each suggestion compares with all names; after this many, nobody reads them.
  const suggest = (name: string, known: Iterable<string>) =>
    ++suggestions > MOST_SUGGESTIONS ? undefined : nearest(name, known)
  const unknown = (tree: Tree, key: 'depends' | 'cancels', list: readonly Entry[]) =>
    isComplete ? list.flatMap((entry) => findUnknown(tree, { key, entry }, names, suggest)) : []
  return files.flatMap((file) => {
    const top = file.cancelsFor('')
    return [
      ...unknown(file.tree, 'cancels', top),
      ...top.flatMap((entry) => findCanceledCommit(file.tree, entry)),
      ...findTwice(file.tree, top),
      ...file.tasks.flatMap((task) => [
        ...unknown(file.tree, 'depends', task.depends),
        ...unknown(file.tree, 'cancels', task.cancels),
        ...findTwice(file.tree, task.depends),
        ...findTwice(file.tree, task.cancels),
        ...findNeverMet(task),
        ...(isCommit(task) ? [] : task.cancels.flatMap((entry) => findCanceledCommit(file.tree, entry))),
        ...findSelfCancel(task),
      ]),
    ]
  })
}

type Suggest = (name: string, known: Iterable<string>) => string | undefined
type Written = { readonly key: 'depends' | 'cancels'; readonly entry: Entry }

function findUnknown(tree: Tree, { key, entry }: Written, names: ReadonlySet<string>, suggest: Suggest): Finding[] {
  if (entry.text === PREV || entry.name === COMMIT || names.has(entry.name)) return []
  const code = entry.isPrevious ? 'unknown-previous' : key === 'depends' ? 'unknown-depends' : 'unknown-cancels'
  const meant = suggest(entry.name, entry.isPrevious ? names : [...names, PREV, COMMIT])
  const message = `there is no task "${entry.name}" at this revision`
  const suggestion = meant && `did you mean ${entry.isPrevious ? `${PREV}:` : ''}${meant}?`
  return [finding(code, tree.placeOf(entry.path), message, { suggestion })]
}

function findTwice(tree: Tree, entries: readonly Entry[]): Finding[] {
  const firsts = new Map<string, Entry>()
  return entries.flatMap((entry) => {
    const key = `${entry.isPrevious} ${entry.name} ${whenOf(entry)}`
    const first = firsts.get(key)
    if (first === undefined) {
      firsts.set(key, entry)
      return []
    }
    const related = [{ ...tree.placeOf(first.path), message: 'the first one' }]
    return [
      finding('duplicate-entry', tree.placeOf(entry.path), `"${entry.text}" stands in this list already`, { related }),
    ]
  })
}

function findNeverMet({ file, depends }: OutlineTask): Finding[] {
  const { tree } = file
  return depends.flatMap((entry) => {
    if (whenOf(entry) !== 'failed') return []
    if (entry.name === COMMIT)
      return [finding('never-met', tree.placeOf(entry.path), 'COMMIT never fails, so that the task would never run')]
    const other = depends.find(
      (one) => one.name === entry.name && one.isPrevious === entry.isPrevious && whenOf(one) === 'succeeded',
    )
    if (other === undefined) return []
    const related = [{ ...tree.placeOf(other.path), message: 'waits for its success' }]
    const message = `${entry.text} cannot both succeed and fail, so that the task would never run`
    return [
      finding('never-met', tree.placeOf(entry.path), message, {
        suggestion: 'wait for its end: when: finished',
        related,
      }),
    ]
  })
}

function findCanceledCommit(tree: Tree, entry: Entry): Finding[] {
  if (entry.name !== COMMIT) return []
  return [finding('cancels-commit', tree.placeOf(entry.path), 'COMMIT cannot be canceled')]
}

function findSelfCancel({ file, name, cancels }: OutlineTask): Finding[] {
  return cancels
    .filter((entry) => !entry.isPrevious && entry.name === name && name !== COMMIT)
    .map((entry) => {
      const suggestion = 'write PREV for the earlier ones of this name'
      return finding('self-cancel', file.tree.placeOf(entry.path), 'the task cancels itself', { suggestion })
    })
}
