// Cursors of lists. One is opaque to callers and holds the position of the last item that was seen, tied to the list and
// its filters: used with others it would silently leave items out.
import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { Route } from '../api/index.ts'
import { Problem } from './problems.ts'

type Query = { readonly cursor?: string | undefined; readonly limit?: number | undefined }

/**
 * A page of a list. `rows` are one more than was asked for, when there are so many: that one is left out, and says that
 * another page follows.
 */
export function toPage<Row, Item>(
  route: Route,
  query: Query & { readonly limit: number },
  rows: readonly Row[],
  of: { item(row: Row): Item; position(row: Row): unknown },
): { items: Item[]; next_cursor: string | null } {
  const shown = rows.slice(0, query.limit)
  const last = rows.length > query.limit ? shown.at(-1) : undefined
  return {
    items: shown.map((row) => of.item(row)),
    next_cursor: last === undefined ? null : cursorAfter(route, query, of.position(last)),
  }
}

/** The cursor of the page after the item at `position`, which must be all that the list is ordered by. */
function cursorAfter(route: Route, query: Query, position: unknown): string {
  return Buffer.from(JSON.stringify([filtersOf(route, query), position])).toString('base64url')
}

/**
 * The position after which the page that is asked for begins; undefined for the first page. Throws
 * `cursor_mismatch` for a cursor of another list, of other filters, or of nobody. What comes from outside is
 * held against `shape`: a cursor can be forged.
 */
export function positionOf<S extends z.ZodType>(route: Route, query: Query, shape: S): z.output<S> | undefined {
  if (query.cursor === undefined) return undefined
  const [filters, position] = decode(query.cursor)
  const parsed = shape.safeParse(position)
  if (filters === filtersOf(route, query) && parsed.success) return parsed.data
  throw new Problem('cursor_mismatch', 'the cursor was not given by this list with these filters', {
    remedy: 'begin again without a cursor, and keep the filters the same from page to page',
  })
}

function decode(cursor: string): unknown[] {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(decoded) ? decoded : []
  } catch {
    return []
  }
}

/** A short digest of the list and its filters; how many are asked for may change from page to page. */
function filtersOf(route: Route, query: Query): string {
  const sorted = Object.entries(query)
    .filter(([name, value]) => name !== 'cursor' && name !== 'limit' && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([route.name, sorted]))
    .digest('base64url')
    .slice(0, 12)
}
