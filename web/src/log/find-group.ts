// Where a group of lines ends: by the server, since it may lie far from what is shown.

import { call, routes } from '../api.ts'
import type { Fold } from './folds.ts'
import { GROUP_PATTERN, readLine } from './read-line.ts'
import type { LogOf } from './use-log.ts'

const PAGE = 500
const MOST_PAGES = 20

/** The lines between the title of a group and its end; up to the end of the log where none is found. */
export async function findGroup(of: LogOf, title: number, total: number): Promise<Fold> {
  let depth = 0
  let from: number | null = title + 1
  for (let page = 0; from !== null && page < MOST_PAGES; page++) {
    const { items, next_line }: Awaited<ReturnType<typeof marksFrom>> = await marksFrom(of, from)
    for (const { number, text } of items) {
      for (const { is } of readLine(text).marks) {
        // A group may begin on the line on which the one before ends; titles do not nest there.
        if (is === 'end' && depth === 0) return { from: title + 1, to: hasTitle(text) ? number - 1 : number }
        depth += is === 'start' ? 1 : -1
      }
    }
    from = next_line
  }
  return { from: title + 1, to: total }
}

const hasTitle = (text: string) => readLine(text).marks.at(-1)?.is === 'start'

const marksFrom = ({ task, attempt, stream }: LogOf, from: number) =>
  call(routes.taskLog.search, {
    params: { id: task },
    query: { q: GROUP_PATTERN, regex: '1', case: '1', attempt, stream, from_line: from, limit: PAGE },
  })
