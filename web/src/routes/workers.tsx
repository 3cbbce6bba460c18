import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { CirclePause, CirclePlay, LogOut } from 'lucide-react'
import { useState } from 'react'
import { type BodyAnswered, call, queryOf, routes, useRefusal } from '../api.ts'
import { quoted } from '../filter.ts'
import { formatDuration } from '../format.ts'
import { useLiveState } from '../live.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { Link } from '../parts/link.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/panel.tsx'
import { StateBadge, type StateLook } from '../parts/state-badge.tsx'
import { Duration, RelativeTime } from '../parts/time.tsx'
import { tell } from '../parts/toast.tsx'
import './workers.css'

type Worker = BodyAnswered<typeof routes.workers.list>['items'][number]

const page = getRouteApi('/shell/workers')
/** No event tells of heartbeats: the list is small and asked for again. */
const LOOK_MS = 2_000

/** Who performs tasks, and what is asked of them. */
export function Workers() {
  const { all } = page.useSearch()
  const navigate = page.useNavigate()
  const isPaused = useLiveState().is === 'paused'
  const refetchInterval = isPaused ? (false as const) : LOOK_MS
  const list = useQuery({
    ...queryOf(routes.workers.list, { query: { all: all === '1' ? '1' : '0' } }),
    refetchInterval,
  })
  return (
    <Page
      title="Workers"
      summary="Processes that perform tasks: servers and workers of the same database."
      actions={
        <Button
          aria-pressed={all === '1'}
          kind={all === '1' ? 'primary' : 'plain'}
          onClick={() => void navigate({ search: all === '1' ? {} : { all: '1' } })}
        >
          {all === '1' ? 'Hide those that are gone' : 'Show those that are gone'}
        </Button>
      }
    >
      <Unserved refetchInterval={refetchInterval} />
      <Loaded
        query={list}
        isEmpty={({ items }) => items.length === 0}
        empty={
          <EmptyState title="Nobody performs tasks" command="millrace worker">
            A server performs tasks itself; more workers share its database.
          </EmptyState>
        }
      >
        {({ items }) => (
          <ul className="stack workers" aria-label="Workers">
            {items.map((worker) => (
              <OneWorker key={worker.id} worker={worker} />
            ))}
          </ul>
        )}
      </Loaded>
    </Page>
  )
}

/** Queues with work that nobody takes. */
function Unserved({ refetchInterval }: { readonly refetchInterval: number | false }) {
  const attention = useQuery({ ...queryOf(routes.overview.attention), refetchInterval })
  const unserved = attention.data?.items.filter(({ code }) => code === 'no_worker') ?? []
  return unserved.map(({ queue, kind, sentence, count }) => (
    <div key={`${queue} ${kind}`} className="workers-warning" role="status">
      <span className="name">{sentence}</span>
      <Link to="/tasks" search={{ q: `state:ready${queue === null ? '' : ` queue:${quoted(queue)}`}` }}>
        {count === 1 ? 'The task' : `The ${count} tasks`}
      </Link>
    </div>
  ))
}

type Condition = 'alive' | 'paused' | 'draining' | 'stopped' | 'dead'

const looks: Readonly<Record<Condition, StateLook>> = {
  alive: { glyph: '●', word: 'at work', colour: 'succeeded' },
  paused: { glyph: '‖', word: 'paused', colour: 'held' },
  draining: { glyph: '◔', word: 'draining', colour: 'delayed' },
  stopped: { glyph: '–', word: 'stopped', colour: 'skipped' },
  dead: { glyph: '✕', word: 'died', colour: 'failed' },
}

function conditionOf({ is_alive, stopped_at, wanted }: Worker): Condition {
  if (!is_alive) return stopped_at === null ? 'dead' : 'stopped'
  return wanted === 'running' ? 'alive' : wanted
}

