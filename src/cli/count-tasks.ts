import type { Server } from './context.ts'
import type { Style } from './render/style.ts'
import { paintState, stateText, type TaskState, type TaskSummary } from './task.ts'

/** The states that say how things stand. Those that are over and well are history, and may be millions. */
export const countedStates = ['running', 'ready', 'delayed', 'waiting', 'held', 'failed'] as const satisfies TaskState[]
type Counted = (typeof countedStates)[number]

export type Counts = {
  readonly counts: Readonly<Record<Counted, number>>
  /** States of which there are more than were counted. */
  readonly atLeast: readonly Counted[]
  /** The newest tasks of each state. */
  readonly newest: Readonly<Record<Counted, readonly TaskSummary[]>>
}

/** Counts tasks by state, up to `most` of each. */
export async function countTasks({ client, routes }: Server, most: number, signal: AbortSignal): Promise<Counts> {
  const pages = await Promise.all(
    countedStates.map(async (state) => {
      const query = { state, limit: most }
      return [state, await client.call(routes.tasks.list, { query }, { signal })] as const
    }),
  )
  const by = <T>(of: (page: (typeof pages)[number][1]) => T) =>
    Object.fromEntries(pages.map(([state, page]) => [state, of(page)])) as Record<Counted, T>
  return {
    counts: by(({ items }) => items.length),
    atLeast: pages.filter(([, page]) => page.next_cursor !== null).map(([state]) => state),
    newest: by(({ items }) => items),
  }
}

/** `● 3 running  ○ 12 ready`: what there is, in one line. */
export function countsLine({ counts, atLeast }: Counts, style: Style): string {
  const parts = countedStates
    .filter((state) => counts[state] > 0)
    .map((state) => {
      const number = `${counts[state]}${atLeast.includes(state) ? '+' : ''}`
      return paintState(style, state, stateText(state).replace(' ', ` ${number} `))
    })
  return parts.length === 0 ? 'nothing to do' : parts.join('  ')
}
