// How revision 41 waits for revision 40. Every edge leads to a task that exists already or to one of the same run, in
// the direction of `depends`, which the checks keep free of cycles: no plan can close one.
import { type Absent, type Chosen, chooseTasks, type RevisionFacts } from './choose-tasks.ts'
import { DefinitionBroken } from './errors.ts'
import { formatKey, type Revision } from './key.ts'
import { COMMIT, inputVariable } from './names.ts'
import { type Definition, hasErrors } from './read-definition.ts'
import type { Dependency, Run, TaskDefinition, When, Workflow } from './workflow.ts'

/** What is known of earlier revisions: those before this one in the archive's order, or on its line of ancestors. */
export type History = {
  /**
   * The nearest earlier revision that has tasks of this name, with the keys of the newest of them there and of all that
   * are not over. For a run by schedule or by hand, this revision counts as earlier, with what it has already.
   */
  previousOf(name: string): { readonly rev: Revision; readonly keys: readonly string[] } | undefined
  /** The keys of all earlier tasks of this name that are not over. */
  unfinishedOf(name: string): readonly string[]
  /** The keys of all exclusive tasks of earlier revisions that are not over. */
  unfinishedExclusive(): readonly string[]
}

export type Requirement = {
  readonly key: string
  readonly when: When
  /** Why it is there: it is part of every plan, it was written, it stands in for an absent task, both are exclusive. */
  readonly because: 'implicit' | 'written' | 'absent' | 'exclusive'
  /** The absent task. */
  readonly insteadOf?: string
}

type Planned = { readonly name: string; readonly key: string; readonly requires: readonly Requirement[] }

export type PlannedTask = Planned & {
  readonly workflow: string
  readonly cancels: readonly string[]
  readonly run: Run
  readonly image: string | null
  readonly env: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  readonly artifacts: readonly string[]
  readonly locks: readonly string[]
  readonly timeoutSeconds: number
  readonly retries: number
  readonly queue: string
}

export type Plan = {
  readonly archive: string
  readonly rev: Revision
  /** The milestone of the revision; undefined for a run by schedule or by hand, whose revision has one already. */
  readonly commit: Planned | undefined
  readonly tasks: readonly PlannedTask[]
  /** What the files define and this run does not have, with the reason. */
  readonly absent: readonly Absent[]
}

/**
 * What a run at a revision adds to the engine. With errors in the definition, a commit gets its milestone alone, and a
 * run by schedule or by hand is refused.
 */
export function plan(definition: Definition, facts: RevisionFacts, history: History): Plan {
  const isCommit = facts.trigger.type === 'commit'
  if (!isCommit && hasErrors(definition.problems))
    throw new DefinitionBroken(errorCount(definition.problems), String(facts.rev))
  const isThere = (name: string) => isSame(history.previousOf(name)?.rev, facts.rev)
  const { workflows, chosen, absent } = chooseTasks(definition.workflows, facts, isThere)
  const planning = new Planning(definition.workflows, chosen, { facts, history })
  return {
    archive: facts.archive,
    rev: facts.rev,
    commit: isCommit ? planning.commit(workflows) : undefined,
    tasks: chosen.map((one) => planning.task(one)),
    absent,
  }
}

/** The names that `plan` may look up, so that a caller can read the history in one go. */
export function namesToLookUp({ workflows }: Definition): {
  previous: string[]
  unfinished: string[]
  exclusive: boolean
} {
  const tasks = workflows.flatMap((workflow) => workflow.tasks)
  const depends = [...tasks.flatMap((task) => task.depends), ...workflows.flatMap((workflow) => workflow.commitDepends)]
  const cancels = tasks.flatMap((task) => task.cancels).filter(({ isPrevious }) => isPrevious)
  return {
    previous: [...new Set([COMMIT, ...depends.map(({ name }) => name)])],
    unfinished: [...new Set(cancels.map(({ name }) => name))],
    exclusive: tasks.some(({ isExclusive }) => isExclusive),
  }
}

const errorCount = (problems: Definition['problems']) => problems.filter(({ severity }) => severity === 'error').length
const isSame = (a: Revision | undefined, b: Revision) => a !== undefined && String(a) === String(b)

class Planning {
  readonly #defined: ReadonlyMap<string, TaskDefinition>
  readonly #present: ReadonlySet<string>
  readonly #facts: RevisionFacts
  readonly #history: History

