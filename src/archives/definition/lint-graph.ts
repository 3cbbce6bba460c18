import { findCycles } from './find-cycles.ts'
import { type Finding, finding } from './finding.ts'
import { holdsNever } from './lint-triggers.ts'
import { COMMIT } from './names.ts'
import { type Entry, isCommit, type OutlineFile, type OutlineTask, whenOf } from './outline.ts'

/** A requirement within one revision; the one of COMMIT is not written anywhere. */
type Link = { readonly to: string; readonly task: OutlineTask; readonly entry: Entry | undefined }

type Graph = {
  /** By name; the first of several that share one. COMMIT is none of them. */
  readonly tasks: ReadonlyMap<string, OutlineTask>
  readonly links: ReadonlyMap<string, readonly Link[]>
  /** What is waited for of earlier revisions, by the name of who waits. */
  readonly earlier: ReadonlyMap<string, readonly Entry[]>
}

/** What is wrong with the tasks of a revision together: cycles, and what can never come to pass. */
export function lintGraph(files: readonly OutlineFile[]): Finding[] {
  const all = files.flatMap((file) => file.tasks)
  const graph = toGraph(all)
  const cycles = lintCycles(graph)
  const cancels = cycles.length > 0 ? [] : lintCancels(files, graph)
  return [...cycles, ...cancels, ...lintReach(all, graph)]
}

function toGraph(all: readonly OutlineTask[]): Graph {
  const tasks = new Map<string, OutlineTask>()
  for (const task of all) if (task.name && !isCommit(task) && !tasks.has(task.name)) tasks.set(task.name, task)
  const links = new Map<string, Link[]>([[COMMIT, []]])
  const earlier = new Map<string, Entry[]>([[COMMIT, []]])
  for (const task of [...all.filter(isCommit), ...tasks.values()]) {
    const name = task.name ?? ''
    const here = task.depends.filter((entry) => !entry.isPrevious && (entry.name === COMMIT || tasks.has(entry.name)))
    const implicit: Link[] = isCommit(task) ? [] : [{ to: COMMIT, task, entry: undefined }]
    const written = here.map((entry) => ({ to: entry.name, task, entry }))
    links.set(name, [...(links.get(name) ?? []), ...written, ...implicit])
    earlier.set(name, [...(earlier.get(name) ?? []), ...task.depends.filter((entry) => entry.isPrevious)])
  }
  return { tasks, links, earlier }
}

function lintCycles({ tasks, links }: Graph): Finding[] {
  const following = new Map([...links].map(([name, list]) => [name, list.map(({ to }) => to)]))
  const cycles = findCycles([...tasks.keys(), COMMIT], (name) => following.get(name) ?? [])
  return cycles.flatMap((cycle) => {
    const steps = cycle.flatMap(
      (from, i) => links.get(from)?.find(({ to }) => to === cycle[(i + 1) % cycle.length]) ?? [],
    )
    const places = steps.flatMap(({ entry, task }) =>
      entry ? [{ ...task.file.tree.placeOf(entry.path), message: `${task.name} waits for ${entry.name}` }] : [],
    )
    const [first, ...related] = places
    if (first === undefined) return []
    const isAlone = cycle.length === 1
    const message = isAlone
      ? 'the task waits for itself'
      : `these tasks wait for each other: ${[...cycle, cycle[0]].join(' -> ')}`
    return [finding('cycle', first, message, { suggestion: suggestWayOut(cycle), related })]
  })
}

function suggestWayOut(cycle: readonly string[]): string | undefined {
  if (cycle.length === 1) return cycle[0] === COMMIT ? 'leave it out' : 'write PREV to wait for the previous revision'
  if (!cycle.includes(COMMIT)) return undefined
  return 'every task waits for COMMIT; let COMMIT wait for PREV:name'
}

