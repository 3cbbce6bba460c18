import { getRouteApi } from '@tanstack/react-router'
import { Download, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { routes, useCall } from '../../api.ts'
import { exportEvents, saveFile } from '../../events/read-events.ts'
import { type Qualifier, quoted, readFilter } from '../../filter.ts'
import { formatCount } from '../../format.ts'
import { useKeys } from '../../keys.ts'
import { changed } from '../../log/choice.ts'
import { Button } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FilterBox } from '../../parts/filter-box.tsx'
import { Link } from '../../parts/link.tsx'
import { useIsSmall } from '../../parts/narrow.ts'
import { Failure, Loading, Panel } from '../../parts/panel.tsx'
import { Table } from '../../parts/table.tsx'
import { tell } from '../../parts/toast.tsx'
import { columns, narrowColumns } from './event-columns.tsx'
import { useTail } from './use-tail.ts'

const page = getRouteApi('/shell/events')

const names = [
  'created',
  'readied',
  'claimed',
  'succeeded',
  'failed',
  'retry',
  'delayed',
  'held',
  'released',
  'canceled',
  'skipped',
  'cancel_requested',
]

/** Every transition of every task: the newest, what comes, and any moment that is kept. */
export function Happened() {
  const { scope, topics, task, after } = page.useSearch()
  const navigate = page.useNavigate()
  const isSmall = useIsSmall()
  const tail = useTail({ scope, topics, task }, after === undefined ? undefined : Number(after) || 0)
  const onFilter = (text: string) => {
    const of = (name: string) =>
      readFilter(text)
        .filter(({ qualifier }) => qualifier === name)
        .map(({ value }) => value)
        .join(',') || undefined
    const words = readFilter(text).filter(({ qualifier }) => !['scope', 'name', 'task'].includes(qualifier ?? ''))
    if (words.length > 0)
      tell(`Events are filtered by scope:, name: and task:, not by "${words[0]?.text}"`, { isError: true })
    void navigate({
      search: (before) =>
        changed(before, { scope: of('scope'), topics: of('name'), task: of('task'), after: undefined }),
    })
  }
  const terms = { scope, name: topics, task }
  const filter = Object.entries(terms).flatMap(([name, values]) =>
    (values ?? '')
      .split(',')
      .filter(Boolean)
      .map((value) => `${name}:${quoted(value)}`),
  )
  const toggle = tail.isPaused ? tail.resume : tail.pause
  useKeys([{ key: ' ', label: tail.isPaused ? 'Go on' : 'Pause', run: toggle, isMove: true }], 'Events')
  return (
    <div className="stack events">
      <FilterBox
        label="Filter events"
        placeholder="scope:archive:* name:failed task:118"
        filter={filter.join(' ')}
        onFilter={onFilter}
        qualifiers={useQualifiers()}
      />
      <Panel
        isFlush
        title={after === undefined ? (tail.isPaused ? 'Paused' : 'The newest first') : 'Up to a moment'}
        actions={
          <>
            {after === undefined ? (
              <Button icon={tail.isPaused ? Play : Pause} onClick={toggle}>
                {tail.isPaused ? (tail.waiting > 0 ? `Go on: ${formatCount(tail.waiting)} new` : 'Go on') : 'Pause'}
              </Button>
            ) : (
              <Link
                to="/events"
                search={(before) => changed(before, { after: undefined })}
                className="button button-plain"
              >
                Now
              </Link>
            )}
            <Export filter={{ scope, topics, task }} />
          </>
        }
      >
        {tail.error !== undefined && <Failure error={tail.error} onRetry={tail.retry} />}
        {tail.events === undefined && tail.isBusy && <Loading />}
        {tail.events?.length === 0 && (
          <EmptyState title="Nothing like this has happened">
            Events are kept for seven days. Leave the page open: it fills by itself.
          </EmptyState>
        )}
        {tail.events !== undefined && tail.events.length > 0 && (
          <Table
            label="Events"
            columns={isSmall ? narrowColumns : columns}
            rows={tail.events}
            rowKey={({ id }) => id}
            isSelected={({ id }) => id === after}
          />
        )}
        {tail.events !== undefined && tail.hasEarlier && (
          <p className="panel-body">
            <Button isBusy={tail.isBusyEarlier} onClick={tail.earlier}>
              Earlier
            </Button>
          </p>
        )}
      </Panel>
    </div>
  )
}

function Export({
  filter,
}: {
  readonly filter: { scope: string | undefined; topics: string | undefined; task: string | undefined }
}) {
  const [count, setCount] = useState<number>()
  const save = async () => {
    setCount(0)
    try {
      const found = await exportEvents(filter, setCount)
      saveFile('events.ndjson', found.text)
      tell(
        `${formatCount(found.count)} events${found.isCut ? ': there are more; narrow the filter to get them' : ''}`,
        { isError: found.isCut },
      )
    } catch (error) {
      tell(`Nothing is saved: ${(error as Error).message}`, { isError: true })
    } finally {
      setCount(undefined)
    }
  }
  return (
    <Button icon={Download} isBusy={count !== undefined} onClick={() => void save()}>
      {count === undefined ? 'NDJSON' : `${formatCount(count)} …`}
    </Button>
  )
}

function useQualifiers(): readonly Qualifier[] {
  const { data: archives } = useCall(routes.archives.list)
  return [
    {
      name: 'scope',
      hint: 'where it belongs',
      values: [...(archives?.items ?? []).map(({ name }) => `archive:${name}`), 'archive:*', 'node'],
    },
    { name: 'name', hint: 'what happened', values: names },
    { name: 'task', hint: 'the number or name of a task' },
  ]
}
