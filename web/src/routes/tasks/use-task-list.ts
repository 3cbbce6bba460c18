// The tasks that a filter finds, page after page, patched by what happens. Rows keep their places: what is new is counted
// and shown when somebody asks for it.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { call, routes } from '../../api.ts'
import { readFilter } from '../../filter.ts'
import { type LiveEvent, useFreshWhenShown, useLive } from '../../live.ts'
import { countFresh, listedOf, patched, unchanged, whenAnswered, whenAsked, withEvents } from './task-changes.ts'

const PAGE = 100

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
  useFreshWhenShown([routes.tasks.list.name], q)
  const [changes, setChanges] = useState(unchanged)
  const forget = () => setChanges(unchanged)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins anew
  useEffect(forget, [q])
  const fetched = useMemo(() => {
    const seen = new Set<string>()
    const all = (list.data?.pages ?? []).flatMap(({ items }) => items)
    // A task that moved between two pages may come twice.
    return all.filter(({ id }) => !seen.has(id) && seen.add(id))
  }, [list.data])
  const rows = useMemo(() => patched(fetched, changes), [fetched, changes])
  const listed = useMemo(() => listedOf(fetched, readFilter(q)), [fetched, q])
  const hear = (events: readonly LiveEvent[]) => setChanges((now) => withEvents(now, events, listed))
  const reload = async () => {
    forget()
    await queries.resetQueries({ queryKey })
  }
  // In its place: until the answer is there, what was told before is better than what was fetched before.
  const refetch = async () => {
    setChanges(whenAsked)
    const { isSuccess } = await list.refetch()
    if (isSuccess) setChanges(whenAnswered)
  }
  // What came before the stream stood may be missing: one page is fetched again in its place, several begin anew.
  const catchUp = () => ((list.data?.pages.length ?? 0) > 1 ? reload() : refetch())
  useLive(['*'], hear, catchUp)
  const fresh = useMemo(() => countFresh(changes, listed), [changes, listed])
  // Where nothing is shown, nothing can lose its place.
  const isBare = list.data !== undefined && rows.length === 0 && fresh > 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it is so
  useEffect(() => {
    if (isBare) void reload()
  }, [isBare])
  return { list, rows, fresh, reload }
}
