import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { type LiveEvent, useLive } from '../live.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { TaskLink } from '../parts/task-table.tsx'
import { RelativeTime } from '../parts/time.tsx'

const page = getRouteApi('/shell/events')
const KEPT = 200

const columns: readonly Column<LiveEvent>[] = [
  { id: 'at', head: 'When', cell: ({ at }) => <RelativeTime at={at} /> },
  { id: 'name', head: 'What', cell: ({ name }) => name },
  {
    id: 'task',
    head: 'Task',
    isWide: true,
    cell: ({ task, key, scope }) => (task === null ? scope : <TaskLink task={{ id: task, key, scope }} />),
  },
  { id: 'actor', head: 'Who', isMinor: true, cell: ({ actor }) => actor ?? '' },
]

/** What happens, as it happens. */
export function Events() {
  const { scope = '*' } = page.useSearch()
  const [events, setEvents] = useState<readonly LiveEvent[]>([])
  useLive([scope], (fresh) => setEvents((known) => [...fresh.toReversed(), ...known].slice(0, KEPT)))
  return (
    <Page title="Events" summary="The newest first, from the moment this page was opened.">
      <Panel isFlush>
        {events.length === 0 ? (
          <EmptyState title="Nothing has happened since">Leave the page open: it fills by itself.</EmptyState>
        ) : (
          <Table label="Events" columns={columns} rows={events} rowKey={({ id }) => id} />
        )}
      </Panel>
    </Page>
  )
}
