import type { RevisionFacts } from './choose-tasks.ts'
import type { History, Plan } from './plan.ts'

type Remembered = {
  readonly key: string
  readonly name: string
  readonly place: number
  readonly isExclusive: boolean
  isOver: boolean
}

/** The plans of an archive in memory, in the order of its revisions: what `millrace workflow plan` looks back on. */
export class RememberedHistory {
  readonly #revisions: string[] = []
  readonly #tasks: Remembered[] = []

  remember({ rev, commit, tasks }: Plan): void {
    if (!this.#revisions.includes(String(rev))) this.#revisions.push(String(rev))
    const place = this.#revisions.indexOf(String(rev))
    if (commit) this.#tasks.push({ key: commit.key, name: commit.name, place, isExclusive: false, isOver: false })
    for (const { key, name, locks } of tasks)
      this.#tasks.push({ key, name, place, isExclusive: locks.length > 0, isOver: false })
  }

  /** Says that the task is over, however it ended. */
  end(key: string): void {
    for (const task of this.#tasks) if (task.key === key) task.isOver = true
  }

  /** What is earlier for a run at that revision. */
  before({ rev, trigger }: Pick<RevisionFacts, 'rev' | 'trigger'>): History {
    const known = this.#revisions.indexOf(String(rev))
    const here = known < 0 ? this.#revisions.length : known
    const last = trigger.type === 'commit' ? here - 1 : here
    const earlier = this.#tasks.filter(({ place }) => place <= last)
    return {
      previousOf: (name) => {
        const places = earlier.filter((task) => task.name === name).map(({ place }) => place)
        if (places.length === 0) return undefined
        const nearest = Math.max(...places)
        const there = earlier.filter((task) => task.name === name && task.place === nearest)
        const keys = there.filter((task) => task === there.at(-1) || !task.isOver).map(({ key }) => key)
        return { rev: this.#revisions[nearest] ?? '', keys }
      },
      unfinishedOf: (name) => earlier.filter((task) => task.name === name && !task.isOver).map(({ key }) => key),
      unfinishedExclusive: () =>
        earlier.filter((task) => task.isExclusive && task.place < here && !task.isOver).map(({ key }) => key),
    }
  }
}