function OneWorker({ worker }: { readonly worker: Worker }) {
  const condition = conditionOf(worker)
  const { name, host, process, version, started_at, stopped_at, last_seen_at, wanted, wanted_by } = worker
  return (
    <li className="worker" data-state={condition} aria-label={name}>
      <div className="worker-head">
        <div className="row">
          <StateBadge look={looks[condition]} />
          <span className="worker-name mono name">{name}</span>
        </div>
        {worker.is_alive && <Actions worker={worker} />}
      </div>
      <div className="worker-facts">
        <span className="name">
          {host ?? 'unknown host'}
          {process !== null && `, process ${process}`}
        </span>
        {version !== null && <span>version {version}</span>}
        <span>
          up for <Duration from={started_at} to={stopped_at ?? (worker.is_alive ? null : last_seen_at)} />
        </span>
        <span>
          {worker.is_alive ? `heartbeat ${formatDuration(worker.heartbeat_age_ms)} ago` : 'last seen '}
          {!worker.is_alive && <RelativeTime at={last_seen_at} />}
        </span>
        {wanted !== 'running' && worker.is_alive && (
          <span className="name">
            asked by {wanted_by ?? 'somebody'} <RelativeTime at={worker.wanted_at} />
          </span>
        )}
      </div>
      {worker.is_alive && <Slots worker={worker} />}
      <div className="worker-queues">
        {worker.queues.map((queue) => (
          <span key={queue} className="worker-queue name">
            {queue}
          </span>
        ))}
      </div>
      {worker.tasks.length > 0 && <Present worker={worker} />}
    </li>
  )
}

function Slots({ worker: { running, slots } }: { readonly worker: Worker }) {
  if (slots === null) return <p className="muted">{running} under way</p>
  const share = Math.min(100, (running / Math.max(1, slots)) * 100)
  return (
    <div className="worker-slots">
      <div className="worker-meter" aria-hidden="true">
        <i style={{ width: `${share}%` }} />
      </div>
      <span>
        {running} of {slots} slots
      </span>
    </div>
  )
}

function Present({ worker: { tasks, running } }: { readonly worker: Worker }) {
  return (
    <ul className="worker-tasks" aria-label="Present tasks">
      {tasks.map(({ id, key, scope, kind, started_at }) => (
        <li key={id}>
          <span>
            <Link to="/tasks/$id" params={{ id }} className="mono name">
              {key === null ? `${scope} ${id}` : `${scope} ${key}`}
            </Link>{' '}
            <span className="muted">{kind ?? ''}</span>
          </span>
          <Duration from={started_at} to={null} />
        </li>
      ))}
      {running > tasks.length && <li className="muted">and {running - tasks.length} more</li>}
    </ul>
  )
}

function Actions({ worker }: { readonly worker: Worker }) {
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal(routes.workers.pause)
  const want = async (verb: 'pause' | 'resume' | 'drain', told: string) => {
    await call(routes.workers[verb], { params: { id: String(worker.id) } })
    tell(`${worker.name} ${told}`)
    await queries.invalidateQueries({ queryKey: [routes.workers.list.name] })
  }
  const attempt = (work: Promise<void>) => {
    work.catch((error: Error) => tell(error.message, { isError: true }))
  }
  return (
    <div className="row">
      {worker.wanted === 'running' ? (
        <Button icon={CirclePause} refusal={refusal} onClick={() => attempt(want('pause', 'takes no more tasks'))}>
          Pause
        </Button>
      ) : (
        <Button icon={CirclePlay} refusal={refusal} onClick={() => attempt(want('resume', 'takes tasks again'))}>
          Resume
        </Button>
      )}
      <Button
        icon={LogOut}
        refusal={refusal ?? (worker.wanted === 'draining' ? 'It is draining.' : undefined)}
        onClick={() => setAsking(true)}
      >
        Drain
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`Drain ${worker.name}?`}
        objects={[`${worker.name}${worker.host === null ? '' : ` on ${worker.host}`}`]}
        action="Drain"
        onConfirm={() => want('drain', 'finishes what it performs')}
      >
        <p>
          It finishes the {worker.running} tasks that it performs and takes no more. A process that is a worker only
          ends then; a server goes on without performing tasks.
        </p>
      </Confirm>
    </div>
  )
}