  constructor(
    workflows: readonly Workflow[],
    chosen: readonly Chosen[],
    { facts, history }: { facts: RevisionFacts; history: History },
  ) {
    this.#defined = new Map(workflows.flatMap(({ tasks }) => tasks.map((task) => [task.name, task])))
    this.#present = new Set(chosen.map(({ task }) => task.name))
    this.#facts = facts
    this.#history = history
  }

  commit(workflows: readonly Workflow[]): Planned {
    const before = this.#previous(COMMIT).map((key): Requirement => ({ key, when: 'finished', because: 'implicit' }))
    const written = workflows.flatMap(({ commitDepends }) => commitDepends.flatMap((one) => this.#require(one)))
    return { name: COMMIT, key: this.#commitKey(), requires: unique([...before, ...written]) }
  }

  task({ task, workflow, inputs }: Chosen): PlannedTask {
    const { name, depends, cancels, isExclusive, condition: _, ...rest } = task
    const variables = Object.entries(inputs).map(([input, value]) => [inputVariable(input), value])
    return {
      ...rest,
      name,
      key: this.#key(name),
      workflow: workflow.name,
      requires: unique([
        { key: this.#commitKey(), when: 'succeeded', because: 'implicit' },
        ...depends.flatMap((one) => this.#require(one)),
        ...(isExclusive ? this.#history.unfinishedExclusive() : []).map(
          (key): Requirement => ({ key, when: 'finished', because: 'exclusive' }),
        ),
      ]),
      cancels: [...new Set(cancels.flatMap((one) => this.#cancel(one)))],
      env: { ...task.env, ...Object.fromEntries(variables) },
      locks: isExclusive ? [`archive:${this.#facts.archive}`] : [],
    }
  }

  #require({ name, isPrevious, when }: Dependency): Requirement[] {
    if (isPrevious) return this.#previous(name).map((key) => ({ key, when, because: 'written' }))
    if (name === COMMIT) return [{ key: this.#commitKey(), when, because: 'written' }]
    if (this.#present.has(name)) return [{ key: this.#key(name), when, because: 'written' }]
    return this.#standIn(name, when, new Set())
  }

  /**
   * What to wait for in place of a task that this run does not have: the one that another run gave this revision; else
   * the end of its nearest earlier one, whose work still holds, and all that it would itself have waited for. So no
   * task overtakes an earlier revision because a filter left out one in between.
   */
  #standIn(name: string, when: When, seen: Set<string>): Requirement[] {
    // Whoever waits for its end alone goes on when what it needs does not come: then it would be skipped.
    const isEndEnough = when === 'finished'
    const visit = `${isEndEnough} ${name}`
    if (seen.has(visit)) return []
    seen.add(visit)
    const because = { because: 'absent', insteadOf: name } as const
    const previous = this.#history.previousOf(name)
    if (previous && isSame(previous.rev, this.#facts.rev))
      return previous.keys.map((key) => ({ key, when, ...because }))
    const inherited = (this.#defined.get(name)?.depends ?? []).flatMap((one) => {
      const asked = isEndEnough ? 'finished' : one.when
      const isAbsent = !one.isPrevious && one.name !== COMMIT && !this.#present.has(one.name)
      if (isAbsent) return this.#standIn(one.name, asked, seen)
      return this.#require({ ...one, when: asked }).map((requirement) => ({ ...requirement, ...because }))
    })
    const ended = (previous?.keys ?? []).map((key): Requirement => ({ key, when: 'finished', ...because }))
    return [...ended, ...inherited]
  }

  #cancel({ name, isPrevious }: { readonly name: string; readonly isPrevious: boolean }): readonly string[] {
    if (isPrevious) return this.#history.unfinishedOf(name)
    return this.#present.has(name) ? [this.#key(name)] : []
  }

  #previous(name: string): readonly string[] {
    return this.#history.previousOf(name)?.keys ?? []
  }

  #key(name: string): string {
    const { archive, rev, trigger } = this.#facts
    return formatKey({ archive, rev, name, run: trigger.type === 'commit' ? undefined : trigger.run })
  }

  #commitKey(): string {
    const { archive, rev } = this.#facts
    return formatKey({ archive, rev, name: COMMIT })
  }
}

/** The first of several that ask the same of the same task. */
function unique(requirements: readonly Requirement[]): Requirement[] {
  const seen = new Set<string>()
  return requirements.filter(({ key, when }) => !seen.has(`${when} ${key}`) && seen.add(`${when} ${key}`))
}