function lintCancels(files: readonly OutlineFile[], graph: Graph): Finding[] {
  const closures = toClosures(graph)
  return files.flatMap((file) => {
    const report = (entry: Entry) => {
      const message = `this never cancels anything: ${entry.text} is always over when the task becomes ready`
      const suggestion = 'leave it out, or do not wait for what is to be canceled'
      return finding('cancel-never-fires', file.tree.placeOf(entry.path), message, { suggestion })
    }
    const named = file.tasks.filter((task) => task.name && !isCommit(task))
    const own = named.flatMap((task) => task.cancels.filter((entry) => neverFires(task, entry, closures)))
    // What stands at the top is of use when it is so for one task.
    const ofTasks = named.map((task) => ({ task, entries: file.cancelsFor(task.name ?? '') }))
    const top = file.cancelsFor('').filter((_, i) =>
      ofTasks.every(({ task, entries }) => {
        const entry = entries[i]
        return entry === undefined || isOwn(task, entry) || neverFires(task, entry, closures)
      }),
    )
    return [...own, ...(named.length > 0 ? top : [])].map(report)
  })
}

const isOwn = (task: OutlineTask, entry: Entry) => !entry.isPrevious && entry.name === task.name

/** All that a task waits for, through others too: tasks of its revision, and names of earlier ones. */
type Closure = { readonly here: ReadonlySet<string>; readonly earlier: ReadonlySet<string> }
type Closures = { readonly of: (name: string) => Closure; readonly tasks: Graph['tasks'] }

/** Closures are computed when they are asked for: few tasks cancel anything. */
function toClosures({ links, earlier, tasks }: Graph): Closures {
  const known = new Map<string, Closure>()
  const compute = (name: string): Closure => {
    const here = new Set([name])
    const before = new Set<string>()
    for (const one of here) {
      for (const { to } of links.get(one) ?? []) here.add(to)
      for (const entry of earlier.get(one) ?? []) before.add(entry.name)
    }
    here.delete(name)
    return { here, earlier: before }
  }
  const of = (name: string) => {
    const closure = known.get(name) ?? compute(name)
    known.set(name, closure)
    return closure
  }
  return { of, tasks }
}

function isExclusive(task: OutlineTask | undefined): boolean {
  const defaults = task?.file.value['defaults'] as Readonly<Record<string, unknown>> | null | undefined
  return (task?.value['exclusive'] ?? defaults?.['exclusive']) === true
}

function neverFires(task: OutlineTask, entry: Entry, { of, tasks }: Closures): boolean {
  const { here, earlier } = of(task.name ?? '')
  if (entry.name === COMMIT) return false // is refused as such
  if (!entry.isPrevious) return here.has(entry.name)
  // An exclusive task waits for all exclusive ones of earlier revisions.
  return earlier.has(entry.name) || (isExclusive(task) && isExclusive(tasks.get(entry.name)))
}

/** A task whose condition never holds, and one that waits for the failure of such a task. */
function lintReach(all: readonly OutlineTask[], { tasks }: Graph): Finding[] {
  const never = new Set(all.filter((task) => !isCommit(task) && holdsNever(task)))
  const findings = [...never].map(({ file, path }) =>
    finding('unreachable-task', file.tree.placeOf([...path, 'if']), 'the task never runs: this condition never holds'),
  )
  const waitsForNever = ({ depends }: OutlineTask) =>
    depends.find((entry) => {
      const target = entry.isPrevious ? undefined : tasks.get(entry.name)
      return whenOf(entry) === 'failed' && target !== undefined && never.has(target)
    })
  for (let size = -1; size !== never.size; ) {
    size = never.size
    for (const task of all) {
      const entry = never.has(task) ? undefined : waitsForNever(task)
      if (entry === undefined) continue
      never.add(task)
      const message = `the task never runs: it waits for the failure of ${entry.name}, which never runs`
      findings.push(finding('unreachable-task', task.file.tree.placeOf(entry.path), message))
    }
  }
  return findings
}
