// The tasks that a filter finds, page after page, patched by what happens. Rows keep their places: what is new is counted
// and shown when somebody asks for it.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { type BodyAnswered, call, routes } from '../../api.ts'
import { mayConcern, readFilter } from '../../filter.ts'
import { type LiveEvent, useLive } from '../../live.ts'

export type TaskRow = BodyAnswered<typeof routes.tasks.list>['items'][number]

const PAGE = 100
const ends: readonly (string | null)[] = ['succeeded', 'failed', 'canceled', 'skipped']

type Patch = Partial<Pick<TaskRow, 'state' | 'started_at' | 'finished_at'>>

export function useTaskList(q: string) {
  const queries = useQueryClient()
  const queryKey = [routes.tasks.list.name, 'pages', q] as const
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call(
        routes.tasks.list,
        { query: { limit: PAGE, ...(q === '' ? {} : { q }), ...(pageParam === '' ? {} : { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  })
  const [patches, setPatches] = useState<ReadonlyMap<string, Patch>>(new Map())
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  const forget = () => {
    setPatches(new Map())
    setFresh(new Set())
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins anew
  useEffect(forget, [q])
  const rows = useMemo(() => {
    const seen = new Set<string>()
    const all = (list.data?.pages ?? []).flatMap(({ items }) => items)
    // A task that moved between two pages may come twice.
    return all
      .filter(({ id }) => !seen.has(id) && seen.add(id))
      .map((row) => (patches.has(row.id) ? { ...row, ...patches.get(row.id) } : row))
  }, [list.data, patches])
  const terms = useMemo(() => readFilter(q), [q])
  const hear = (events: readonly LiveEvent[]) => {
    const known = new Set(rows.map(({ id }) => id))
    const [own, others] = [new Map(patches), new Set(fresh)]
    for (const event of events) {
      if (event.task === null || event.to === null) continue
      if (known.has(event.task)) own.set(event.task, { ...own.get(event.task), ...patchOf(event) })
      else if (mayConcern(terms, event)) others.add(event.task)
    }
    if (own.size !== patches.size || events.some(({ task }) => own.has(task ?? ''))) setPatches(own)
    if (others.size !== fresh.size) setFresh(others)
  }
  const reload = async () => {
    forget()
    await queries.resetQueries({ queryKey })
  }
  // What came before the stream stood may be missing: one page is fetched again in its place, several begin anew.
  const catchUp = () => void ((list.data?.pages.length ?? 0) > 1 ? reload() : list.refetch())
  useLive(['*'], hear, catchUp)
  // Where nothing is shown, nothing can lose its place.
  const isBare = list.data !== undefined && rows.length === 0 && fresh.size > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it is so
  useEffect(() => {
    if (isBare) void reload()
  }, [isBare])
  return { list, rows, fresh: fresh.size, reload }
}

function patchOf({ to, at }: LiveEvent): Patch {
  if (to === null) return {}
  return {
    state: to,
    ...(to === 'running' ? { started_at: at, finished_at: null } : {}),
    ...(ends.includes(to) ? { finished_at: at } : { finished_at: null }),
  }
}
