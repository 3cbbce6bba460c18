import type { BodyAnswered, routes } from '../api/index.ts'
import type { Style } from './render/style.ts'
import { paintState, stateText, taskStates } from './task.ts'

export type Counts = BodyAnswered<(typeof routes)['tasks']['counts']>['states']

/** `● 3 running  ○ 12 ready`: what there is, in one line. An estimate is marked. */
export function countsLine(counts: Counts, style: Style): string {
  const parts = taskStates.flatMap((state) => {
    const { count, is_exact } = counts[state]
    const number = `${is_exact ? '' : '~'}${count.toLocaleString('en-US')}`
    return count === 0 ? [] : [paintState(style, state, stateText(state).replace(' ', ` ${number} `))]
  })
  return parts.length === 0 ? 'none' : parts.join('  ')
}
