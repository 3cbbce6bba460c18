// Random definitions and histories of archives, and a model that knows nothing but the rules of the guide, said over the
// whole history at once: who is present where, who is over, and which edges follow.
import fc from 'fast-check'

export const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'] as const
export type Name = (typeof NAMES)[number]
export type When = 'succeeded' | 'finished' | 'failed'
export type Entry = { readonly to: Name; readonly isPrevious: boolean; readonly when: When | undefined }
export type Task = {
  readonly name: Name
  readonly depends: Entry[]
  readonly cancels: Entry[]
  readonly exclusive: boolean
  readonly isWanted: boolean
}
export type Revision = {
  readonly kind: 'fine' | 'broken' | 'skipped'
  readonly tasks: Task[]
  readonly commitDepends: Entry[]
  readonly topCancels: boolean
  /** Which of the unfinished tasks end before the next revision. */
  readonly ends: number[]
}

// --- the model: rev is the place in the list --------------------------------------------------------------------------

export class Model {
  readonly revisions: Revision[] = []
  readonly over = new Set<string>()

  defined(rev: number): Task[] {
    const revision = this.revisions[rev]
    return revision?.kind === 'fine' ? revision.tasks : []
  }

  isPresent(rev: number, name: Name): boolean {
    const task = this.defined(rev).find((one) => one.name === name)
    return task?.isWanted === true && !task.depends.some((entry) => this.isOutOfReach(rev, entry))
  }

  /** Waits for the failure of an absent task; or needs an absent task that would have waited for that. */
  isOutOfReach(rev: number, { to, isPrevious, when = 'succeeded' }: Entry): boolean {
    if (isPrevious || when === 'finished' || this.isPresent(rev, to)) return false
    const task = this.defined(rev).find((one) => one.name === to)
    return when === 'failed' || (task?.depends ?? []).some((entry) => this.isOutOfReach(rev, entry))
  }

  nearest(rev: number, name: Name): string[] {
    for (let before = rev - 1; before >= 0; before -= 1) if (this.isPresent(before, name)) return [`${before}:${name}`]
    return []
  }

  earlier(rev: number, fits: (task: Task) => boolean): string[] {
    return this.revisions.slice(0, rev).flatMap((_, before) =>
      this.defined(before)
        .filter((task) => this.isPresent(before, task.name) && fits(task) && !this.over.has(`${before}:${task.name}`))
        .map(({ name }) => `${before}:${name}`),
    )
  }

  /** Everything that an entry of a task of `rev` makes it wait for. */
  waits(rev: number, { to, isPrevious, when }: Entry, isEndEnough = false): string[] {
    const asked = isEndEnough ? 'finished' : (when ?? (isPrevious ? 'finished' : 'succeeded'))
    if (isPrevious) return this.nearest(rev, to).map((task) => `${task} ${asked}`)
    if (this.isPresent(rev, to)) return [`${rev}:${to} ${asked}`]
    const would = this.defined(rev).find((one) => one.name === to)?.depends ?? []
    return [
      ...this.nearest(rev, to).map((task) => `${task} finished`),
      ...would.flatMap((entry) => this.waits(rev, entry, asked === 'finished')),
    ]
  }

  edges(rev: number): string[] {
    const revision = this.revisions[rev] as Revision
    const added = revision.kind === 'fine' ? revision.commitDepends.flatMap((entry) => this.waits(rev, entry)) : []
    const before = rev > 0 ? [`${rev - 1}:COMMIT finished`] : []
    const present = this.defined(rev).filter(({ name }) => this.isPresent(rev, name))
    return [
      ...[...before, ...added].map((edge) => `${rev}:COMMIT waits ${edge}`),
      ...present.flatMap((task) => [
        ...[
          `${rev}:COMMIT succeeded`,
          ...task.depends.flatMap((entry) => this.waits(rev, entry)),
          ...(task.exclusive ? this.earlier(rev, ({ exclusive }) => exclusive).map((key) => `${key} finished`) : []),
        ].map((edge) => `${rev}:${task.name} waits ${edge}`),
        ...[...task.cancels, ...(revision.topCancels ? [{ to: task.name, isPrevious: true }] : [])]
          .flatMap(({ to, isPrevious }) => {
            if (isPrevious) return this.earlier(rev, ({ name }) => name === to)
            return this.isPresent(rev, to) ? [`${rev}:${to}`] : []
          })
          .map((key) => `${rev}:${task.name} cancels ${key}`),
      ]),
    ]
  }
}

// --- random archives --------------------------------------------------------------------------------------------------

const when = fc.constantFrom<When | undefined>(undefined, 'succeeded', 'finished', 'failed')

/** Within the revision only to tasks further up, so that there are no cycles; one condition for each. */
function entries(own: number): fc.Arbitrary<Entry[]> {
  const here =
    own > 0 ? [fc.record({ to: fc.constantFrom(...NAMES.slice(0, own)), isPrevious: fc.constant(false), when })] : []
  const earlier = fc.record({ to: fc.constantFrom(...NAMES), isPrevious: fc.constant(true), when })
  return fc.uniqueArray(fc.oneof(earlier, ...here, ...here), {
    maxLength: 3,
    selector: ({ to, isPrevious }) => `${to}${isPrevious}`,
  })
}

const task = (name: Name, i: number): fc.Arbitrary<Task> =>
  fc.record({
    name: fc.constant(name),
    depends: entries(i),
    cancels: fc.uniqueArray(
      fc
        .record({ to: fc.constantFrom(...NAMES), isPrevious: fc.boolean(), when: fc.constant(undefined) })
        .filter(({ to, isPrevious }) => isPrevious || to !== name),
      { maxLength: 2, selector: ({ to, isPrevious }) => `${to}${isPrevious}` },
    ),
    exclusive: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    isWanted: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  })

export const revision: fc.Arbitrary<Revision> = fc
  .record({
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constant('fine' as const) },
      { weight: 1, arbitrary: fc.constantFrom('broken' as const, 'skipped' as const) },
    ),
    tasks: fc.tuple(...NAMES.map(task)),
    size: fc.subarray([...NAMES]),
    commitDepends: entries(0),
    topCancels: fc.boolean(),
    ends: fc.array(fc.nat(), { maxLength: 8 }),
  })
  .map(({ tasks, size, ...rest }) => {
    const kept = tasks.filter(({ name }) => size.includes(name))
    const isThere = ({ to, isPrevious }: Entry) => isPrevious || size.includes(to)
    // Who is named within a revision must be defined there.
    return {
      ...rest,
      tasks: kept.map((one) => ({
        ...one,
        depends: one.depends.filter(isThere),
        cancels: one.cancels.filter(isThere),
      })),
    }
  })

export function toFile({ kind, tasks, commitDepends, topCancels }: Revision): string {
  const reference = ({ to, isPrevious }: Entry) => (isPrevious ? `PREV:${to}` : to)
  const depends = (list: Entry[]) =>
    list.map((entry) => (entry.when ? { task: reference(entry), when: entry.when } : reference(entry)))
  return JSON.stringify({
    on: { commit: null },
    ...(topCancels && { cancels: 'PREV' }),
    tasks: [
      { name: 'COMMIT', depends: depends(commitDepends) },
      ...tasks.map((one) => ({
        name: one.name,
        ...(kind === 'broken' ? {} : { command: 'make' }),
        depends: depends(one.depends),
        cancels: one.cancels.map(reference),
        exclusive: one.exclusive,
        if: `message contains "+${one.name}"`,
      })),
      ...(kind === 'broken' ? [{ name: 'x y' }] : []),
    ],
  })
}
