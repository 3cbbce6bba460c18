// The way of a task through its states, from the story of it.
import type { BodyAnswered, routes } from '../api.ts'
import type { TaskState } from './task-actions.ts'

export type StoryEntry = BodyAnswered<typeof routes.tasks.events>['items'][number]

export type Stay = {
  readonly state: TaskState
  readonly from: number
  /** Null: it is in this state now. */
  readonly to: number | null
}

/** In which states it has been, in order. */
export function staysOf(story: readonly StoryEntry[]): Stay[] {
  const moves = story.filter((entry): entry is StoryEntry & { to: TaskState } => entry.to !== null)
  return moves.map(({ at, to }, i) => {
    const from = Date.parse(at)
    const next = moves[i + 1]
    return { state: to, from, to: next === undefined ? null : Math.max(from, Date.parse(next.at)) }
  })
}

/** How often it went from one state to another: `ready>running`. */
export function movesOf(stays: readonly Stay[]): Map<string, number> {
  const moves = new Map<string, number>()
  for (const [i, { state }] of stays.entries()) {
    const before = stays[i - 1]?.state
    if (before === undefined || before === state) continue
    moves.set(`${before}>${state}`, (moves.get(`${before}>${state}`) ?? 0) + 1)
  }
  return moves
}
