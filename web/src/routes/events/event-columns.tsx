// What a row of the events says: in columns, or on two lines where a small screen has no room for them.
import type { LiveEvent } from '../../live.ts'
import { changed } from '../../log/choice.ts'
import { Breakable } from '../../parts/breakable.tsx'
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
  { id: 'who', head: 'Who, why', cell: (event) => <Who event={event} className="name events-who" /> },
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
          <Who event={event} className="name" />
        </div>
      </>
    ),
  },
]

function Who({ event, className }: { readonly event: LiveEvent; readonly className: string }) {
  return (
    <span className={className}>
      <Breakable text={whoOf(event)} />
    </span>
  )
}

/** What it happened to. */
function Of({ event: { task, key, scope } }: { readonly event: LiveEvent }) {
  if (task === null) return <span className="name">{scope}</span>
  return (
    <Link to="/tasks/$id" params={{ id: task }} className="mono name">
      <Breakable text={nameOfTask({ id: task, key, scope })} />
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
