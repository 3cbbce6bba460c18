import { useState } from 'react'
import { type BodyAnswered, routes, useCall } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { formatBytes, formatCount } from '../../format.ts'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Link } from '../../parts/link.tsx'
import { Loaded } from '../../parts/panel.tsx'
import { lookOf, StateBadge, taskLooks } from '../../parts/state-badge.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Duration, Moment, RelativeTime } from '../../parts/time.tsx'
import type { StoryEntry } from '../../tasks/story.ts'
import { nameOfTask } from '../../tasks/task-name.ts'

type Task = BodyAnswered<typeof routes.tasks.get>
type Attempt = Task['attempts'][number]
type Neighbour = Task['dependents'][number] & { readonly is_met?: boolean }
type Artifact = BodyAnswered<typeof routes.artifacts.list>['items'][number]

export const messageOf = (error: unknown): string | undefined => {
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' ? message : undefined
}

export const exitCodeOf = (value: unknown): string | undefined => {
  const facts = (value as { data?: unknown } | null)?.data ?? value
  const { exit_code: code, result } = (facts ?? {}) as { exit_code?: unknown; result?: unknown }
  // A node has it as its result.
  const found = code ?? result
  return typeof found === 'number' ? String(found) : undefined
}

const outcomeLook = ({ outcome }: Attempt) =>
  outcome === null ? taskLooks.running : lookOf(taskLooks, outcome.replaceAll('_', ' '))

/** Every performance of the task, the last one first. */
export function Attempts({ task, onLog }: { readonly task: Task; readonly onLog: (attempt: number) => void }) {
  const columns: readonly Column<Attempt>[] = [
    { id: 'number', head: '#', cell: ({ number }) => number },
    { id: 'outcome', head: 'Outcome', cell: (one) => <StateBadge look={outcomeLook(one)} /> },
    {
      id: 'error',
      head: 'What was wrong',
      isWide: true,
      cell: ({ error }) => <span className="name">{messageOf(error) ?? ''}</span>,
    },
    { id: 'exit', head: 'Exit code', align: 'end', isMinor: true, cell: (one) => exitOf(task, one) ?? '' },
    { id: 'worker', head: 'Worker', isMinor: true, cell: ({ worker }) => <Worker name={worker} /> },
    {
      id: 'started',
      head: 'Started',
      align: 'end',
      isMinor: true,
      cell: ({ started_at }) => <RelativeTime at={started_at} />,
    },
    {
      id: 'took',
      head: 'Took',
      align: 'end',
      cell: ({ started_at, ended_at }) => <Duration from={started_at} to={ended_at} />,
    },
    {
      id: 'log',
      head: <span className="visually-hidden">Log</span>,
      align: 'end',
      cell: ({ number }) => (
        <Button kind="quiet" onClick={() => onLog(number)}>
          Log
        </Button>
      ),
    },
  ]
  if (task.attempts.length === 0) return <EmptyState title="It has not been tried yet" />
  return (
    <>
      <Table
        label="Attempts"
        columns={columns}
        rows={task.attempts.toReversed()}
        rowKey={({ number }) => String(number)}
      />
      {task.attempts.length === 100 && <p className="panel-body muted">The last 100 are shown.</p>}
    </>
  )
}

/** On one line: a name that is broken at its slash reads as two. */
function Worker({ name }: { readonly name: string | null }) {
  return (
    <span className="name task-worker" title={name ?? undefined}>
      {name}
    </span>
  )
}

/** A success has it in the output of the task. */
function exitOf(task: Task, { error, outcome, number }: Attempt): string | undefined {
  const isLast = number === task.attempts.at(-1)?.number
  return exitCodeOf(error) ?? (isLast && outcome === 'succeeded' ? exitCodeOf(task.output) : undefined)
}

const neighbourColumns: readonly Column<Neighbour>[] = [
  { id: 'state', head: 'State', cell: ({ state }) => <StateBadge look={taskLooks[state]} /> },
  {
    id: 'task',
    head: 'Task',
    isWide: true,
    cell: (one) => (
      <Link to="/tasks/$id" params={{ id: one.id }} className="mono name">
        {nameOfTask(one)}
      </Link>
    ),
  },
  { id: 'kind', head: 'Kind', isMinor: true, cell: ({ kind }) => kind ?? <span className="muted">milestone</span> },
  {
    id: 'when',
    head: 'Waits for',
    cell: ({ when, is_met }) => (
      <>
        {when === 'succeeded' ? 'its success' : when === 'failed' ? 'its failure' : 'its end'}
        {is_met !== undefined && <span className="muted">{is_met ? ', met' : ', not met'}</span>}
      </>
    ),
  },
]

