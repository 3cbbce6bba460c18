import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Download, RotateCw } from 'lucide-react'
import { type BodyAnswered, call, routes, textOf } from '../../api.ts'
import { compact, saveFile } from '../../events/read-events.ts'
import { quoted, readFilter } from '../../filter.ts'
import { memberOf, readJson } from '../../json.ts'
import { changed } from '../../log/choice.ts'
import { Breakable } from '../../parts/breakable.tsx'
import { Button } from '../../parts/button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FilterBox } from '../../parts/filter-box.tsx'
import { useIsSmall } from '../../parts/narrow.ts'
import { Failure, Loading, Panel } from '../../parts/panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Moment } from '../../parts/time.tsx'

type Entry = BodyAnswered<typeof routes.audit.list>['items'][number]

const page = getRouteApi('/shell/events')
const PAGE = 100

const when: Column<Entry> = { id: 'at', head: 'When', cell: ({ at }) => <Moment at={at} /> }

const columns: readonly Column<Entry>[] = [
  when,
  { id: 'actor', head: 'Who', cell: ({ actor }) => <Name text={actor} /> },
  { id: 'action', head: 'What', cell: ({ action }) => <code className="events-whole">{action}</code> },
  {
    id: 'subject',
    head: 'To what',
    isWide: true,
    cell: ({ subject }) => <Name text={subjectOf(subject)} />,
  },
  { id: 'status', head: 'Answer', cell: ({ status }) => <Answer status={status} /> },
  { id: 'via', head: 'By', cell: ({ via }) => via },
  { id: 'request', head: 'Request', cell: ({ request_id }) => <code className="events-id">{request_id}</code> },
]

/** On two lines: small screens have no room for more columns. */
const narrowColumns: readonly Column<Entry>[] = [
  when,
  {
    id: 'entry',
    head: 'Who did what',
    isWide: true,
    cell: ({ actor, action, subject, status, via, request_id }) => (
      <>
        <code className="events-whole">{action}</code> <Name text={subjectOf(subject)} />
        <div className="events-note">
          <Name text={actor} /> <Answer status={status} /> <span>by {via}</span> <code>{request_id}</code>
        </div>
      </>
    ),
  },
]

function Name({ text }: { readonly text: string }) {
  return (
    <span className="name">
      <Breakable text={text} />
    </span>
  )
}

const subjectOf = (subject: Entry['subject']) =>
  Object.entries(subject)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

function Answer({ status }: Pick<Entry, 'status'>) {
  return (
    <span className={status !== null && status >= 400 ? 'events-whole events-refused' : 'events-whole'}>
      {status === null ? 'none' : status >= 400 ? `refused, ${status}` : `done, ${status}`}
    </span>
  )
}

/** What people and programs have asked for, and what came of it. For admins. */
export function Audit() {
  const { actor, action } = page.useSearch()
  const navigate = page.useNavigate()
  const isSmall = useIsSmall()
  const given = { ...(actor === undefined ? {} : { actor }), ...(action === undefined ? {} : { action }) }
  const list = useInfiniteQuery({
    queryKey: [routes.audit.list.name, 'pages', given],
    // The pages are saved as they were sent: each stays the object that its text is kept for.
    structuralSharing: false,
    queryFn: ({ pageParam, signal }) =>
      call(
        routes.audit.list,
        { query: { ...given, limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  })
  const rows = (list.data?.pages ?? []).flatMap(({ items }) => items)
  const onFilter = (text: string) => {
    const of = (name: string) => readFilter(text).findLast(({ qualifier }) => qualifier === name)?.value
    void navigate({ search: (before) => changed(before, { actor: of('actor'), action: of('action') }) })
  }
  const save = () => {
    const texts = (list.data?.pages ?? []).flatMap((answer) => {
      const items = memberOf(readJson(textOf(answer)), 'items')
      return items?.is === 'array' ? items.items.map((item) => `${compact(item)}\n`) : []
    })
    saveFile('audit.ndjson', texts.join(''))
  }
  const unique = (values: readonly string[]) => [...new Set(values)]
  return (
    <div className="stack events">
      <FilterBox
        label="Filter the audit"
        placeholder="actor:token:ci action:tasks.cancel"
        filter={Object.entries(given)
          .map(([name, value]) => `${name}:${quoted(value)}`)
          .join(' ')}
        onFilter={onFilter}
        qualifiers={[
          { name: 'actor', hint: 'who', values: unique(rows.map((row) => row.actor)) },
          { name: 'action', hint: 'what', values: unique(rows.map((row) => row.action)) },
        ]}
      />
      <Panel
        isFlush
        title="The newest first"
        actions={
          <>
            <Button icon={RotateCw} isBusy={list.isRefetching} onClick={() => void list.refetch()}>
              Look again
            </Button>
            <Button icon={Download} onClick={save}>
              NDJSON
            </Button>
          </>
        }
      >
        {list.isPending && <Loading />}
        {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
        {list.data !== undefined && rows.length === 0 && <EmptyState title="Nobody has done anything like this" />}
        {rows.length > 0 && (
          <Table label="Audit" columns={isSmall ? narrowColumns : columns} rows={rows} rowKey={({ id }) => id} />
        )}
        {list.hasNextPage && (
          <p className="panel-body">
            <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Earlier
            </Button>
          </p>
        )}
      </Panel>
    </div>
  )
}
