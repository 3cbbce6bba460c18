import { type Finding, finding, type Related } from './finding.ts'
import { COMMIT, PREV } from './names.ts'
import { isCommit, type OutlineFile, type OutlineTask } from './outline.ts'
import type { Place } from './tree.ts'

const MOST_TASKS = 1000

/** Names that stand twice or are reserved, and how many there are. */
export function lintNames(files: readonly OutlineFile[]): Finding[] {
  const tasks = files.flatMap((file) => file.tasks)
  return [...findTooMany(tasks), ...findDuplicates(tasks), ...tasks.flatMap(findReserved), ...findSameWorkflows(files)]
}

const placeOfName = ({ file, path }: OutlineTask): Place => file.tree.placeOf([...path, 'name'])
const firstOne = (place: Place): Related[] => [{ ...place, message: 'the first one' }]

function findTooMany(tasks: readonly OutlineTask[]): Finding[] {
  const over = tasks[MOST_TASKS]
  if (over === undefined) return []
  const message = `this is task ${MOST_TASKS + 1} of ${tasks.length}; an archive has at most ${MOST_TASKS}`
  return [finding('too-many-tasks', over.file.tree.placeOfLack(over.path), message)]
}

function findDuplicates(tasks: readonly OutlineTask[]): Finding[] {
  const firsts = new Map<string, OutlineTask>()
  return tasks.flatMap((task) => {
    if (task.name === undefined) return []
    // Each file may add to what COMMIT waits for.
    const key = isCommit(task) ? `${COMMIT} ${task.file.tree.source.file}` : task.name
    const first = firsts.get(key)
    if (first === undefined) {
      firsts.set(key, task)
      return []
    }
    const place = placeOfName(first)
    const elsewhere = first.file === task.file ? '' : ` in ${place.file}`
    const message = `there is a task "${task.name}" already${elsewhere}`
    return [finding('duplicate-task', placeOfName(task), message, { related: firstOne(place) })]
  })
}

function findReserved(task: OutlineTask): Finding[] {
  if (task.name === PREV) {
    const message = 'PREV is reserved: in depends and cancels it means the previous revision'
    return [finding('reserved-name', placeOfName(task), message, { suggestion: 'choose another name' })]
  }
  if (!isCommit(task)) return []
  return Object.keys(task.value)
    .filter((key) => key !== 'name' && key !== 'depends')
    .map((key) => {
      const message = `COMMIT is reserved: it takes depends, and no ${key}`
      const suggestion = 'choose another name for the task, or leave the key out'
      return finding('reserved-name', task.file.tree.placeOfKey([...task.path, key]), message, { suggestion })
    })
}

function findSameWorkflows(files: readonly OutlineFile[]): Finding[] {
  const firsts = new Map<string, Place>()
  return files.flatMap((file) => {
    const place = typeof file.value['name'] === 'string' ? file.tree.placeOf(['name']) : file.tree.source.range(0, 0)
    const first = firsts.get(file.workflow)
    if (first === undefined) {
      firsts.set(file.workflow, place)
      return []
    }
    const message = `there is a workflow "${file.workflow}" already in ${first.file}`
    const suggestion = 'rename the file, or give the workflow another name'
    return [finding('duplicate-workflow', place, message, { suggestion, related: firstOne(first) })]
  })
}
