import { getRouteApi } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { routes, useCall } from '../api.ts'
import type { Qualifier } from '../filter.ts'
import { formatCount } from '../format.ts'
import { Button } from '../parts/button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { FilterBox } from '../parts/filter-box.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Loading, Panel } from '../parts/panel.tsx'
import { taskLooks } from '../parts/state-badge.tsx'
import { BulkBar } from './tasks/bulk-bar.tsx'
import { MOST_FRESH, type TaskRow } from './tasks/task-changes.ts'
import { TaskRows } from './tasks/task-rows.tsx'
import { useTaskList } from './tasks/use-task-list.ts'
import './tasks/tasks.css'

const page = getRouteApi('/shell/tasks')
const nothing: ReadonlySet<string> = new Set()

/** Tasks of every part, the newest first; the filter stands in the address. */
export function Tasks() {
  const { q = '' } = page.useSearch()
  const navigate = page.useNavigate()
  const { list, rows, fresh, reload } = useTaskList(q)
  const [chosen, setChosen] = useState(nothing)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what another filter does not show is not selected
  useEffect(() => setChosen(nothing), [q])
  const { hasNextPage, fetchNextPage, isFetching, isFetchNextPageError, error } = list
  // While the list itself is fetched again nothing is asked for, and it is looked again when that is done.
  const more = useCallback(() => {
    if (!isFetching) void fetchNextPage({ cancelRefetch: false })
  }, [fetchNextPage, isFetching])
  // What could not be had is asked for again by the button at the foot, and by nothing else: it would never end.
  const moreInView = useCallback(() => {
    if (error === null) more()
  }, [error, more])
  const again = () => (isFetchNextPageError ? more() : void list.refetch())
  return (
    <Page title="Tasks">
      <FilterBox
        label="Filter tasks"
        placeholder="state:failed scope:archive:My-Project words …"
        filter={q}
        onFilter={(text) => void navigate({ search: text === '' ? {} : { q: text } })}
        qualifiers={useQualifiers(rows)}
      />
      <BulkBar key={q} q={q} rows={rows} chosen={chosen} onChosen={setChosen} hasMore={hasNextPage} />
      <Panel isFlush>
        <div className="tasks-new" role="status">
          {fresh > 0 && (
            <Button icon={RotateCw} kind="primary" onClick={() => void reload()}>
              {formatCount(fresh)}
              {fresh >= MOST_FRESH && '+'} new
            </Button>
          )}
        </div>
        {list.isPending && <Loading />}
        {list.data === undefined && error !== null && <Failure error={error} onRetry={() => void list.refetch()} />}
        {list.data !== undefined && rows.length === 0 && <None q={q} />}
        {rows.length > 0 && (
          <TaskRows rows={rows} chosen={chosen} onChosen={setChosen} hasMore={hasNextPage} onMore={moreInView} />
        )}
        {rows.length > 0 && <Foot count={rows.length} hasMore={hasNextPage} error={error} onRetry={again} />}
      </Panel>
    </Page>
  )
}

function Foot({
  count,
  hasMore,
  error,
  onRetry,
}: {
  count: number
  hasMore: boolean
  error: Error | null
  onRetry: () => void
}) {
  if (error !== null) return <Failure error={error} onRetry={onRetry} />
  return (
    <p className="tasks-foot muted">
      {hasMore ? `${formatCount(count)} so far: more come when you go on` : `${formatCount(count)} in all`}
    </p>
  )
}

function None({ q }: { readonly q: string }) {
  if (q !== '') return <EmptyState title="No task is like this">Take something out of the filter.</EmptyState>
  return (
    <EmptyState title="There are no tasks" command="millrace archive add My-Project --svn file:///srv/svn/my-project">
      Commits to a repository that is watched make tasks; so do commands that are sent.
    </EmptyState>
  )
}

/** What can be filtered by, with the values that are known. */
function useQualifiers(rows: readonly TaskRow[]): readonly Qualifier[] {
  const { data: archives } = useCall(routes.archives.list)
  const seen = (values: readonly (string | null)[]) => [...new Set(values)].filter((value) => value !== null)
  const scopes = [...(archives?.items ?? []).map(({ name }) => `archive:${name}`), ...rows.map(({ scope }) => scope)]
  return [
    { name: 'state', hint: 'one, or several with commas between', values: Object.keys(taskLooks) },
    {
      name: 'scope',
      hint: 'where it belongs; a * at the end stands for anything',
      values: seen([...scopes, 'archive:*', 'node']),
    },
    { name: 'kind', hint: 'what performs it', values: seen(rows.map(({ kind }) => kind)) },
    { name: 'queue', hint: 'in which line it stands', values: seen(rows.map(({ queue }) => queue)) },
    { name: 'key', hint: 'its name in its scope' },
    { name: 'id', hint: 'its number' },
    { name: 'is', hint: 'ready, and no worker takes it', values: ['stuck'] },
  ]
}
