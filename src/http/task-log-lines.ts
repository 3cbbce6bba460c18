import type { FastifyInstance } from 'fastify'
import { routes } from '../api/index.ts'
import type { Millrace } from '../engine/index.ts'
import type { LinePage, LinesOf, OutputLine, SearchOptions, SearchPage } from '../storage/index.ts'
import { type Asked, addRoute } from './add-route.ts'
import { findTask } from './find-task.ts'
import { findAttempt } from './task-log.ts'

/** What tasks have printed, by lines. */
export type OutputLines = {
  read(of: LinesOf, page: { readonly from: number; readonly limit: number }): Promise<LinePage>
  search(of: LinesOf, options: SearchOptions): Promise<SearchPage>
  firstError(of: LinesOf): Promise<number | undefined>
}

/** `/v1/tasks/{id}/log/lines` and `…/search`. */
export function addTaskLogLines(app: FastifyInstance, millrace: Millrace, outputs: OutputLines): void {
  const { lines, search } = routes.taskLog
  addRoute(app, lines, async (asked) => {
    const { from_line: from, limit } = asked.query
    const { of, ...stored } = await findOutput(millrace, asked)
    if (of === undefined) {
      return { ...stored, total_lines: 0, total_bytes: 0, items: [], next_line: null, first_error_line: null }
    }
    const page = await outputs.read(of, { from, limit })
    return {
      ...stored,
      total_lines: page.total,
      total_bytes: page.bytes,
      items: page.lines.map(toLine),
      next_line: page.next,
      first_error_line: (await outputs.firstError(of)) ?? null,
    }
  })
  addRoute(app, search, async (asked) => {
    const { q, regex, case: isCaseSensitive, from_line: from, limit } = asked.query
    const { of, ...stored } = await findOutput(millrace, asked)
    if (of === undefined) return { ...stored, total_lines: 0, items: [], next_line: null, cut_lines: 0 }
    const page = await outputs.search(of, { query: q, isRegex: regex, isCaseSensitive, from, limit })
    return {
      ...stored,
      total_lines: page.total,
      items: page.lines.map((line) => ({
        ...toLine(line),
        ranges: line.ranges.map(([begin, end]): [number, number] => [begin, end]),
      })),
      next_line: page.next,
      cut_lines: page.cut,
    }
  })
}

type Reading = typeof routes.taskLog.lines | typeof routes.taskLog.search

/** Which output is meant. Whether it is complete is asked first: what is stored when it has ended is all there is. */
async function findOutput<R extends Reading>(
  millrace: Millrace,
  asked: Asked<R>,
): Promise<{ of: LinesOf | undefined; attempt: number; is_complete: boolean }> {
  const { attempt: number, stream } = asked.query as Asked<Reading>['query']
  const task = await findTask(millrace, asked)
  const attempt = await findAttempt(millrace, task, number)
  if (attempt === undefined) {
    return { of: undefined, attempt: 0, is_complete: (await millrace.task(task)).finishedAt !== null }
  }
  const isComplete = !(await millrace.isUnderWay(task, attempt.epoch))
  return { of: { task, attempt: attempt.epoch, stream }, attempt: attempt.number, is_complete: isComplete }
}

const toLine = (line: OutputLine) => ({
  number: line.number,
  start: line.start,
  length: line.length,
  stream: line.stream,
  at: line.at.toISOString(),
  text: line.text,
  is_cut: line.isCut,
  is_open: line.isOpen,
})
