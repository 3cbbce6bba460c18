// What a row of the events says: in columns, or on two lines where a phone has no room for them.
import type { LiveEvent } from '../../live.ts'
import { changed } from '../../log/choice.ts'
import { Link } from '../../parts/link.tsx'
import { StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import type { Column } from '../../parts/table.tsx'
import { Moment } from '../../parts/time.tsx'
import { nameOfTask } from '../../tasks/task-name.ts'

const whatOf = ({ name }: LiveEvent) => name.replaceAll('_', ' ')
const whoOf = ({ actor, cause }: LiveEvent) => [actor, cause].filter(Boolean).join(': ')

const when: Column<LiveEvent> = {
  id: 'at',
  head: 'When',
  cell: ({ at, id }) => (
    <Link to="/events" search={(before) => changed(before, { after: id })} title="Link to this moment">
      <Moment at={at} />
    </Link>
  ),
}

export const columns: readonly Column<LiveEvent>[] = [
  when,
  { id: 'name', head: 'What', cell: whatOf },
  { id: 'task', head: 'Task', isWide: true, cell: (event) => <Of event={event} /> },
  { id: 'state', head: 'State', cell: (event) => <Change event={event} /> },
  { id: 'who', head: 'Who, why', cell: (event) => <span className="name events-who">{whoOf(event)}</span> },
]

export const narrowColumns: readonly Column<LiveEvent>[] = [
  when,
  {
    id: 'event',
    head: 'What happened',
    isWide: true,
    cell: (event) => (
      <>
        <Of event={event} />
        <div className="events-note">
          {event.name !== event.to && <span>{whatOf(event)}</span>} <Change event={event} />{' '}
          <span className="name">{whoOf(event)}</span>
        </div>
      </>
    ),
  },
]

/** What it happened to. */
function Of({ event: { task, key, scope } }: { readonly event: LiveEvent }) {
  if (task === null) return <span className="name">{scope}</span>
  return (
    <Link to="/tasks/$id" params={{ id: task }} className="mono name">
      {nameOfTask({ id: task, key, scope })}
    </Link>
  )
}

function Change({ event: { from, to } }: { readonly event: LiveEvent }) {
  if (to === null) return null
  return (
    <span className="events-state">
      {from !== null && <span className="muted">{from} →</span>} <StateBadge look={taskLooks[to]} />
    </span>
  )
}
