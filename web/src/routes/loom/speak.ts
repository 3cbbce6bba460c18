// What a cell says to those who do not see it.
import type { BodyAnswered, routes } from '../../api.ts'
import { formatDuration } from '../../format.ts'
import { ABSENT, type CellState, type Cloth, cellStates, codeOf } from './cloth.ts'
import { blocker, type Place } from './reach.ts'

export type Detail = Pick<BodyAnswered<typeof routes.tasks.get>, 'id' | 'state' | 'started_at' | 'finished_at'>

const words: Readonly<Record<CellState, string>> = {
  waiting: 'waiting',
  delayed: 'delayed',
  ready: 'ready',
  running: 'running',
  held: 'held',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'canceled',
  skipped: 'skipped',
  superseded: 'superseded',
}

/** `revision 122, build-PDF, superseded by revision 123, ran 6 min`. */
export function speak(cloth: Cloth, cell: Place, detail?: Detail, now = Date.now()): string {
  const name = cloth.columns[cell.column]?.name ?? ''
  const code = cloth.state(cell.number, cell.column)
  const revision = `revision ${cell.number}`
  if (!cloth.rows.has(cell.number)) return `${revision}, loading`
  if (code === ABSENT) return `${revision} has no ${name}`
  const state = cellStates[code] ?? 'waiting'
  return [revision, name, words[state] + because(cloth, cell, code), ran(detail, now)]
    .filter((text) => text !== '')
    .join(', ')
}

function because(cloth: Cloth, cell: Place, code: number): string {
  if (code === codeOf.superseded) {
    const by = blocker(cloth, cell)
    return by === undefined ? '' : ` by revision ${by.number}`
  }
  if (code !== codeOf.waiting && code !== codeOf.skipped) return ''
  const by = blocker(cloth, cell)
  if (by === undefined) return ''
  const name = cloth.columns[by.column]?.name ?? ''
  const where = by.number === cell.number ? name : `${name} of revision ${by.number}`
  return code === codeOf.waiting ? ` for ${where}` : ` because of ${where}`
}

function ran(detail: Detail | undefined, now: number): string {
  if (detail === undefined || detail.started_at === null) return ''
  const ended = detail.finished_at === null ? now : Date.parse(detail.finished_at)
  const took = formatDuration(ended - Date.parse(detail.started_at))
  return detail.finished_at === null ? `for ${took}` : `ran ${took}`
}