/** What the task waits for and what waits for it: first what stands in the way, then by state. */
export function Neighbours({ task }: { readonly task: Task }) {
  const up: readonly Neighbour[] = [
    ...task.requirements.filter(({ is_met }) => !is_met),
    ...task.requirements.filter(({ is_met }) => is_met),
  ]
  const order = Object.keys(taskLooks)
  const down = task.dependents.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  return (
    <div className="stack">
      <Side title="It waits for" none="It waits for nothing." rows={up} />
      <Side title="What waits for it" none="Nothing waits for it." rows={down} />
    </div>
  )
}

const MOST_NEIGHBOURS = 100

function Side({ title, none, rows }: { title: string; none: string; rows: readonly Neighbour[] }) {
  const counts = (Object.keys(taskLooks) as Neighbour['state'][])
    .map((state) => [state, rows.filter((row) => row.state === state).length] as const)
    .flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]))
  return (
    <section>
      <h3 className="task-side">
        {title} <span className="muted">{counts.join(', ')}</span>
      </h3>
      {rows.length === 0 ? (
        <p className="panel-body muted">{none}</p>
      ) : (
        <Table label={title} columns={neighbourColumns} rows={rows} rowKey={({ id, when }) => `${id} ${when}`} />
      )}
      {rows.length >= MOST_NEIGHBOURS && (
        <p className="panel-body muted">The first {MOST_NEIGHBOURS} are shown; there may be more.</p>
      )}
    </section>
  )
}

/** The files that the last success has left behind. */
export function Artifacts({ id }: { readonly id: string }) {
  const artifacts = useCall(routes.artifacts.list, { params: { id }, query: { limit: 100 } })
  const columns: readonly Column<Artifact>[] = [
    {
      id: 'path',
      head: 'File',
      isWide: true,
      cell: ({ path }) => (
        <a
          className="mono name"
          href={`${basePath}/v1/tasks/${encodeURIComponent(id)}/artifacts/${encodeURIComponent(path)}`}
          download
        >
          {path}
        </a>
      ),
    },
    { id: 'size', head: 'Size', align: 'end', cell: ({ size }) => formatBytes(size) },
    {
      id: 'digest',
      head: 'SHA-256',
      isMinor: true,
      cell: ({ sha256 }) => (
        <span className="task-digest">
          <code title={sha256}>{sha256.slice(0, 12)}…</code>
          <CopyButton text={sha256} label="Copy the digest" />
        </span>
      ),
    },
  ]
  return (
    <Loaded
      query={artifacts}
      isEmpty={({ items }) => items.length === 0}
      empty={<p className="muted">It has left no files behind.</p>}
    >
      {({ items, next_cursor }) => (
        <>
          <Table label="Files" columns={columns} rows={items} rowKey={({ path }) => path} />
          {next_cursor !== null && <p className="muted">The first {items.length} are shown; there are more.</p>}
        </>
      )}
    </Loaded>
  )
}

const storyColumns: readonly Column<StoryEntry>[] = [
  { id: 'at', head: 'When', cell: ({ at }) => <Moment at={at} /> },
  { id: 'name', head: 'What', cell: ({ name }) => name.replaceAll('_', ' ') },
  {
    id: 'states',
    head: 'State',
    isMinor: true,
    cell: ({ from, to }) =>
      to === null ? (
        ''
      ) : (
        <>
          {from !== null && <span className="muted">{from} → </span>}
          <StateBadge look={taskLooks[to]} />
        </>
      ),
  },
  {
    id: 'cause',
    head: 'Why',
    isWide: true,
    cell: ({ cause, culprit, error }) => (
      <span className="name">
        {[cause, messageOf(error)].filter(Boolean).join(': ')}{' '}
        {culprit !== null && (
          <Link to="/tasks/$id" params={{ id: culprit }}>
            task {culprit}
          </Link>
        )}
      </span>
    ),
  },
  {
    id: 'who',
    head: 'Who',
    isMinor: true,
    cell: ({ actor, worker }) => <span className="name">{actor ?? worker ?? ''}</span>,
  },
]

const FIRST = 100

/** Everything that happened to it, the newest first. */
export function Story({ story }: { readonly story: readonly StoryEntry[] }) {
  const [isWhole, setWhole] = useState(false)
  const rows = story.map((entry, i) => ({ ...entry, i })).toReversed()
  const shown = isWhole ? rows : rows.slice(0, FIRST)
  return (
    <>
      <Table label="Events" columns={storyColumns} rows={shown} rowKey={({ i }) => String(i)} />
      {shown.length < rows.length && (
        <p className="panel-body">
          <Button onClick={() => setWhole(true)}>Show all {formatCount(rows.length)}</Button>
        </p>
      )}
    </>
  )
}
